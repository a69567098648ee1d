// SPDX-License-Identifier: MIT

#include "dispatch/preflight.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ascii.h"
#include "dispatch/endpoint_template.h"
#include "net/http_syntax.h"
#include "net/pfx.h"

namespace belfry {
namespace {

constexpr std::string_view kMask = "***";

std::string_view name_of(const Action& action) {
  struct Name {
    std::string_view operator()(const HttpAction&) const { return "Http"; }
    std::string_view operator()(const StorageQueueAction&) const { return "StorageQueue"; }
    std::string_view operator()(const ServiceBusQueueAction&) const { return "ServiceBusQueue"; }
    std::string_view operator()(const ServiceBusTopicAction&) const { return "ServiceBusTopic"; }
  };
  return std::visit(Name{}, action.what);
}

const Authentication* authentication_of(const Action& action) {
  const auto* http = std::get_if<HttpAction>(&action.what);
  return http != nullptr && http->authentication ? &*http->authentication : nullptr;
}

// "Bearer ***": the scheme is no secret.
std::string masked_credentials(const std::string& value) {
  const std::size_t blank = value.find(' ');
  return (blank == std::string::npos ? "" : value.substr(0, blank + 1)) + std::string(kMask);
}

std::string masked_address(const HttpCall& call, const Action& action) {
  std::string target = call.target;
  if (const auto* queue = std::get_if<StorageQueueAction>(&action.what)) {
    std::string_view token = queue->sas_token.reveal();
    if (token.starts_with('?')) token.remove_prefix(1);
    if (!token.empty()) target = replaced(target, token, kMask);
  }
  const std::string scheme = call.method == kAmqpPreflightMethod ? "amqp" : "http";
  return fmt::format("{}{}://{}{}", scheme, call.origin.https ? "s" : "", call.authority, target);
}

bool is_secret(const Action& action, std::string_view name) {
  const auto* http = std::get_if<HttpAction>(&action.what);
  return http != nullptr && std::any_of(http->secret_headers.begin(), http->secret_headers.end(),
                                        [&](const auto& header) { return header.first == name; });
}

// Of a header of the job's nothing is shown; of the one that we make, what it is.
std::string shown_header(const Action& action, const std::string& name, const std::string& value) {
  if (is_secret(action, name)) return std::string(kMask);
  return equal_ignoring_case(name, "Authorization") ? masked_credentials(value) : value;
}

void show_request(Preflight& report, const HttpCall& call, const Action& action) {
  report.method = call.method;
  report.address = masked_address(call, action);
  for (const auto& [name, value] : call.headers) {
    report.headers.emplace_back(name, shown_header(action, name, value));
  }
  report.body = call.body;
}

std::string days_left(Instant expiration, Instant now) {
  const auto days = std::chrono::floor<std::chrono::days>(expiration - now).count();
  return days < 0 ? fmt::format("expired on {}", format_instant(expiration))
                  : fmt::format("good until {} ({} days)", format_instant(expiration), days);
}

// The stations on the way to a target, in their order.
constexpr std::string_view kStations[] = {"resolve", "address", "proxy", "connect", "tls"};

std::string_view station_of(HttpFailureKind kind) {
  switch (kind) {
    case HttpFailureKind::invalid_call:
      return "request";
    case HttpFailureKind::name_resolution:
      return "resolve";
    case HttpFailureKind::forbidden_address:
      return "address";
    case HttpFailureKind::proxy_name_resolution:
    case HttpFailureKind::proxy_connect:
    case HttpFailureKind::proxy_refused:
      return "proxy";
    case HttpFailureKind::tls_trust:
    case HttpFailureKind::tls_handshake:
      return "tls";
    default:
      return "connect";
  }
}

void note_failure(Preflight& report, const HttpFailure& failure) {
  const std::string_view failed = station_of(failure.kind);
  for (const std::string_view station : kStations) {
    if (station == failed) break;
    if (station != "proxy" && failed != "request") {
      report.checks.push_back({std::string(station), true, ""});
    }
  }
  std::string detail = failure.detail;
  if (failure.kind == HttpFailureKind::timeout) detail = "it took too long: " + detail;
  if (failure.kind == HttpFailureKind::forbidden_address) {
    detail += ", and the setting allow-targets does not name it";
  }
  report.checks.push_back({std::string(failed), false, std::move(detail)});
}

void note_reached(Preflight& report, const HttpReached& reached, Instant now) {
  report.checks.push_back({"resolve", true, ""});
  report.checks.push_back({"address", true, ""});
  report.checks.push_back({"connect", true, reached.address});
  if (reached.tls_version.empty()) return;
  std::string detail = reached.tls_version;
  if (reached.certificate) {
    detail += fmt::format(", certificate of {}, {}", reached.certificate->subject_name,
                          days_left(reached.certificate->expiration, now));
  }
  report.checks.push_back({"tls", true, std::move(detail)});
}

}  // namespace

struct PreflightRunner::Flight {
  Preflight report;
  HttpCall call;
  Done done;

  void end() { done(std::move(report)); }
};

void PreflightRunner::run(const Job& job, ActionRole role, Millis timeout, Done done) {
  const Action& action = action_of(job, role);
  const Attempt attempt{job.id, {clock_.now(), job.last_seq + 1}, role, 0};
  auto flight = std::make_shared<Flight>();
  flight->done = std::move(done);
  flight->report.action = name_of(action);
  Result<HttpCall> call = render_(attempt, job);
  if (!call) {
    flight->report.checks.push_back({"request", false, call.error().message + "."});
    return flight->end();
  }
  flight->call = *std::move(call);
  flight->call.timeout = timeout;
  flight->call.probe = true;
  show_request(flight->report, flight->call, action);
  flight->report.checks.push_back({"request", true, ""});
  const Authentication* how = authentication_of(action);
  if (const auto* certificate = std::get_if<ClientCertificate>(how)) {
    if (!check_certificate(*flight, *certificate)) return flight->end();
  }
  if (held_) {
    flight->report.checks.push_back({"held", false, "the server is held, and calls nobody"});
    return flight->end();
  }
  if (const auto* who = std::get_if<ActiveDirectoryOAuth>(how)) return obtain_token(flight, *who);
  probe(flight);
}

// Whether the target likes it shows only when it is called: TLS 1.3 asks last.
bool PreflightRunner::check_certificate(Flight& flight, const ClientCertificate& certificate) {
  std::vector<PreflightCheck>& checks = flight.report.checks;
  const auto check = [&](bool good, std::string detail) {
    checks.push_back({"certificate", good, std::move(detail)});
    return good;
  };
  if (!is_kept_pfx(certificate.pfx.reveal())) {
    return check(false, "an older version stored it, and it is being opened: try again later");
  }
  const auto identity = anybody_->as(certificate.pfx.reveal());
  if (!identity) return check(false, identity.error().message);
  if (!(*identity)->usable()) return check(false, "it is not one that TLS can use");
  flight.call.tls = *identity;
  const Instant expiration = certificate.expiration.value_or(kLastInstant);
  return check(clock_.now() < expiration, fmt::format("{}, {}", certificate.subject_name,
                                                      days_left(expiration, clock_.now())));
}

void PreflightRunner::obtain_token(const FlightPtr& flight, const ActiveDirectoryOAuth& who) {
  const auto got = [this, flight](const Result<std::string>& token) {
    std::vector<PreflightCheck>& checks = flight->report.checks;
    checks.push_back({"token", token.has_value(), token ? "" : token.error().message + "."});
    if (!token) return flight->end();
    flight->report.headers.emplace_back("Authorization", "Bearer " + std::string(kMask));
    probe(flight);
  };
  if (tokens_.obtain(who, flight->call.timeout, got)) return;
  flight->report.checks.push_back({"token", false, "too many calls are waiting already."});
  flight->end();
}

void PreflightRunner::probe(const FlightPtr& flight) {
  const auto came = [this, flight](const HttpResult& result) {
    if (const auto* failure = std::get_if<HttpFailure>(&result.what)) {
      note_failure(flight->report, *failure);
    } else {
      note_reached(flight->report, std::get<HttpReached>(result.what), clock_.now());
    }
    flight->end();
  };
  if (http_.send(flight->call, came)) return;
  flight->report.checks.push_back({"connect", false, "too many calls are waiting already."});
  flight->end();
}

}  // namespace belfry
