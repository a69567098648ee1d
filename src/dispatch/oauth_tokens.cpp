// SPDX-License-Identifier: MIT

#include "dispatch/oauth_tokens.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <charconv>
#include <utility>

#include "dispatch/endpoint_template.h"
#include "dispatch/http_messages.h"
#include "model/secret_mask.h"
#include "model/url.h"

namespace belfry {
namespace {

namespace json = boost::json;

constexpr Ticks kRenewBefore = std::chrono::minutes{5};
constexpr Seconds kLifetimeMax = std::chrono::hours{24};
constexpr std::size_t kDescriptionBytesMax = 500;

Error no_token(std::string why) {
  return {ErrorCode::unavailable, "The access token could not be obtained: " + std::move(why), {}};
}

std::string form_of(const ActiveDirectoryOAuth& who) {
  return fmt::format("grant_type=client_credentials&client_id={}&client_secret={}&resource={}",
                     percent_encoded(who.client_id), percent_encoded(who.secret.reveal()),
                     percent_encoded(who.audience));
}

std::string text_member(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(value->as_string()) : std::string();
}

// A number; Azure's first endpoint writes it as a text.
Seconds seconds_member(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr) return Seconds{0};
  std::int64_t seconds = 0;
  if (value->is_int64()) seconds = value->as_int64();
  if (value->is_string()) {
    const auto& text = value->as_string();
    std::from_chars(text.begin(), text.end(), seconds);
  }
  return std::clamp(Seconds{seconds}, Seconds{0}, kLifetimeMax);
}

// What may stand in a header (RFC 6750's b64token, and a little more).
bool is_usable(const std::string& token) {
  return !token.empty() &&
         std::all_of(token.begin(), token.end(), [](char c) { return '!' <= c && c <= '~'; });
}

std::string refusal(const json::object& answer, const SecretMask& mask) {
  std::string text = text_member(answer, "error");
  const std::string description = text_member(answer, "error_description");
  if (!description.empty()) text += ": " + description;
  text = mask.masked(text);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return 0 <= c && c < ' '; }, ' ');
  return as_utf8(std::string_view(text).substr(0, kDescriptionBytesMax));
}

}  // namespace

Result<OAuthAnswer> read_oauth_answer(std::string_view host, const HttpResult& result,
                                      std::string_view secret) {
  SecretMask mask;
  mask.add(secret);
  if (const auto* failure = std::get_if<HttpFailure>(&result.what)) {
    return no_token(mask.masked(failure_message(host, *failure, "OAuth")));
  }
  const auto& reply = std::get<HttpReply>(result.what);
  boost::system::error_code wrong;
  const json::value parsed = json::parse(reply.body, wrong);
  const json::object answer = !wrong && parsed.is_object() ? parsed.as_object() : json::object();
  if (reply.status != 200) {
    const std::string why = refusal(answer, mask);
    return no_token(fmt::format("'{}' answered '{}'{}{}", host, status_name(reply.status),
                                why.empty() ? "" : " ", why));
  }
  OAuthAnswer out{text_member(answer, "access_token"), seconds_member(answer, "expires_in")};
  if (is_usable(out.token)) return out;
  return no_token(fmt::format("the answer of '{}' has no access_token that can be sent", host));
}

OAuthTokens::Key OAuthTokens::key_of(const ActiveDirectoryOAuth& who) {
  return {who.tenant, who.audience, who.client_id, who.secret.reveal()};
}

Result<HttpCall> OAuthTokens::request_for(const ActiveDirectoryOAuth& who) const {
  auto url = endpoint_of(options_.endpoint, kTenantPlaceholder, percent_encoded(who.tenant));
  if (!url)
    return no_token(
        fmt::format("tenant '{}' and the setting oauth-endpoint make no address", who.tenant));
  HttpCall call;
  call.origin = {url->https, std::move(url->host), url->port};
  call.method = "POST";
  call.target = url->target.empty() ? "/" : std::move(url->target);
  call.authority = std::move(url->authority);
  call.headers = {{"Content-Type", "application/x-www-form-urlencoded"},
                  {"Accept", "application/json"}};
  call.body = form_of(who);
  call.body_kept_bytes_max = kAnswerBytesMax;
  call.owner = "oauth " + who.tenant + " " + who.client_id;
  return call;
}

bool OAuthTokens::obtain(const ActiveDirectoryOAuth& who, Millis timeout, Got got) {
  std::string token;
  {
    const std::lock_guard lock(mutex_);
    make_room();
    Entry& entry = entries_[key_of(who)];
    if (entry.token.empty() || clock_.now() >= entry.good_until) {
      if (entry.waiting.size() >= kWaitingMax) return false;
      entry.waiting.push_back(std::move(got));
      if (entry.waiting.size() > 1) return true;  // it has been asked for
    } else {
      token = entry.token;
    }
  }
  if (token.empty()) return ask(who, timeout);
  got(std::move(token));
  return true;
}

bool OAuthTokens::ask(const ActiveDirectoryOAuth& who, Millis timeout) {
  Result<HttpCall> call = request_for(who);
  if (!call) {
    give(key_of(who), call.error(), {});
    return true;
  }
  call->timeout = timeout;
  if (http_.send(*std::move(call),
                 [this, who](const HttpResult& result) { answer(who, result); })) {
    return true;
  }
  // No room: whoever came first is refused, and those who came since learn why.
  std::vector<Got> others;
  {
    const std::lock_guard lock(mutex_);
    others = std::exchange(entries_[key_of(who)].waiting, {});
  }
  others.erase(others.begin());
  for (const Got& got : others) got(no_token("too many calls are waiting already"));
  return false;
}

void OAuthTokens::answer(const ActiveDirectoryOAuth& who, const HttpResult& result) {
  const auto call = request_for(who);
  const auto read = read_oauth_answer(call ? call->origin.host : "", result, who.secret.reveal());
  if (!read) return give(key_of(who), read.error(), {});
  const Ticks lifetime = read->expires_in;
  give(key_of(who), read->token, clock_.now() + lifetime - std::min(kRenewBefore, lifetime / 2));
}

void OAuthTokens::give(const Key& key, const Result<std::string>& token, Instant good_until) {
  std::vector<Got> waiting;
  {
    const std::lock_guard lock(mutex_);
    Entry& entry = entries_[key];
    entry.token = token ? *token : "";
    entry.good_until = good_until;
    waiting = std::exchange(entry.waiting, {});
  }
  for (const Got& got : waiting) got(token);
}

void OAuthTokens::forget(const ActiveDirectoryOAuth& who, const std::string& token) {
  const std::lock_guard lock(mutex_);
  const auto entry = entries_.find(key_of(who));
  if (entry != entries_.end() && entry->second.token == token) entry->second.token.clear();
}

// Only those that nobody waits for may go. All of them: this is rarer than it is worth.
void OAuthTokens::make_room() {
  if (entries_.size() < kKeptMax) return;
  std::erase_if(entries_, [](const auto& entry) { return entry.second.waiting.empty(); });
}

}  // namespace belfry
