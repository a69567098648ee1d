// SPDX-License-Identifier: MIT

#include "api/certificates.h"

#include <string>

#include "net/pfx.h"

namespace belfry {
namespace {

template <typename ActionLike>
auto* certificate_of(ActionLike& action) {
  auto* http = std::get_if<HttpAction>(&action.what);
  const bool any = http != nullptr && http->authentication;
  return any ? std::get_if<ClientCertificate>(&*http->authentication) : nullptr;
}

void look_into(Action& action, const std::string& path, std::vector<Error>& errors) {
  ClientCertificate* certificate = certificate_of(action);
  if (certificate == nullptr) return;
  const auto pfx = Pfx::open(certificate->pfx.reveal(), certificate->password.reveal());
  if (!pfx) {
    errors.push_back(
        {ErrorCode::invalid, pfx.error().message, path + ".request.authentication.pfx"});
    return;
  }
  CertificateFacts facts = pfx->facts();
  certificate->thumbprint = std::move(facts.thumbprint);
  certificate->expiration = facts.expiration;
  certificate->subject_name = std::move(facts.subject_name);
}

}  // namespace

bool has_certificates(const JobDefinition& definition) {
  const auto& error_action = definition.error_action;
  return certificate_of(definition.action) != nullptr ||
         (error_action && certificate_of(*error_action) != nullptr);
}

std::vector<Error> look_into_certificates(JobDefinition& definition) {
  std::vector<Error> errors;
  look_into(definition.action, "action", errors);
  if (definition.error_action) look_into(*definition.error_action, "action.errorAction", errors);
  return errors;
}

}  // namespace belfry
