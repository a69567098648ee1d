// SPDX-License-Identifier: MIT

#include "model/secret_mask.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

#include "base/ascii.h"
#include "base/base64.h"
#include "model/escapes.h"

namespace belfry {
namespace {

constexpr std::string_view kSecretHeaders[] = {"Authorization", "Proxy-Authorization", "Cookie",
                                               "X-Api-Key"};

// Whoever escapes takes at most six bytes for one: \u0026.
constexpr std::size_t kEscapedMax = 6;

// What is shorter tells too little, and too many words end like that.
constexpr std::size_t kBegunBytesMin = 3;

// How echoes are escaped: each alone, and some within JSON.
constexpr Escapes kAlone[] = {Escapes::json, Escapes::percent, Escapes::form, Escapes::xml,
                              Escapes::lines};
constexpr Escapes kWithinJson[] = {Escapes::form, Escapes::json, Escapes::xml, Escapes::lines};

// Where something stands in a text: from `begin` to before `end`.
struct Span {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// What stands for the secret in base64 where `before` bytes of a group of three come before it,
// but for the characters at its ends in which its neighbours have a part.
std::string base64_within(std::string_view secret, std::size_t before) {
  const std::string bytes = std::string(before, '\0').append(secret);
  const std::size_t first = (before * 8 + 5) / 6;
  return base64_of(bytes).substr(first, bytes.size() * 8 / 6 - first);
}

std::string for_addresses(std::string base64) {
  std::replace(base64.begin(), base64.end(), '+', '-');
  std::replace(base64.begin(), base64.end(), '/', '_');
  return base64;
}

// Not std::string::find, which takes a time that grows with both lengths' product: the texts are
// a stranger's.
std::size_t find(std::string_view text, const std::string& form, std::size_t from) {
  const void* found = ::memmem(text.data() + from, text.size() - from, form.data(), form.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

template <typename Place>
void find_all(std::string_view text, const std::vector<std::string>& forms, Place place,
              std::vector<Span>& found) {
  for (const std::string& form : forms) {
    for (std::size_t at = 0; at < text.size();) {
      at = find(text, form, at);
      if (at == std::string_view::npos) break;
      found.push_back({place(at), place(at + form.size())});
      at += form.size();
    }
  }
}

std::vector<Span> spans_of(std::string_view text, const std::vector<std::string>& forms) {
  std::vector<Span> found;
  find_all(
      text, forms, [](std::size_t at) { return at; }, found);
  for (const Escapes escapes : kAlone) {
    if (lacks(text, escapes)) continue;
    const Unescaped once = unescaped(text, escapes);
    find_all(
        once.text, forms, [&](std::size_t at) { return once.places[at]; }, found);
    if (escapes != Escapes::json) continue;
    for (const Escapes within : kWithinJson) {
      if (lacks(once.text, within)) continue;
      const Unescaped twice = unescaped(once.text, within);
      find_all(
          twice.text, forms, [&](std::size_t at) { return once.places[twice.places[at]]; }, found);
    }
  }
  // A line break behind a secret was taken for one within it.
  for (Span& span : found) {
    while (span.end > span.begin && (text[span.end - 1] == '\r' || text[span.end - 1] == '\n')) {
      --span.end;
    }
  }
  std::sort(found.begin(), found.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  return found;
}

// Of "a=1; b=2" the values.
std::vector<std::string_view> cookie_values(std::string_view cookies) {
  std::vector<std::string_view> values;
  while (!cookies.empty()) {
    const std::string_view cookie = cookies.substr(0, cookies.find(';'));
    const std::size_t equals = cookie.find('=');
    if (equals != std::string_view::npos) values.push_back(cookie.substr(equals + 1));
    cookies.remove_prefix(std::min(cookie.size() + 1, cookies.size()));
  }
  return values;
}

// Where the end of the text begins that may be the beginning of a form; its size where none is.
std::size_t begun_at(std::string_view text, const std::vector<std::string>& forms) {
  std::size_t at = text.size();
  for (const std::string& form : forms) {
    for (std::size_t size = std::min(form.size() - 1, text.size()); size >= kBegunBytesMin;
         --size) {
      if (!text.ends_with(std::string_view(form).substr(0, size))) continue;
      at = std::min(at, text.size() - size);
      break;
    }
  }
  return at;
}

}  // namespace

bool is_secret_header(std::string_view name) {
  return std::any_of(std::begin(kSecretHeaders), std::end(kSecretHeaders),
                     [&](std::string_view secret) { return equal_ignoring_case(name, secret); });
}

std::string_view signature_in(std::string_view token) {
  std::size_t begin = token.starts_with("sig=") ? 0 : token.find("&sig=");
  if (begin == std::string_view::npos) begin = token.find("?sig=");
  if (begin == std::string_view::npos) return {};
  begin = token.find('=', begin) + 1;
  return token.substr(begin, token.find('&', begin) - begin);
}

SecretMask::SecretMask(const JobDefinition& definition) {
  add_action(definition.action);
  if (definition.error_action) add_action(*definition.error_action);
}

void SecretMask::add_form(std::string form) {
  const bool known = std::find(forms_.begin(), forms_.end(), form) != forms_.end();
  if (!known) forms_.push_back(std::move(form));
}

void SecretMask::add(std::string_view secret) {
  if (secret.size() < kSecretBytesMin) return;
  add_form(std::string(secret));
  for (std::size_t before = 0; before < 3; ++before) {
    const std::string base64 = base64_within(secret, before);
    add_form(base64);
    add_form(for_addresses(base64));
  }
}

void SecretMask::add_signed(std::string_view token) {
  if (token.starts_with('?')) token.remove_prefix(1);
  add(token);
  const std::string_view signature = signature_in(token);
  add(signature);
  add(unescaped(signature, Escapes::percent).text);
}

// A certificate and its password are never sent: no target can repeat them.
void SecretMask::add_http(const HttpAction& action) {
  if (action.authentication) {
    if (const auto* basic = std::get_if<BasicAuthentication>(&*action.authentication)) {
      const std::string& password = basic->password.reveal();
      add(password);
      if (password.size() >= kSecretBytesMin) {
        add(base64_of(basic->username + ":" + password));
      }
    } else if (const auto* oauth = std::get_if<ActiveDirectoryOAuth>(&*action.authentication)) {
      add(oauth->secret.reveal());
    }
  }
  for (const auto& [name, value] : action.secret_headers) add_header(name, value.reveal());
}

// The whole value, without the blanks around it, which are no part of it in HTTP, and what of it is
// the secret itself: a target may repeat that alone.
void SecretMask::add_header(std::string_view name, std::string_view value) {
  while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
  while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
  add(value);
  if (equal_ignoring_case(name, "Cookie")) {
    for (const std::string_view secret : cookie_values(value)) add(secret);
    return;
  }
  const std::size_t blank = value.find(' ');
  if (blank == std::string_view::npos) return;
  const std::string_view credentials = value.substr(blank + 1);
  add(credentials);
  if (!equal_ignoring_case(value.substr(0, blank), "Basic")) return;
  const std::string known = base64_decoded(credentials).value_or("");
  add(std::string_view(known).substr(std::min(known.find(':') + 1, known.size())));
}

void SecretMask::add_action(const Action& action) {
  if (const auto* http = std::get_if<HttpAction>(&action.what)) {
    add_http(*http);
  } else if (const auto* storage = std::get_if<StorageQueueAction>(&action.what)) {
    add_signed(storage->sas_token.reveal());
  } else if (const auto* queue = std::get_if<ServiceBusQueueAction>(&action.what)) {
    add(queue->message.sas_key.reveal());
  } else if (const auto* topic = std::get_if<ServiceBusTopicAction>(&action.what)) {
    add(topic->message.sas_key.reveal());
  }
}

std::size_t SecretMask::reach() const {
  std::size_t longest = 0;
  for (const std::string& form : forms_) longest = std::max(longest, form.size());
  return longest * kEscapedMax;
}

std::string SecretMask::masked(std::string_view text, std::size_t shown_max) const {
  const std::size_t end = std::min(text.size(), shown_max);
  std::string out;
  std::size_t done = 0;
  for (const Span& span : spans_of(text, forms_)) {
    if (span.begin >= end) break;
    if (span.begin >= done) out.append(text.substr(done, span.begin - done)).append(kMasked);
    done = std::max(done, span.end);
  }
  if (done < end) out += text.substr(done, end - done);
  return out;
}

std::string SecretMask::masked_after_cut(std::string_view text) const {
  std::string out = masked(text);
  const std::size_t begun = begun_at(out, forms_);
  if (begun < out.size()) out.replace(begun, std::string::npos, kMasked);
  return out;
}

}  // namespace belfry
