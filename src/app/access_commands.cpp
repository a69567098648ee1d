// SPDX-License-Identifier: MIT

#include "app/access_commands.h"

#include <fmt/format.h>

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>
#include <cstdio>

#include "app/exit_code.h"
#include "app/first_token.h"
#include "base/clock.h"
#include "model/url.h"
#include "store/durable_file.h"
#include "store/sqlite_audit.h"
#include "store/sqlite_store.h"
#include "store/sqlite_upkeep.h"
#include "wire/access_json.h"

namespace belfry {
namespace {

namespace json = boost::json;

constexpr const char* kTokenHelp = R"(
The server is asked, so that a revocation holds from the next request on: --server or
BELFRY_SERVER says where it is, BELFRY_TOKEN who asks (--token too, but other users of this
machine can see flags).

Examples:
  belfry token create --name ci --role Contributor --scope /subscriptions/me --expires P90D
  belfry token list
  belfry token revoke 0123456789abcdef
  belfry token create --name rescue --role Owner --scope / --store /var/lib/belfry
                                              # when all are lost; the server must be stopped)";

constexpr const char* kAuditHelp = R"(
`list` asks the server, like `belfry token`; `verify` reads the store itself, while the server
runs or not, and ends with exit code 1 when a row was altered or removed.

Examples:
  belfry audit list --scope /subscriptions/me --count 20
  belfry audit verify --store /var/lib/belfry)";

constexpr std::int64_t kAuditListMax = 1'000'000;

// A member as a table shows it.
std::string cell(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr || value->is_null()) return "-";
  if (value->is_string()) return std::string(value->get_string());
  return json::serialize(*value);
}

std::string shown_assignments(const json::object& token) {
  std::string out;
  for (const json::value& one : token.at("assignments").as_array()) {
    out += fmt::format("{}{} over {}", out.empty() ? "" : ", ", cell(one.as_object(), "role"),
                       cell(one.as_object(), "scope"));
  }
  return out;
}

// Every page of a list, up to `count` of its values.
Result<json::array> all_values(const Remote& remote, std::string target, std::size_t count) {
  json::array values;
  while (true) {
    TRY_ASSIGN(const RemoteAnswer answer, ask(remote, {.method = "GET", .target = target}));
    const json::value& page = answer.body;
    for (const json::value& value : page.at("value").as_array()) {
      if (values.size() == count) return values;
      values.push_back(value);
    }
    const json::value& link = page.at("nextLink");
    if (!link.is_string()) return values;
    const auto next = parse_url(std::string_view(link.get_string()));
    if (!next) return Error{ErrorCode::internal, "the server's nextLink is no address.", {}};
    target = next->target;
  }
}

Result<json::object> token_body(const TokenCreate& wanted) {
  if (wanted.scopes.size() != 1 && wanted.scopes.size() != wanted.roles.size()) {
    return Error{ErrorCode::invalid, "give one --scope, or one for each --role.", {}};
  }
  json::array assignments;
  for (std::size_t i = 0; i < wanted.roles.size(); ++i) {
    const std::string& scope = wanted.scopes.size() == 1 ? wanted.scopes[0] : wanted.scopes[i];
    assignments.push_back(json::object{{"role", wanted.roles[i]}, {"scope", scope}});
  }
  json::object body{{"name", wanted.name}, {"assignments", std::move(assignments)}};
  if (!wanted.expires.empty()) body["expires"] = wanted.expires;
  return body;
}

// The token alone on standard output, so that a script can take it.
void show_token(const std::string& token, const std::string& told) {
  fmt::print(stderr, "{}\nIt is shown this once; only its hash is kept.\n", told);
  fmt::print("{}\n", token);
}

int create_in_store(const TokenCreate& wanted, const json::object& body) {
  const Instant now = WallClock{}.now();
  Reading reading;
  TokenRequest request = read_token_request(body, now, reading);
  if (!reading.errors.empty()) {
    const Error& first = reading.errors.front();
    return end_with(kWrongInput, fmt::format("{}: {}", first.target, first.message));
  }
  if (const auto there = expect_database_in(wanted.store); !there) {
    return end_with(kFailed, there.error().message);
  }
  SqliteOptions options;
  options.directory = wanted.store;
  options.key_file = wanted.key_file;
  const auto store = SqliteStore::open(options);
  if (!store) return end_with(kFailed, store.error().message);
  Token token;
  token.name = request.name;
  token.assignments = request.assignments;
  token.expires = request.expires;
  const auto given = add_local_token(**store, token, now, "belfry token create --store");
  if (!given) return end_with(kFailed, given.error().message);
  show_token(given->reveal(), fmt::format("Token '{}' in {}.", token.name, wanted.store));
  return kDone;
}

void print_audit_row(const json::object& row) {
  const json::object& who = row.at("principal").as_object();
  fmt::print("{:>8}  {:28}  {:20}  {:15}  {:8}  {}  {}\n", cell(row, "number"), cell(row, "time"),
             cell(who, "name"), cell(row, "address"), cell(row, "result"), cell(row, "operation"),
             cell(row, "resource"));
}

std::optional<AuditMark> parse_mark(const std::string& text) {
  const auto colon = text.find(':');
  if (colon == std::string::npos) return std::nullopt;
  AuditMark mark;
  const auto [end, error] = std::from_chars(text.data(), text.data() + colon, mark.number);
  if (error != std::errc{} || end != text.data() + colon || mark.number < 1) return std::nullopt;
  mark.hash = text.substr(colon + 1);
  return mark;
}

int create_token(const Remote& remote, const TokenCreate& wanted) {
  const auto body = token_body(wanted);
  if (!body) return end_with(kWrongInput, body.error().message);
  if (!wanted.store.empty()) return create_in_store(wanted, *body);
  const auto answer =
      ask(remote, {.method = "POST", .target = "/belfry/tokens", .body = json::serialize(*body)});
  if (!answer) return end_with(kFailed, answer.error().message);
  const json::object& token = answer->body.as_object();
  show_token(cell(token, "token"), fmt::format("Token '{}' with id {}: {}.", cell(token, "name"),
                                               cell(token, "id"), shown_assignments(token)));
  return kDone;
}

int list_tokens(const Remote& remote, bool as_json) {
  const auto tokens = all_values(remote, "/belfry/tokens", kTokensMax);
  if (!tokens) return end_with(kFailed, tokens.error().message);
  if (as_json) {
    fmt::print("{}\n", json::serialize(*tokens));
    return kDone;
  }
  fmt::print("{:16}  {:20}  {:8}  {:20}  {}\n", "ID", "NAME", "STATE", "EXPIRES", "MAY");
  for (const json::value& value : *tokens) {
    const json::object& token = value.as_object();
    fmt::print("{:16}  {:20}  {:8}  {:20}  {}\n", cell(token, "id"), cell(token, "name"),
               cell(token, "state"), cell(token, "expires"), shown_assignments(token));
  }
  return kDone;
}

int revoke_token(const Remote& remote, const std::string& id) {
  const auto answer =
      ask(remote, {.method = "DELETE", .target = "/belfry/tokens/" + percent_encoded(id)});
  if (!answer) return end_with(kFailed, answer.error().message);
  fmt::print("Token '{}' with id {} is {}.\n", cell(answer->body.as_object(), "name"), id,
             cell(answer->body.as_object(), "state"));
  return kDone;
}

int list_audit(const Remote& remote, const AuditList& wanted) {
  std::string target = "/belfry/audit";
  if (!wanted.scope.empty()) {
    target += "?$filter=" + percent_encoded(fmt::format("scope eq '{}'", wanted.scope));
  }
  const auto rows = all_values(remote, std::move(target), wanted.count);
  if (!rows) return end_with(kFailed, rows.error().message);
  if (wanted.json) {
    fmt::print("{}\n", json::serialize(*rows));
    return kDone;
  }
  for (const json::value& row : *rows) print_audit_row(row.as_object());
  return kDone;
}

int print_audit_findings(const AuditVerify& wanted) {
  std::optional<AuditMark> mark;
  if (!wanted.expect.empty()) {
    mark = parse_mark(wanted.expect);
    if (!mark)
      return end_with(
          kWrongInput,
          fmt::format(
              "--expect must be NUMBER:HASH, as `belfry audit verify` prints its last row; it "
              "is '{}'.",
              wanted.expect));
  }
  const auto findings = verify_audit(wanted.store.directory, mark);
  if (!findings) return end_with(kFailed, findings.error().message);
  for (const std::string& problem : findings->problems) fmt::print("{}\n", problem);
  if (!findings->problems.empty()) return kFailed;
  fmt::print("The audit log of {} is sound: {} rows.\n", full_path(wanted.store.directory).native(),
             findings->rows);
  if (findings->rows > 0) {
    fmt::print("Last row: {}:{}\n", findings->last.number, findings->last.hash);
  }
  return kDone;
}

}  // namespace

void AccessCommands::add_to(CLI::App& app) {
  add_tokens(app);
  add_audit(app);
  for (CLI::App* asking : {create_app_, list_app_, revoke_app_, audit_app_}) {
    remote_flags_.add_to(*asking);
  }
}

void AccessCommands::add_tokens(CLI::App& app) {
  auto* tokens = app.add_subcommand("token", "Make, list and revoke access tokens");
  tokens->require_subcommand(1);
  tokens->footer(kTokenHelp);
  create_app_ = tokens->add_subcommand("create", "Make a token, and print it this once");
  create_app_->add_option("--name", create_.name, "What it is for")->type_name("TEXT")->required();
  create_app_->add_option("--role", create_.roles, "Reader, Operator, Contributor or Owner")
      ->type_name("ROLE")
      ->required();
  create_app_->add_option("--scope", create_.scopes, "/, /subscriptions/S, … or a collection's id")
      ->type_name("SCOPE")
      ->required();
  create_app_->add_option("--expires", create_.expires, "A date, or a duration such as P90D")
      ->type_name("TIME");
  create_app_
      ->add_option("--store", create_.store,
                   "Write into this store instead; its server must be stopped")
      ->type_name("DIR");
  create_app_->add_option("--key-file", create_.key_file, "The store's key, if it is elsewhere")
      ->type_name("FILE");
  list_app_ = tokens->add_subcommand("list", "Say which tokens there are");
  list_app_->add_flag("--json", json_, "Print a JSON array");
  revoke_app_ = tokens->add_subcommand("revoke", "Let a token be good for nothing, at once");
  revoke_app_->add_option("ID", id_, "Its id, as the list says")->type_name("")->required();
}

void AccessCommands::add_audit(CLI::App& app) {
  auto* audit = app.add_subcommand("audit", "Read the log of changes, and check it");
  audit->require_subcommand(1);
  audit->footer(kAuditHelp);
  audit_app_ = audit->add_subcommand("list", "Print the newest changes");
  audit_app_->add_option("--scope", audit_.scope, "Only what is in this scope")->type_name("SCOPE");
  audit_app_->add_option("--count", audit_.count, "How many at most")
      ->check(integer_from(1, kAuditListMax))
      ->type_name("N")
      ->capture_default_str();
  audit_app_->add_flag("--json", audit_.json, "Print a JSON array");
  verify_app_ = audit->add_subcommand("verify", "Say whether a row was altered or removed");
  verify_.store.add_to(*verify_app_);
  verify_app_->add_option("--expect", verify_.expect, "What an earlier run printed as its last row")
      ->type_name("NUMBER:HASH");
}

std::optional<int> AccessCommands::run() const {
  if (verify_app_->parsed()) return print_audit_findings(verify_);
  const Remote remote = remote_flags_.remote();
  if (create_app_->parsed()) return create_token(remote, create_);
  if (list_app_->parsed()) return list_tokens(remote, json_);
  if (revoke_app_->parsed()) return revoke_token(remote, id_);
  if (audit_app_->parsed()) return list_audit(remote, audit_);
  return std::nullopt;
}

}  // namespace belfry
