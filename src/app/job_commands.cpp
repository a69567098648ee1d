// SPDX-License-Identifier: MIT

#include "app/job_commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>

#include "app/exit_code.h"
#include "app/input_file.h"
#include "app/next_ring.h"
#include "app/stopped_store.h"
#include "base/clock.h"
#include "model/url.h"
#include "wire/json.h"

namespace belfry {
namespace {

namespace json = boost::json;

constexpr std::size_t kJobFileBytesMax = 8 * 1024 * 1024;  // more than any server takes
constexpr std::size_t kCellMax = 60;
constexpr std::size_t kTextMax = 1'000;      // of a message, which ends its line
constexpr std::size_t kListedMax = 100'000;  // jobs, or rows of history
constexpr std::size_t kListedAtOnceMax = 100;

constexpr std::string_view kApiVersion = "?api-version=2016-03-01";

constexpr const char* kJobHelp = R"(
The server is at --server (BELFRY_SERVER); BELFRY_TOKEN says who asks, where it wants to know.
Jobs are looked for in --collection of --group of --subscription (BELFRY_COLLECTION, …); a
collection is made with the command that `belfry serve` prints when it starts.

A job's file is what the REST API takes (/openapi.json), for example:
  {"properties": {"action": {"type": "Http", "request": {"method": "GET",
                                                         "uri": "https://example.com/"}},
                  "startTime": "2026-01-01T03:00:00Z", "recurrence": {"frequency": "Day"}}}
It rings every day at 03:00 UTC; without a startTime its first ring would be at once.

Examples:
  belfry job create nightly job.json
  belfry job list
  belfry job run nightly
  belfry job history nightly --count 5
  belfry job preflight nightly
  belfry job disable nightly --store /var/lib/belfry   # whose server cannot run because of it

Exit code: 0 done; 1 the server could not be asked or refused, or a preflight failed; 2 the
command or the file was wrong.)";

// What targets answered is shown here, and must not reach the terminal as a command to it.
std::string without_controls(std::string text) {
  const auto is_control = [](char c) { return (0 <= c && c < ' ') || c == 0x7F; };
  std::replace_if(text.begin(), text.end(), is_control, ' ');
  // UTF-8 writes the controls from U+0080 to U+009F as two bytes.
  for (std::size_t at = 0; (at = text.find('\xC2', at)) != std::string::npos; ++at) {
    if (at + 1 < text.size() && static_cast<unsigned char>(text[at + 1]) < 0xA0) {
      text.replace(at, 2, " ");
    }
  }
  return text;
}

std::string cut(const std::string& text, std::size_t max) {
  constexpr std::string_view kMark = "...";
  if (text.size() <= max) return text;
  return std::string(whole_characters(text, max - kMark.size())) + std::string(kMark);
}

// As it may be shown on one line.
std::string shown_text(const json::value& value, std::size_t max) {
  return cut(without_controls(value.is_string() ? std::string(value.get_string())
                                                : json::serialize(value)),
             max);
}

// The value below these members as a cell shows it; empty where there is none.
std::string cell(const json::value& value, std::initializer_list<std::string_view> path,
                 std::size_t max = kCellMax) {
  const json::value* at = &value;
  for (const std::string_view name : path) {
    at = at->is_object() ? at->get_object().if_contains(name) : nullptr;
    if (at == nullptr) return "";
  }
  return shown_text(*at, max);
}

using Row = std::vector<std::string>;

void print_table(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  for (const Row& row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format("{:{}}  ", row[i], widths[i]);
    fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
  }
}

const json::array& values_of(const json::value& page) {
  static const json::array none;
  const auto* object = page.if_object();
  const auto* values = object != nullptr ? object->if_contains("value") : nullptr;
  return values != nullptr && values->is_array() ? values->get_array() : none;
}

// "collection/job" is how jobs are named in lists.
std::string last_part(const std::string& name) {
  return name.substr(name.rfind('/') + 1);
}

void print_jobs(const json::value& page) {
  std::vector<Row> rows = {{"NAME", "STATE", "NEXT", "LAST", "RUNS", "FAILURES"}};
  for (const json::value& job : values_of(page)) {
    rows.push_back({last_part(cell(job, {"name"})), cell(job, {"properties", "state"}),
                    cell(job, {"properties", "status", "nextExecutionTime"}),
                    cell(job, {"properties", "status", "lastExecutionTime"}),
                    cell(job, {"properties", "status", "executionCount"}),
                    cell(job, {"properties", "status", "failureCount"})});
  }
  print_table(rows);
}

void print_history(const json::value& page) {
  std::vector<Row> rows = {{"EXPECTED", "STARTED", "ACTION", "RETRY", "STATUS", "MESSAGE"}};
  for (const json::value& row : values_of(page)) {
    std::string status = cell(row, {"properties", "status"});
    if (status.empty()) status = "completed";
    // What went well is told in a glance; of what did not, the end is what helps.
    const std::size_t shown = status == "completed" ? kCellMax : kTextMax;
    rows.push_back({cell(row, {"properties", "expectedExecutionTime"}),
                    cell(row, {"properties", "startTime"}), cell(row, {"properties", "actionName"}),
                    cell(row, {"properties", "retryCount"}), std::move(status),
                    cell(row, {"properties", "message"}, shown)});
  }
  print_table(rows);
}

// The headers and the body of what a job would send.
void print_sent(const json::value& request) {
  for (const auto& header : request.as_object().at("headers").as_object()) {
    fmt::print("  {}: {}\n", without_controls(std::string(header.key())),
               shown_text(header.value(), kTextMax));
  }
  const std::string body = cell(request, {"body"}, kTextMax);
  if (!body.empty()) fmt::print("\n  {}\n\n", body);
}

void print_preflight(const json::value& report) {
  for (const char* role : {"action", "errorAction"}) {
    const auto* action = report.get_object().if_contains(role);
    if (action == nullptr) continue;
    fmt::print("{}: {} {} {}\n", role, cell(*action, {"type"}),
               cell(*action, {"request", "method"}), cell(*action, {"request", "uri"}, kTextMax));
    if (const auto* request = action->get_object().if_contains("request")) print_sent(*request);
    for (const json::value& check : action->at("checks").as_array()) {
      const std::string detail = cell(check, {"detail"}, kTextMax);
      fmt::print("  {} {}{}{}\n", check.at("passed").as_bool() ? "ok    " : "FAILED",
                 cell(check, {"check"}), detail.empty() ? "" : ": ", detail);
    }
  }
}

// A job's file as the server takes it: in a file of one's own comments and trailing commas may
// stand.
Result<std::string> job_text_of(const std::string& file) {
  TRY_ASSIGN(std::string text, read_job_file(file, kJobFileBytesMax));
  if (parse_json(text, JsonDialect::strict)) return text;
  const auto relaxed = parse_json(text, JsonDialect::relaxed);
  if (!relaxed) return relaxed.error();
  return json::serialize(*relaxed);
}

int code_of(const Error& error) {
  return error.target == "server" ? kWrongInput : kFailed;
}

void print_json(const json::value& answer) {
  if (!answer.is_null()) fmt::print("{}\n", json::serialize(answer));
}

}  // namespace

CLI::App* JobCommands::add_verb(CLI::App& jobs, Verb verb, const char* name, const char* help) {
  CLI::App* command = jobs.add_subcommand(name, help);
  command->final_callback([this, verb] { chosen_ = verb; });
  remote_flags_.add_to(*command);
  command->add_option("--subscription", subscription_, "Whose jobs (BELFRY_SUBSCRIPTION)")
      ->type_name("ID")
      ->capture_default_str();
  command->add_option("--group", group_, "Its resource group (BELFRY_GROUP)")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("--collection", collection_, "Its job collection (BELFRY_COLLECTION)")
      ->type_name("NAME")
      ->capture_default_str();
  command->add_option("-o,--output", output_, "table or json")
      ->check(one_of({"table", "json"}))
      ->type_name("HOW")
      ->capture_default_str();
  if (verb != Verb::list) {
    command->add_option("JOB", job_, "The job's name")->type_name("")->required();
  }
  return command;
}

void JobCommands::add_to(CLI::App& app) {
  auto* jobs = app.add_subcommand("job", "Look at the jobs of a server, and change them");
  jobs->require_subcommand(1);
  jobs->footer(kJobHelp);
  auto* list = add_verb(*jobs, Verb::list, "list", "Print the jobs of a collection");
  add_verb(*jobs, Verb::get, "get", "Print a job");
  auto* create = add_verb(*jobs, Verb::create, "create", "Make or replace a job from a file");
  auto* update = add_verb(*jobs, Verb::update, "update", "Change what a file names of a job");
  add_verb(*jobs, Verb::remove, "delete", "Remove a job and its history");
  add_verb(*jobs, Verb::run, "run", "Run a job now, besides its schedule");
  auto* enable = add_verb(*jobs, Verb::enable, "enable", "Let a job go on");
  auto* disable = add_verb(*jobs, Verb::disable, "disable", "Let a job rest");
  auto* history = add_verb(*jobs, Verb::history, "history", "Print what a job did, newest first");
  add_verb(*jobs, Verb::preflight, "preflight",
           "Say what a job would send and what would stop it, without sending it");
  for (CLI::App* with_file : {create, update}) {
    with_file->add_option("FILE", file_, "The job's JSON; - is standard input")->type_name("");
  }
  for (CLI::App* with_store : {enable, disable}) {
    with_store
        ->add_option("--store", store_, "Write into this store instead; its server must be stopped")
        ->type_name("DIR");
    with_store->add_option("--key-file", key_file_, "The store's key, if it is elsewhere")
        ->type_name("FILE");
  }
  for (CLI::App* with_count : {list, history}) {
    with_count->add_option("--count", count_, "How many at most")
        ->check(integer_from(1, kListedMax))
        ->type_name("N")
        ->capture_default_str();
  }
}

std::optional<int> JobCommands::run() const {
  if (!chosen_) return std::nullopt;
  return store_.empty() ? perform(*chosen_) : switch_in_store(*chosen_);
}

std::string JobCommands::collection_path() const {
  return fmt::format(
      "/subscriptions/{}/resourceGroups/{}/providers/Microsoft.Scheduler/jobCollections/{}",
      percent_encoded(subscription_), percent_encoded(group_), percent_encoded(collection_));
}

std::string JobCommands::target(std::string_view below, std::string_view query) const {
  const std::string job = job_.empty() ? "" : "/" + percent_encoded(job_);
  return fmt::format("{}/jobs{}{}{}{}", collection_path(), job, below, kApiVersion, query);
}

RemoteRequest JobCommands::request_for(Verb verb) const {
  switch (verb) {
    case Verb::list:
      return {"GET", target()};
    case Verb::get:
      return {"GET", target()};
    case Verb::create:
      return {"PUT", target()};
    case Verb::update:
      return {"PATCH", target()};
    case Verb::remove:
      return {"DELETE", target()};
    case Verb::run:
      return {"POST", target("/run")};
    case Verb::enable:
      return {"PATCH", target(), R"({"properties":{"state":"Enabled"}})"};
    case Verb::disable:
      return {"PATCH", target(), R"({"properties":{"state":"Disabled"}})"};
    case Verb::history:
      return {"GET", target("/history")};
    case Verb::preflight:
      return {"POST", target("/preflight")};
  }
  return {};
}

// Whoever has more is told so: a list that ends looks like all there is.
int JobCommands::list(Verb verb) const {
  json::array values;
  while (values.size() <= count_) {
    const std::size_t top = std::min(count_ + 1 - values.size(), kListedAtOnceMax);
    RemoteRequest request = request_for(verb);
    request.target += fmt::format("&$top={}&$skip={}", top, values.size());
    const auto answer = ask(remote_flags_.remote(), request);
    if (!answer) return end_with(code_of(answer.error()), answer.error().message);
    const json::array& more = values_of(answer->body);
    values.insert(values.end(), more.begin(), more.end());
    if (more.size() < top) break;
  }
  const bool cut_off = values.size() > count_;
  if (cut_off) values.pop_back();
  const json::object page{{"value", std::move(values)}};
  output_ == "json" ? print_json(page) : print(verb, page);
  if (cut_off) fmt::print(stderr, "belfry: there are more; --count says how many to print.\n");
  return kDone;
}

// Removing what is not there is no error for the server, but a slip of whoever typed the name.
Status JobCommands::find_job() const {
  const auto found = ask(remote_flags_.remote(), request_for(Verb::get));
  if (!found) return found.error();
  return Done{};
}

int JobCommands::switch_in_store(Verb verb) const {
  const JobKey key{{subscription_, group_, collection_}, job_};
  const JobSwitch to = verb == Verb::enable ? JobSwitch::enable : JobSwitch::disable;
  const auto done = switch_job({store_, key_file_}, key, to, WallClock{}.now());
  if (!done) return end_with(kFailed, done.error().message);
  fmt::print("{}\n", *done);
  return kDone;
}

int JobCommands::perform(Verb verb) const {
  if (verb == Verb::list || verb == Verb::history) return list(verb);
  RemoteRequest request = request_for(verb);
  if (verb == Verb::create || verb == Verb::update) {
    auto text = job_text_of(file_);
    if (!text) return end_with(kWrongInput, text.error().message);
    request.body = *std::move(text);
  }
  if (verb == Verb::remove) {
    const Status found = find_job();
    if (!found) return end_with(code_of(found.error()), found.error().message);
  }
  const auto answer = ask(remote_flags_.remote(), request);
  if (!answer) return end_with(code_of(answer.error()), answer.error().message);
  if (!answer->ignored.empty()) {
    fmt::print(stderr, "belfry: the server does not know {}, and passed over it.\n",
               without_controls(answer->ignored));
  }
  output_ == "json" ? print_json(answer->body) : print(verb, answer->body);
  const bool failed = verb == Verb::preflight && !answer->body.get_object().at("passed").get_bool();
  return failed ? kFailed : kDone;
}

void JobCommands::print(Verb verb, const json::value& answer) const {
  switch (verb) {
    case Verb::list:
      return print_jobs(answer);
    case Verb::history:
      return print_history(answer);
    case Verb::preflight:
      return print_preflight(answer);
    case Verb::remove:
      return fmt::print("{} is removed.\n", job_);
    case Verb::run:
      return fmt::print("{} runs now.\n", job_);
    case Verb::get:
      return print_jobs(json::object{{"value", json::array{answer}}});
    default:
      print_jobs(json::object{{"value", json::array{answer}}});
      return tell_next_ring(answer);
  }
}

void JobCommands::tell_next_ring(const json::value& answer) const {
  std::optional<std::string> told = next_ring(job_, answer);
  if (!told) {
    const auto collection =
        ask(remote_flags_.remote(), {"GET", collection_path() + std::string(kApiVersion)});
    if (!collection) return;  // it may not be read by everybody who may change its jobs
    told = no_ring(job_, collection->body);
  }
  fmt::print("{}\n", without_controls(*told));
}

}  // namespace belfry
