// SPDX-License-Identifier: MIT
//
// GET /metrics, for Prometheus. It tells of all tenants' jobs and targets, so it takes the role
// Reader over everything; that it is there is no secret.

#include "api/api.h"
#include "api/operations.h"
#include "api/response.h"

namespace belfry {
namespace {

constexpr const char* kTextFormat = "text/plain; version=0.0.4; charset=utf-8";

const Error kNotOverEverything{
    ErrorCode::forbidden,
    "/metrics tells of all subscriptions: it takes the role Reader over '/'.",
    {}};

}  // namespace

void Api::metrics(const Caller& caller, const CallPtr& call) {
  const HttpRequest& request = call->request;
  if (!is_read(request)) {
    return answer(call, wrong_method_response(request.method, kReadingMethods));
  }
  const auto permit = gate_.permit(caller, {Operation::read, Scope{}, "/metrics"},
                                   [] { return kNotOverEverything; });
  if (!permit) return answer(call, error_response(permit.error()));
  HttpResponse page{200, {{"Content-Type", kTextFormat}, {"Cache-Control", "no-store"}}, ""};
  workers_.step_aside();
  page.body = options_.render_metrics();
  answer(call, std::move(page));
}

}  // namespace belfry
