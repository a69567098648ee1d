// SPDX-License-Identifier: MIT

#include "wire/authentication_json.h"

#include <fmt/format.h>

#include <algorithm>

#include "wire/iso8601.h"

namespace belfry {
namespace {

constexpr std::size_t kIdentityBytesMax = 1024;

enum class AuthenticationType { basic, client_certificate, active_directory_oauth };

constexpr Spelling<AuthenticationType> kAuthenticationTypes[] = {
    {"Basic", AuthenticationType::basic},
    {"ClientCertificate", AuthenticationType::client_certificate},
    {"ActiveDirectoryOAuth", AuthenticationType::active_directory_oauth},
};

BasicAuthentication read_basic(ObjectReader& reader) {
  return {required_text(reader, "username", kIdentityBytesMax),
          required_secret(reader, "password")};
}

// What the certificate says of itself comes back from the store here. From a client it is
// read-only: whoever takes the certificate in looks into it and writes these members anew.
ClientCertificate read_client_certificate(ObjectReader& reader) {
  ClientCertificate out;
  out.pfx = required_secret(reader, "pfx");
  if (reader.find("password") != nullptr) out.password = required_secret(reader, "password");
  out.thumbprint = reader.text("certificateThumbprint", kIdentityBytesMax).value_or("");
  out.subject_name = reader.text("certificateSubjectName", kIdentityBytesMax).value_or("");
  reader.skip("certificateExpirationDate");
  if (const auto date = reader.text("certificateExpiration", kIdentityBytesMax)) {
    out.expiration = parse_instant(*date);
  }
  return out;
}

ActiveDirectoryOAuth read_active_directory_oauth(ObjectReader& reader) {
  return {required_text(reader, "tenant", kIdentityBytesMax),
          required_text(reader, "audience", kIdentityBytesMax),
          required_text(reader, "clientId", kIdentityBytesMax), required_secret(reader, "secret")};
}

// Writes the members, each type its own.
struct AuthenticationWriter {
  JsonWriter& out;
  Secrets secrets;

  void operator()(const BasicAuthentication& basic) const {
    out.member("username", basic.username);
    if (secrets == Secrets::name) out.member("password", sealed_name(basic.password));
    out.member("type", "Basic");
  }

  void operator()(const ClientCertificate& certificate) const {
    if (secrets == Secrets::name) {
      out.member("pfx", sealed_name(certificate.pfx));
      out.member("password", sealed_name(certificate.password));
    }
    if (!certificate.thumbprint.empty()) {
      out.member("certificateThumbprint", certificate.thumbprint);
    }
    if (certificate.expiration) {
      // The live service's name, and the one that the published clients read.
      out.member("certificateExpiration", *certificate.expiration);
      out.member("certificateExpirationDate", *certificate.expiration);
    }
    if (!certificate.subject_name.empty()) {
      out.member("certificateSubjectName", certificate.subject_name);
    }
    out.member("type", "ClientCertificate");
  }

  void operator()(const ActiveDirectoryOAuth& oauth) const {
    out.member("tenant", oauth.tenant);
    out.member("audience", oauth.audience);
    out.member("clientId", oauth.client_id);
    if (secrets == Secrets::name) out.member("secret", sealed_name(oauth.secret));
    out.member("type", "ActiveDirectoryOAuth");
  }
};

}  // namespace

std::string required_text(ObjectReader& reader, std::string_view name, std::size_t bytes_max) {
  if (reader.find(name) == nullptr) {
    reader.fail(name, "is missing.");
    return {};
  }
  const auto text = reader.text(name, bytes_max);
  if (text && text->empty()) reader.fail(name, "must not be empty.");
  return text.value_or("");
}

std::string required_name(ObjectReader& reader, std::string_view name, std::size_t bytes_max,
                          char separator) {
  const std::string text = required_text(reader, name, bytes_max);
  const bool well_formed = std::all_of(text.begin(), text.end(), [&](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '-' ||
           c == '_' || c == '.' || c == separator;
  });
  if (!well_formed || text == "." || text.find("..") != std::string::npos) {
    reader.fail(name, fmt::format("may hold letters, digits, '-', '_', '.'{}; it is '{}'.",
                                  separator == '-' ? "" : fmt::format(", '{}'", separator), text));
  }
  return text;
}

Secret required_secret(ObjectReader& reader, std::string_view name) {
  if (reader.find(name) == nullptr) {
    reader.fail(name, "is missing.");
    return {};
  }
  // Never shown(): what is wrong with a secret is said without the secret.
  if (!reader.find(name)->is_string()) {
    reader.fail(name, "must be a string.");
    return {};
  }
  return Secret(reader.text(name, kSecretBytesMax).value_or(""));
}

std::optional<Authentication> read_authentication(ObjectReader authentication) {
  if (authentication.find("type") == nullptr) {
    authentication.fail(
        "type", "is missing: it must be one of Basic, ClientCertificate, ActiveDirectoryOAuth.");
  }
  const auto type = authentication.choice("type", kAuthenticationTypes);
  if (!type) {
    authentication.skip_rest();
    return std::nullopt;
  }
  switch (*type) {
    case AuthenticationType::basic:
      return read_basic(authentication);
    case AuthenticationType::client_certificate:
      return read_client_certificate(authentication);
    case AuthenticationType::active_directory_oauth:
      return read_active_directory_oauth(authentication);
  }
  return std::nullopt;
}

void write_authentication(JsonWriter& out, const Authentication& authentication, Secrets secrets) {
  out.object([&] { std::visit(AuthenticationWriter{out, secrets}, authentication); });
}

}  // namespace belfry
