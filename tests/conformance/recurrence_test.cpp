// SPDX-License-Identifier: MIT
//
// Runs the tables of tests/conformance/recurrence; their README.md says how to read them. The
// calendar is asked as the server asks it: text in, rules checked, occurrences out.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "recurrence/next_occurrence.h"
#include "recurrence/timing_rules.h"
#include "wire/iso8601.h"
#include "wire/timing_json.h"

namespace belfry {
namespace {

constexpr std::string_view kMoreFollow = "...";

struct Refusal {
  std::string path;
  std::string words;
};

struct Case {
  std::string name;
  std::string now;
  std::string job;
  std::vector<std::string> expected;  // instants, perhaps kMoreFollow at the end
  std::vector<Refusal> refusals;
  std::string mistake;  // what is wrong with the table itself
};

void PrintTo(const Case& of, std::ostream* out) {
  *out << of.name;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

Refusal refusal_of(const std::string& text) {
  const auto space = text.find(' ');
  if (space == std::string::npos) return {text, ""};
  const std::string path = text.substr(0, space);
  return {path == "-" ? "" : path, text.substr(text.find_first_not_of(' ', space))};
}

void add_statement(Case& to, const std::string& statement) {
  const auto end_of_word = statement.find(' ');
  const std::string word = statement.substr(0, end_of_word);
  const auto start_of_rest = statement.find_first_not_of(' ', end_of_word);
  const std::string rest =
      start_of_rest == std::string::npos ? "" : statement.substr(start_of_rest);
  if (word == "now") {
    to.now = rest;
  } else if (word == "job") {
    to.job = rest;
  } else if (word == "expect") {
    to.expected = words_of(rest);
  } else if (word == "refuse") {
    to.refusals.push_back(refusal_of(rest));
  } else {
    to.mistake = "a line begins with '" + word + "'";
  }
}

// The statements of one block, comments left out and continued lines put together.
struct Block {
  int line = 0;
  std::vector<std::string> statements;
};

std::vector<Block> blocks_of(std::istream& table) {
  std::vector<Block> blocks(1);
  int line_number = 0;
  for (std::string line; std::getline(table, line);) {
    ++line_number;
    if (line.empty()) blocks.emplace_back();
    if (line.empty() || line.front() == '#') continue;
    auto& [first_line, statements] = blocks.back();
    if (statements.empty()) first_line = line_number;
    if (line.front() == ' ' && !statements.empty()) {
      statements.back() += "\n" + line;
    } else {
      statements.push_back(line);
    }
  }
  std::erase_if(blocks, [](const Block& block) { return block.statements.empty(); });
  return blocks;
}

Case case_of(const Block& block, const std::string& file) {
  Case made;
  made.name = file + "_line_" + std::to_string(block.line);
  for (const std::string& statement : block.statements) add_statement(made, statement);
  if (!parse_instant(made.now)) made.mistake = "there is no 'now', or it is no instant";
  if (made.job.empty()) made.mistake = "there is no 'job'";
  if (made.expected.empty() == made.refusals.empty()) {
    made.mistake = "either something is expected or it is refused";
  }
  return made;
}

std::vector<std::filesystem::path> tables() {
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(TABLES)) {
    if (entry.path().extension() == ".txt") found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& path : tables()) {
    std::ifstream table(path);
    for (const Block& block : blocks_of(table)) cases.push_back(case_of(block, path.stem()));
  }
  return cases;
}

std::vector<Error> errors_of(const TimingFile& file, Instant now) {
  if (!file.errors.empty()) return file.errors;
  std::vector<Error> broken = broken_timing_rules(file.timing, now);
  if (broken.empty()) {
    if (const auto none = nothing_ahead(file.timing, now)) broken.push_back(*none);
  }
  for (Error& error : broken) error.target = file.path + error.target;
  return broken;
}

std::string text_of(const std::vector<Error>& errors) {
  std::string text;
  for (const Error& error : errors) text += error.target + ": " + error.message + "\n";
  return text;
}

void check_refused(const Case& of, const std::vector<Error>& errors) {
  EXPECT_EQ(errors.size(), of.refusals.size()) << text_of(errors);
  for (const auto& [path, words] : of.refusals) {
    const bool found = std::any_of(errors.begin(), errors.end(), [&](const Error& error) {
      return error.target == path && error.message.find(words) != std::string::npos;
    });
    EXPECT_TRUE(found) << "no error at '" << path << "' says '" << words << "', but\n"
                       << text_of(errors);
  }
}

// The instants in the spelling of the server, so that a table may leave out the seconds.
std::vector<std::string> spelt_alike(const std::vector<std::string>& instants) {
  std::vector<std::string> spelt;
  for (const std::string& text : instants) {
    const auto instant = parse_instant(text);
    spelt.push_back(instant ? format_instant(*instant) : text);
  }
  return spelt;
}

// The first so many; where there is one more, kMoreFollow instead of it.
std::vector<std::string> runs_of(const Timing& timing, Instant now, std::size_t shown) {
  std::vector<std::string> runs;
  for (const Instant run : first_occurrences(timing, now, shown + 1)) {
    runs.push_back(runs.size() < shown ? format_instant(run) : std::string(kMoreFollow));
  }
  return runs;
}

class RecurrenceTables : public testing::TestWithParam<Case> {};

TEST_P(RecurrenceTables, RunAsWritten) {
  const Case& of = GetParam();
  ASSERT_EQ(of.mistake, "");
  const Instant now = *parse_instant(of.now);
  const TimingFile file = read_timing_file(of.job);
  const std::vector<Error> errors = errors_of(file, now);
  if (!of.refusals.empty()) return check_refused(of, errors);

  ASSERT_TRUE(errors.empty()) << text_of(errors);
  const bool more_follow = of.expected.back() == kMoreFollow;
  const std::size_t shown = of.expected.size() - (more_follow ? 1 : 0);
  EXPECT_EQ(runs_of(file.timing, now, shown), spelt_alike(of.expected));
}

INSTANTIATE_TEST_SUITE_P(Case, RecurrenceTables, testing::ValuesIn(all_cases()),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace belfry
