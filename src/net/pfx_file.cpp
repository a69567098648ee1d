// SPDX-License-Identifier: MIT
//
// Pfx::open(): a PKCS #12 file, opened part by part, so that each is judged before it is worked
// on. PKCS12_parse() would open all of it whatever it asks for.

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/pkcs12.h>
#include <openssl/provider.h>
#include <openssl/x509.h>

#include <algorithm>
#include <utility>

#include "base/base64.h"
#include "net/pfx.h"
#include "net/pfx_bounds.h"

namespace belfry {
namespace {

template <auto kFree>
struct FreeWith {
  template <typename T>
  void operator()(T* thing) const {
    kFree(thing);
  }
};

void free_bags(STACK_OF(PKCS12_SAFEBAG) * stack) {
  sk_PKCS12_SAFEBAG_pop_free(stack, PKCS12_SAFEBAG_free);
}
void free_safes(STACK_OF(PKCS7) * stack) {
  sk_PKCS7_pop_free(stack, PKCS7_free);
}
using Pkcs12Ptr = std::unique_ptr<PKCS12, FreeWith<PKCS12_free>>;
using PackedKeyPtr = std::unique_ptr<PKCS8_PRIV_KEY_INFO, FreeWith<PKCS8_PRIV_KEY_INFO_free>>;
using BagsPtr = std::unique_ptr<STACK_OF(PKCS12_SAFEBAG), FreeWith<free_bags>>;
using SafesPtr = std::unique_ptr<STACK_OF(PKCS7), FreeWith<free_safes>>;

Error unusable(std::string why) {
  ERR_clear_error();
  return {ErrorCode::invalid, std::move(why), {}};
}

Error wrong_password() {
  return unusable("cannot be opened with this password.");
}

// The old ciphers live in a library context of their own, where nothing but old files meets
// them. It stays for as long as the process does.
OSSL_LIB_CTX* context_with_old_ciphers() {
  static OSSL_LIB_CTX* const context = [] {
    OSSL_LIB_CTX* made = OSSL_LIB_CTX_new();
    OSSL_PROVIDER_load(made, "default");
    OSSL_PROVIDER_load(made, "legacy");  // where it is missing, new files still open
    ERR_clear_error();
    return made;
  }();
  return context;
}

Pkcs12Ptr parsed(const std::string& der) {
  PKCS12* file = PKCS12_init_ex(NID_pkcs7_data, context_with_old_ciphers(), nullptr);
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  // On failure it frees what it was given.
  if (d2i_PKCS12(&file, &at, static_cast<long>(der.size())) == nullptr) return nullptr;
  return Pkcs12Ptr(file);
}

}  // namespace

class PfxFile {
 public:
  PfxFile(Pkcs12Ptr file, const std::string& password)
      : file_(std::move(file)),
        password_(password.c_str()),
        password_length_(static_cast<int>(password.size())) {}

  Result<Pfx> open();

 private:
  using Step = Status (PfxFile::*)(PKCS7*);

  Status each_safe(Step step);
  Status weigh(PKCS7* safe);
  Status check_password();
  Status unpack(PKCS7* safe);
  Status take(const PKCS12_SAFEBAG* bag);
  Status take_key(const PKCS8_PRIV_KEY_INFO* packed);
  Status take_certificate(const PKCS12_SAFEBAG* bag);
  Status put_together();

  const Pkcs12Ptr file_;
  SafesPtr safes_;
  const char* password_;
  int password_length_;
  PfxBudget budget_;
  Pfx pfx_;  // until it is put together all certificates are in its chain
};

Result<Pfx> PfxFile::open() {
  safes_.reset(PKCS12_unpack_authsafes(file_.get()));
  if (!safes_) return unusable("is not a PFX (PKCS #12) file.");
  if (sk_PKCS7_num(safes_.get()) > kPfxSafesMax) {
    return unusable(fmt::format("holds more than {} safes.", kPfxSafesMax));
  }
  if (auto light = budget_.take_mac(file_.get()); !light) return light.error();
  if (auto light = each_safe(&PfxFile::weigh); !light) return light.error();
  if (auto right = check_password(); !right) return right.error();
  if (auto unpacked = each_safe(&PfxFile::unpack); !unpacked) return unpacked.error();
  if (auto whole = put_together(); !whole) return whole.error();
  ERR_clear_error();
  return std::move(pfx_);
}

Status PfxFile::each_safe(Step step) {
  for (int i = 0; i < sk_PKCS7_num(safes_.get()); ++i) {
    if (auto done = (this->*step)(sk_PKCS7_value(safes_.get(), i)); !done) return done;
  }
  return Done{};
}

// What is seen of a safe while it is closed.
Status PfxFile::weigh(PKCS7* safe) {
  if (!PKCS7_type_is_encrypted(safe)) return Done{};
  return budget_.take_encryption(safe->d.encrypted->enc_data->algorithm);
}

// Some write no password as an empty one, and some as none at all.
Status PfxFile::check_password() {
  const bool empty = password_length_ == 0;
  if (PKCS12_mac_present(file_.get()) != 1) {
    if (empty) password_ = nullptr;
    return Done{};
  }
  if (empty && PKCS12_verify_mac(file_.get(), nullptr, 0) == 1) {
    password_ = nullptr;
    return Done{};
  }
  if (PKCS12_verify_mac(file_.get(), password_, password_length_) == 1) return Done{};
  return wrong_password();
}

Status PfxFile::unpack(PKCS7* safe) {
  BagsPtr bags;
  if (PKCS7_type_is_data(safe)) {
    bags.reset(PKCS12_unpack_p7data(safe));
  } else if (PKCS7_type_is_encrypted(safe)) {
    bags.reset(PKCS12_unpack_p7encdata(safe, password_, password_length_));
  } else {
    return Done{};
  }
  if (!bags) return wrong_password();
  const int count = sk_PKCS12_SAFEBAG_num(bags.get());
  if (auto few = budget_.take_bags(count); !few) return few;
  for (int i = 0; i < count; ++i) {
    if (auto done = take(sk_PKCS12_SAFEBAG_value(bags.get(), i)); !done) return done;
  }
  return Done{};
}

// Bags of other kinds, and more keys than one, are left alone.
Status PfxFile::take(const PKCS12_SAFEBAG* bag) {
  const int kind = PKCS12_SAFEBAG_get_nid(bag);
  if (kind == NID_certBag) return take_certificate(bag);
  if (pfx_.key_) return Done{};
  if (kind == NID_keyBag) return take_key(PKCS12_SAFEBAG_get0_p8inf(bag));
  if (kind != NID_pkcs8ShroudedKeyBag) return Done{};
  const X509_ALGOR* how = nullptr;
  X509_SIG_get0(PKCS12_SAFEBAG_get0_pkcs8(bag), &how, nullptr);
  if (auto light = budget_.take_encryption(how); !light) return light;
  const PackedKeyPtr packed(PKCS12_decrypt_skey_ex(bag, password_, password_length_,
                                                   context_with_old_ciphers(), nullptr));
  return packed ? take_key(packed.get()) : Status(wrong_password());
}

Status PfxFile::take_key(const PKCS8_PRIV_KEY_INFO* packed) {
  if (auto known = check_key_kind(packed); !known) return known;
  pfx_.key_.reset(EVP_PKCS82PKEY(packed));
  if (!pfx_.key_) return unusable("holds a private key that cannot be read.");
  return check_key_parts(pfx_.key_.get());
}

Status PfxFile::take_certificate(const PKCS12_SAFEBAG* bag) {
  if (PKCS12_SAFEBAG_get_bag_nid(bag) != NID_x509Certificate) return Done{};
  if (pfx_.chain_.size() == kPfxCertificatesMax) {
    return unusable(fmt::format("holds more than {} certificates.", kPfxCertificatesMax));
  }
  pfx_.chain_.emplace_back(PKCS12_SAFEBAG_get1_cert(bag));
  if (!pfx_.chain_.back()) return unusable("holds a certificate that cannot be read.");
  return Done{};
}

Status PfxFile::put_together() {
  if (!pfx_.key_) return unusable("holds no private key.");
  auto& chain = pfx_.chain_;
  const auto own = std::find_if(chain.begin(), chain.end(), [&](const auto& certificate) {
    return X509_check_private_key(certificate.get(), pfx_.key_.get()) == 1;
  });
  if (own == chain.end()) return unusable("holds no certificate for its private key.");
  pfx_.certificate_ = std::move(*own);
  chain.erase(own);
  return Done{};
}

Result<Pfx> Pfx::open(std::string_view base64, const std::string& password) {
  const auto der = base64_decoded(base64);
  if (!der) return unusable("is not base64.");
  if (der->size() > kPfxBytesMax) {
    return unusable(fmt::format("is longer than {} bytes.", kPfxBytesMax));
  }
  Pkcs12Ptr file = parsed(*der);
  if (!file) return unusable("is not a PFX (PKCS #12) file.");
  return PfxFile(std::move(file), password).open();
}

}  // namespace belfry
