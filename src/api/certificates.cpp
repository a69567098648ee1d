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

bool has_unopened_certificate(const Action& action) {
  const ClientCertificate* certificate = certificate_of(action);
  return certificate != nullptr && !is_kept_pfx(certificate->pfx.reveal());
}

// What is kept takes the file's place.
Status open(ClientCertificate& certificate) {
  TRY_ASSIGN(const Pfx pfx, Pfx::open(certificate.pfx.reveal(), certificate.password.reveal()));
  CertificateFacts facts = pfx.facts();
  certificate = {Secret(pfx.kept()),
                 {},
                 std::move(facts.thumbprint),
                 facts.expiration,
                 std::move(facts.subject_name)};
  return Done{};
}

void open(Action& action, const Action* stored, const std::string& path,
          std::vector<Error>& errors) {
  ClientCertificate* certificate = certificate_of(action);
  if (certificate == nullptr) return;
  const auto refuse = [&](const std::string& member, const std::string& why) {
    errors.push_back({ErrorCode::invalid, why, path + ".request.authentication." + member});
  };
  const ClientCertificate* before = stored != nullptr ? certificate_of(*stored) : nullptr;
  const bool same_pfx = before != nullptr && before->pfx == certificate->pfx;
  if (same_pfx && before->password == certificate->password) {
    *certificate = *before;
  } else if (same_pfx && is_kept_pfx(before->pfx.reveal())) {
    refuse("password", "belongs to a pfx: send both.");
  } else if (const auto opened = open(*certificate); !opened) {
    refuse("pfx", opened.error().message);
  }
}

bool keep(Action& action) {
  if (!has_unopened_certificate(action)) return false;
  ClientCertificate& certificate = *certificate_of(action);
  if (const auto opened = open(certificate); !opened) {
    certificate.pfx = Secret(kept_refusal(opened.error()));
    certificate.password = {};
  }
  return true;
}

}  // namespace

bool has_unopened_certificates(const JobDefinition& definition) {
  const auto& error_action = definition.error_action;
  return has_unopened_certificate(definition.action) ||
         (error_action && has_unopened_certificate(*error_action));
}

std::vector<Error> open_certificates(JobDefinition& definition, const JobDefinition* stored) {
  std::vector<Error> errors;
  open(definition.action, stored != nullptr ? &stored->action : nullptr, "action", errors);
  if (definition.error_action) {
    const bool had_one = stored != nullptr && stored->error_action;
    open(*definition.error_action, had_one ? &*stored->error_action : nullptr, "action.errorAction",
         errors);
  }
  return errors;
}

bool keep_certificates(JobDefinition& stored) {
  const bool main = keep(stored.action);
  const bool error = stored.error_action && keep(*stored.error_action);
  return main || error;
}

}  // namespace belfry
