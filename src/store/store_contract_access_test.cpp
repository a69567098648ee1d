// SPDX-License-Identifier: MIT
//
// What every store promises of tokens (token_store.h) and of the audit log (audit_log.h).

#include "store/audit_chain.h"
#include "store/store_contract.h"

namespace belfry {
namespace {

const Instant kNow{std::chrono::sys_days{std::chrono::year{2030} / 1 / 1}};

AuditEntry entry(const std::string& scope, const std::string& resource = "resource") {
  AuditEntry out;
  out.request = {PrincipalKind::token, "name", "id", "127.0.0.1", "write", scope, resource};
  out.at = kNow;
  out.result = AuditResult::created;
  out.before = "b";
  out.after = "a";
  return out;
}

Token token(const std::string& id) {
  return {id,          "the name",
          "hash",      {{Role::operator_, {"Sub", "Group", "Jobs"}}, {Role::owner, {}}},
          kNow,        kNow + std::chrono::hours{1},
          std::nullopt};
}

class StoreAccess : public StoreContract {
 protected:
  TokenStore& tokens_ = *fixture_.tokens;

  std::vector<AuditRow> rows(const AuditQuery& query) {
    return must(fixture_.audit->audit_rows(query));
  }
  std::vector<AuditRow> all_rows() { return rows({.scope = "", .limit = 1000}); }

  Ids numbers(const AuditQuery& query) {
    Ids out;
    for (const AuditRow& row : rows(query)) out.push_back(row.number);
    return out;
  }

  void append(const AuditEntry& one) {
    ASSERT_EQ(commit_one(AppendAudit{one, std::nullopt}), kApplied);
  }
};

INSTANTIATE_TEST_SUITE_P(EveryStore, StoreAccess, testing::ValuesIn(store_factories()),
                         factory_name);

TEST_P(StoreAccess, ATokenComesBackAsItWasGiven) {
  ASSERT_TRUE(tokens_.add_token(token("a1"), entry("")));
  const auto found = must(tokens_.token("a1"));
  ASSERT_TRUE(found);
  EXPECT_EQ(found->name, "the name");
  EXPECT_EQ(found->secret_hash, "hash");
  EXPECT_EQ(found->created, kNow);
  EXPECT_EQ(found->expires, kNow + std::chrono::hours{1});
  EXPECT_FALSE(found->revoked);
  ASSERT_EQ(found->assignments.size(), 2u);
  EXPECT_EQ(found->assignments[0].role, Role::operator_);
  EXPECT_EQ(found->assignments[0].scope.collection, "Jobs") << "as it was spelt";
  EXPECT_EQ(found->assignments[1].role, Role::owner);
  EXPECT_EQ(folded(found->assignments[1].scope), "");
  EXPECT_FALSE(must(tokens_.token("a2")));
}

TEST_P(StoreAccess, AnIdIsGivenOnce) {
  ASSERT_TRUE(tokens_.add_token(token("a1"), entry("")));
  const auto again = tokens_.add_token(token("a1"), entry(""));
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().code, ErrorCode::conflict);
  EXPECT_EQ(all_rows().size(), 1u) << "what was refused is not told of";
}

TEST_P(StoreAccess, ARevokedTokenSaysSinceWhenAndIsRevokedOnce) {
  ASSERT_TRUE(tokens_.add_token(token("a1"), entry("")));
  EXPECT_TRUE(must(tokens_.revoke_token("a1", entry(""))));
  EXPECT_EQ(must(tokens_.token("a1"))->revoked, kNow);
  EXPECT_FALSE(must(tokens_.revoke_token("a1", entry(""))));
  EXPECT_FALSE(must(tokens_.revoke_token("a2", entry(""))));
  EXPECT_EQ(all_rows().size(), 2u);
}

TEST_P(StoreAccess, TokensAreListedPageByPage) {
  for (const char* id : {"b", "a", "c"}) ASSERT_TRUE(tokens_.add_token(token(id), entry("")));
  const auto ids = [](const std::vector<Token>& tokens) {
    Names out;
    for (const Token& one : tokens) out.push_back(one.id);
    return out;
  };
  EXPECT_EQ(ids(must(tokens_.tokens("", 2))), (Names{"a", "b"}));
  EXPECT_EQ(ids(must(tokens_.tokens("b", 2))), (Names{"c"}));
}

// Nobody would look through tokens that ended long ago; the audit log still knows of them.
TEST_P(StoreAccess, TokensThatEndedLongAgoAreForgotten) {
  ASSERT_TRUE(tokens_.add_token(token("old"), entry("")));
  Token next = token("next");
  next.created = kNow + std::chrono::hours{1} + kEndedTokensKept;
  ASSERT_TRUE(tokens_.add_token(next, entry("")));
  EXPECT_TRUE(must(tokens_.token("old"))) << "until the last moment";
  next.id = "last";
  next.created += kOneTick;
  ASSERT_TRUE(tokens_.add_token(next, entry("")));
  EXPECT_FALSE(must(tokens_.token("old")));
}

TEST_P(StoreAccess, RowsAreNumberedAndEachHashCoversTheOneBefore) {
  append(entry("s/g/c", "first"));
  append(entry("", "second"));
  const auto found = all_rows();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[1].entry, entry("s/g/c", "first"));
  EXPECT_EQ(found[0].entry, entry("", "second"));
  EXPECT_EQ(found[1].number, 1);
  EXPECT_EQ(found[0].number, 2);
  EXPECT_EQ(found[1].hash, chained_hash("", 1, found[1].entry));
  EXPECT_EQ(found[0].hash, chained_hash(found[1].hash, 2, found[0].entry));
}

TEST_P(StoreAccess, RowsOfAScopeAreThoseInIt) {
  for (const char* scope : {"", "s", "s/g", "s/g/c", "s/g/c", "s/g2", "s/g/c2", "s2", "s2/g/c"}) {
    append(entry(scope));
  }
  EXPECT_EQ(numbers({.scope = "", .limit = 100}), (Ids{9, 8, 7, 6, 5, 4, 3, 2, 1}));
  EXPECT_EQ(numbers({.scope = "s", .limit = 100}), (Ids{7, 6, 5, 4, 3, 2}));
  EXPECT_EQ(numbers({.scope = "s/g", .limit = 100}), (Ids{7, 5, 4, 3}));
  EXPECT_EQ(numbers({.scope = "s/g/c", .limit = 100}), (Ids{5, 4}));
  EXPECT_EQ(numbers({.scope = "s3", .limit = 100}), Ids{});
  EXPECT_EQ(numbers({.scope = "s", .before = 6, .limit = 2}), (Ids{5, 4}));
}

// One step tells of many subscriptions' changes.
TEST_P(StoreAccess, RowsOfATransactionAreFoundByTheirScopeToo) {
  const auto tell = [this](const std::vector<std::string>& scopes) {
    std::vector<Write> batch;
    for (const std::string& scope : scopes) {
      batch.emplace_back(AppendAudit{entry(scope), std::nullopt});
    }
    commit(batch);
  };
  tell({"s/g/c", "s2", "s/g2", "s2/g", "s3", "s/g/c"});
  tell({"s2", "s2"});
  tell({"", "s/g", "s3", "s"});
  EXPECT_EQ(numbers({.scope = "s", .limit = 100}), (Ids{12, 10, 6, 3, 1}));
  EXPECT_EQ(numbers({.scope = "s/g", .limit = 100}), (Ids{10, 6, 1}));
  EXPECT_EQ(numbers({.scope = "s2", .limit = 100}), (Ids{8, 7, 4, 2}));
  EXPECT_EQ(numbers({.scope = "s3", .limit = 100}), (Ids{11, 5}));
  EXPECT_EQ(numbers({.scope = "s", .before = 6, .limit = 1}), Ids{3});
  EXPECT_EQ(numbers({.scope = "s", .before = 12, .limit = 2}), (Ids{10, 6}));
  EXPECT_EQ(numbers({.scope = "", .limit = 100}).size(), 12u);
}

// The row and what it tells of stand or fall together.
TEST_P(StoreAccess, ARowIsRefusedWithTheWriteThatItTellsOf) {
  const std::vector<Write> batch = {
      PutCollection{sample_collection()}, AppendAudit{entry("s", "applied"), 0},
      PutCollection{sample_collection()}, AppendAudit{entry("s", "refused"), 2},
      AppendAudit{entry("s", "alone"), std::nullopt}};
  EXPECT_EQ(commit(batch),
            (std::vector<WriteResult>{kApplied, kApplied, kRefused, kRefused, kApplied}));
  const auto found = all_rows();
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].entry.request.resource, "alone");
  EXPECT_EQ(found[1].entry.request.resource, "applied");
}

}  // namespace
}  // namespace belfry
