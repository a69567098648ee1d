// SPDX-License-Identifier: MIT

#include "net/certificate_facts.h"

#include <fmt/format.h>
#include <openssl/asn1.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/x509.h>

#include <algorithm>
#include <ctime>

namespace belfry {
namespace {

std::string hexadecimal(const unsigned char* bytes, unsigned length) {
  std::string text;
  for (unsigned i = 0; i < length; ++i) text += fmt::format("{:02X}", bytes[i]);
  return text;
}

Instant instant_of(const ASN1_TIME* time) {
  std::tm parts{};
  ASN1_TIME_to_tm(time, &parts);
  const std::chrono::year_month_day day{std::chrono::year{parts.tm_year + 1900},
                                        std::chrono::month{static_cast<unsigned>(parts.tm_mon + 1)},
                                        std::chrono::day{static_cast<unsigned>(parts.tm_mday)}};
  return Instant{std::chrono::sys_days{day}} + std::chrono::hours{parts.tm_hour} +
         std::chrono::minutes{parts.tm_min} + std::chrono::seconds{parts.tm_sec};
}

// Windows' names for the parts of a name, where they are not OpenSSL's.
std::string part_name(const ASN1_OBJECT* kind) {
  switch (OBJ_obj2nid(kind)) {
    case NID_stateOrProvinceName:
      return "S";
    case NID_pkcs9_emailAddress:
      return "E";
    case NID_commonName:
    case NID_organizationName:
    case NID_organizationalUnitName:
    case NID_localityName:
    case NID_countryName:
    case NID_domainComponent:
      return OBJ_nid2sn(OBJ_obj2nid(kind));
    default: {
      char dotted[80];
      OBJ_obj2txt(dotted, sizeof dotted, kind, /*no_name=*/1);
      return std::string("OID.") + dotted;
    }
  }
}

std::string part_value(const ASN1_STRING* value) {
  unsigned char* utf8 = nullptr;
  const int length = ASN1_STRING_to_UTF8(&utf8, value);
  std::string text(reinterpret_cast<const char*>(utf8),
                   static_cast<std::size_t>(std::max(length, 0)));
  OPENSSL_free(utf8);
  const bool plain = !text.empty() && text.front() != ' ' && text.back() != ' ' &&
                     text.find_first_of(",+=\"\n<>#;") == std::string::npos;
  if (plain) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted + "\"";
}

// The most particular part first, which is the reverse of how certificates have it.
std::string subject_of(const X509* certificate) {
  const X509_NAME* name = X509_get_subject_name(certificate);
  std::string text;
  for (int i = X509_NAME_entry_count(name) - 1; i >= 0; --i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(name, i);
    if (!text.empty()) text += ", ";
    text += part_name(X509_NAME_ENTRY_get_object(entry)) + "=" +
            part_value(X509_NAME_ENTRY_get_data(entry));
  }
  return text;
}

}  // namespace

CertificateFacts facts_of(const x509_st* certificate) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned length = 0;
  X509_digest(certificate, EVP_sha1(), digest, &length);
  return {hexadecimal(digest, length), instant_of(X509_get0_notAfter(certificate)),
          subject_of(certificate)};
}

}  // namespace belfry
