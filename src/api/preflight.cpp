// SPDX-License-Identifier: MIT
//
// POST …/jobs/{job}/preflight: what the job would send, and what would stop it.

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>

#include "api/api.h"
#include "api/response.h"

namespace belfry {
namespace {

namespace json = boost::json;

json::object write_request(const Preflight& report) {
  json::object headers;
  for (const auto& [name, value] : report.headers) headers[name] = value;
  return {{"method", report.method},
          {"uri", report.address},
          {"headers", std::move(headers)},
          {"body", report.body}};
}

json::object write_preflight(const Preflight& report) {
  json::array checks;
  for (const PreflightCheck& check : report.checks) {
    json::object out{{"check", check.name}, {"passed", check.passed}};
    if (!check.detail.empty()) out["detail"] = check.detail;
    checks.push_back(std::move(out));
  }
  json::object out{{"type", report.action}, {"passed", report.passed()}};
  if (!report.method.empty()) out["request"] = write_request(report);
  out["checks"] = std::move(checks);
  return out;
}

}  // namespace

void Api::preflight(const Permit& permit, const CallPtr& call) {
  const auto stored = store_.job(call->path.key);
  if (!stored || !*stored || !options_.run_preflight) return answer(call, get_job(permit, *call));
  const Job& job = **stored;
  options_.run_preflight(job, ActionRole::main, [this, call, job](const Preflight& main) {
    json::object body{{"passed", main.passed()}, {"action", write_preflight(main)}};
    if (!job.definition->error_action) return answer(call, json_response(200, std::move(body)));
    options_.run_preflight(job, ActionRole::error, [this, call, body](const Preflight& error) {
      json::object both = body;
      both["passed"] = both["passed"].as_bool() && error.passed();
      both["errorAction"] = write_preflight(error);
      answer(call, json_response(200, std::move(both)));
    });
  });
}

}  // namespace belfry
