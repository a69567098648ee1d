// SPDX-License-Identifier: MIT
//
// Gate decides who may pass, and what for. A request that it admits has a Caller; what the
// caller may do to a thing is a Permit. Only the gate can make either, and handlers ask for a
// Permit, so none of them can forget to ask.
//
// In local mode everybody on this machine may do everything, but a web page may not: a
// request must name a loopback host, and must not come from a page of another origin.
// Otherwise a request must bear a token, ours (belfry_…) or one that `verify_bearer` knows.
//
// What a caller may not even read is answered as if it did not exist.

#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "access/failed_authentication.h"
#include "access/principal.h"
#include "access/roles.h"
#include "base/result.h"
#include "model/secret.h"
#include "net/http.h"
#include "store/token_store.h"

namespace belfry {

// Who stands behind a bearer token that is not ours. It answers once, on a worker, and never blocks
// the one that asks: an issuer that is slow must not hold up others. An error other than
// `unavailable` is answered 401.
using Verified = std::function<void(Result<Principal>)>;
using VerifyBearer = std::function<void(const Secret& token, Verified verified)>;

struct GateOptions {
  TokenStore* tokens = nullptr;  // none: local mode
  VerifyBearer verify_bearer;    // none: only our own tokens are known
};

class Caller {
 public:
  bool may(Operation operation, const Scope& scope) const {
    return belfry::may(*principal_, operation, scope);
  }
  const Principal& principal() const { return *principal_; }
  const std::shared_ptr<const Principal>& shared_principal() const { return principal_; }
  const std::string& address() const { return address_; }

 private:
  friend class Gate;
  Caller(Principal principal, std::string address)
      : principal_(std::make_shared<const Principal>(std::move(principal))),
        address_(std::move(address)) {}

  std::shared_ptr<const Principal> principal_;
  std::string address_;
};

// `failure` is there where nobody was recognised.
struct Admission {
  Result<Caller> caller;
  std::optional<FailedAuthentication> failure = {};
};

// What somebody wants to do.
struct Errand {
  Operation operation{};
  Scope scope;           // of what it is done to
  std::string resource;  // the id of that
};

class Permit {
 public:
  const Caller& caller() const { return caller_; }

  // For the audit log: who does this, from where, and to what.
  AuditedRequest audited() const;

 private:
  friend class Gate;
  Permit(Caller caller, Errand errand) : caller_(std::move(caller)), errand_(std::move(errand)) {}

  Caller caller_;
  Errand errand_;
};

class Gate {
 public:
  explicit Gate(GateOptions options) : options_(std::move(options)) {}

  // Reads the store: not for I/O threads. Answers once, at once or later on another worker; the
  // gate must live until then.
  using Admitted = std::function<void(Admission)>;
  void admit(const HttpRequest& request, Instant now, Admitted admitted) const;

  // `hidden` is asked what is said of a thing of that scope that is not there.
  using Hidden = std::function<Error()>;
  Result<Permit> permit(const Caller& caller, Errand errand, const Hidden& hidden) const;

  // For what is done to no scope in particular: the role is enough wherever it was given.
  Result<Permit> permit_anywhere(const Caller& caller, Errand errand) const;

 private:
  Result<Caller> admit_local(const HttpRequest& request) const;
  Admission admit_token(std::string_view bearer, const HttpRequest& request, Instant now) const;

  GateOptions options_;
};

// localhost, 127.x.x.x or [::1], with or without a port.
bool is_loopback_authority(std::string_view authority);

}  // namespace belfry
