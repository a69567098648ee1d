// SPDX-License-Identifier: MIT
//
// For tests: an authority made on the spot, the certificates it issues, and servers' contexts
// that show them.

#pragma once

#include <gtest/gtest.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

namespace belfry {

struct FreeX509 {
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};
using X509Ptr = std::unique_ptr<X509, FreeX509>;
using KeyPtr = std::unique_ptr<EVP_PKEY, FreeX509>;
using ServerTls = std::unique_ptr<SSL_CTX, FreeX509>;

struct Identity {
  X509Ptr certificate;
  KeyPtr key;
};

struct CertificateWish {
  std::string alternative_name = "DNS:target.test";
  long valid_from_seconds = -3600;  // counted from now
  long valid_until_seconds = 3600;
  bool authority = false;
};

inline void add_extension(X509* certificate, int kind, const std::string& value) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, kind, value.c_str());
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

// Signed by `issuer`, or by itself.
inline Identity make_identity(const CertificateWish& wish, const Identity* issuer = nullptr) {
  Identity made{X509Ptr(X509_new()), KeyPtr(EVP_EC_gen("P-256"))};
  X509* certificate = made.certificate.get();
  X509_set_version(certificate, X509_VERSION_3);
  static long serial = 1;
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial++);
  X509_gmtime_adj(X509_getm_notBefore(certificate), wish.valid_from_seconds);
  X509_gmtime_adj(X509_getm_notAfter(certificate), wish.valid_until_seconds);
  X509_set_pubkey(certificate, made.key.get());
  const std::string common_name = wish.authority ? "Belfry test authority" : "target";
  X509_NAME* name = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                             0);
  X509_set_issuer_name(certificate,
                       issuer ? X509_get_subject_name(issuer->certificate.get()) : name);
  add_extension(certificate, NID_basic_constraints, wish.authority ? "CA:TRUE" : "CA:FALSE");
  if (!wish.authority) add_extension(certificate, NID_subject_alt_name, wish.alternative_name);
  EXPECT_GT(X509_sign(certificate, issuer ? issuer->key.get() : made.key.get(), EVP_sha256()), 0);
  return made;
}

inline ServerTls server_tls(const Identity& identity) {
  ServerTls context(SSL_CTX_new(TLS_server_method()));
  EXPECT_EQ(SSL_CTX_use_certificate(context.get(), identity.certificate.get()), 1);
  EXPECT_EQ(SSL_CTX_use_PrivateKey(context.get(), identity.key.get()), 1);
  return context;
}

// A PEM file, of a certificate or of a key, that goes with the test.
class CertificateFile {
 public:
  explicit CertificateFile(const Identity& identity) { put(identity.certificate.get()); }
  explicit CertificateFile(EVP_PKEY* key) { put(key); }
  ~CertificateFile() { std::filesystem::remove(path_); }
  CertificateFile(const CertificateFile&) = delete;
  CertificateFile& operator=(const CertificateFile&) = delete;

  const std::string& path() const { return path_; }

  // Another one takes its place, as renewals do it: whole, under the same name.
  void replace(const Identity& identity) { put(identity.certificate.get()); }
  void replace(EVP_PKEY* key) { put(key); }

 private:
  static int write(std::FILE* file, X509* certificate) { return PEM_write_X509(file, certificate); }
  static int write(std::FILE* file, EVP_PKEY* key) {
    return PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
  }

  template <typename Thing>
  void put(Thing* thing) {
    std::string pattern = std::filesystem::temp_directory_path() / "belfry-ca-XXXXXX";
    const int descriptor = ::mkstemp(pattern.data());
    std::FILE* file = ::fdopen(descriptor, "w");
    EXPECT_EQ(write(file, thing), 1);
    std::fclose(file);
    if (path_.empty()) {
      path_ = pattern;
    } else {
      std::filesystem::rename(pattern, path_);
    }
  }

  std::string path_;
};

}  // namespace belfry
