// SPDX-License-Identifier: MIT

#include "access/jwks_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/value.hpp>
#include <utility>

#include "access/jwt_json.h"
#include "base/log.h"
#include "model/url.h"

namespace belfry {
namespace {

constexpr std::string_view kMetadataPath = "/.well-known/openid-configuration";

Error no_keys(std::string why) {
  return {ErrorCode::unavailable, std::move(why), {}};
}

Error keys_unavailable() {
  return no_keys("The keys of the tokens' issuer cannot be obtained at present.");
}

std::string metadata_address(std::string issuer) {
  if (issuer.ends_with('/')) issuer.pop_back();
  return issuer.append(kMetadataPath);
}

Result<HttpCall> get(const std::string& address) {
  auto url = parse_url(address);
  if (!url) return no_keys(fmt::format("'{}' is not an address", address));
  HttpCall call;
  call.origin = {url->https, std::move(url->host), url->port};
  call.method = "GET";
  call.target = std::move(url->target);
  call.authority = std::move(url->authority);
  call.headers = {{"Accept", "application/json"}};
  call.body_kept_bytes_max = kJwksBytesMax;
  return call;
}

Result<std::string> body_of(const std::string& address, HttpResult result) {
  if (const auto* failure = std::get_if<HttpFailure>(&result.what)) {
    return no_keys(fmt::format("{} cannot be read: {}", address,
                               failure->kind == HttpFailureKind::timeout ? "it took too long"
                               : failure->detail.empty()                 ? "no connection"
                                                                         : failure->detail));
  }
  auto& reply = std::get<HttpReply>(result.what);
  if (reply.status != 200) return no_keys(fmt::format("{} answers {}", address, reply.status));
  if (reply.body_cut) return no_keys(fmt::format("{} is too large", address));
  return std::move(reply.body);
}

Ticks back_off(int failures) {
  constexpr int kDoublingsMax = 20;
  return std::min(JwksCache::kBackOffMax,
                  JwksCache::kBackOffMin * (std::int64_t{1} << std::min(failures, kDoublingsMax)));
}

}  // namespace

Result<std::string> read_jwks_address(std::string_view metadata, const std::string& issuer) {
  const auto members = parse_jwt_object(metadata);
  if (!members) return no_keys("the metadata is not an object of JSON");
  const auto named = text_member(*members, "issuer");
  if (named != issuer) {
    return no_keys(
        fmt::format("the metadata is of the issuer '{}', not '{}'", named.value_or(""), issuer));
  }
  const auto address = text_member(*members, "jwks_uri");
  if (!address) return no_keys("the metadata has no jwks_uri");
  if (issuer.starts_with("https:") && !address->starts_with("https:")) {
    return no_keys("the metadata's jwks_uri is not https");
  }
  return *address;
}

JwksCache::JwksCache(Options options, HttpClient& http, const Clock& clock)
    : options_(std::move(options)), http_(http), clock_(clock) {}

void JwksCache::obtain(std::string_view key_id, Got got) {
  Result<Keys> at_once = keys_unavailable();
  bool to_ask = false;
  bool waits = false;
  {
    const std::lock_guard lock(mutex_);
    const Instant now = clock_.now();
    drop_keys_too_old(now);
    const bool known = keys_ && keys_->find(key_id) != nullptr;
    const bool fresh = known && now < fetched_at_ + kFreshFor;
    to_ask = !fresh && may_ask(now);
    asking_ = asking_ || to_ask;
    waits = !known && asking_ && waiting_.size() < kWaitingMax;
    if (waits) waiting_.push_back(std::move(got));
    if (keys_) at_once = keys_;
  }
  if (to_ask) ask();
  if (!waits) got(at_once);
}

// A clock that was set back must not keep us from asking for long.
bool JwksCache::may_ask(Instant now) const {
  return !asking_ && (now >= not_before_ || not_before_ - now > kBackOffMax);
}

void JwksCache::drop_keys_too_old(Instant now) {
  if (keys_ && now >= fetched_at_ + kUsableFor) keys_.reset();
}

void JwksCache::ask() {
  if (!options_.jwks_url.empty()) return ask_for_keys(options_.jwks_url);
  fetch(metadata_address(options_.issuer), [this](const Result<std::string>& metadata) {
    if (!metadata) return settle(metadata.error());
    const auto address = read_jwks_address(*metadata, options_.issuer);
    if (!address) return settle(address.error());
    ask_for_keys(*address);
  });
}

void JwksCache::ask_for_keys(const std::string& url) {
  fetch(url, [this](const Result<std::string>& text) {
    settle(text ? JwtKeys::parse(*text) : text.error());
  });
}

void JwksCache::fetch(const std::string& url, Fetched fetched) {
  auto call = get(url);
  if (!call) return fetched(call.error());
  call->timeout = options_.timeout;
  const bool sent = http_.send(*std::move(call), [url, fetched](HttpResult result) {
    fetched(body_of(url, std::move(result)));
  });
  if (!sent) fetched(no_keys("too many calls are waiting already"));
}

void JwksCache::settle(Result<JwtKeys> answer) {
  if (!answer) {
    log(LogLevel::warning, "the keys of the tokens' issuer could not be obtained",
        {{"issuer", options_.issuer}, {"reason", answer.error().message}});
  }
  std::vector<Got> waiting;
  Result<Keys> keys = keys_unavailable();
  {
    const std::lock_guard lock(mutex_);
    const Instant now = clock_.now();
    asking_ = false;
    if (answer) {
      keys_ = std::make_shared<const JwtKeys>(*std::move(answer));
      fetched_at_ = now;
      failures_ = 0;
      not_before_ = now + kAskAgainAfter;
    } else {
      not_before_ = now + back_off(failures_++);
    }
    if (keys_) keys = keys_;
    waiting = std::exchange(waiting_, {});
  }
  for (const Got& got : waiting) got(keys);
}

}  // namespace belfry
