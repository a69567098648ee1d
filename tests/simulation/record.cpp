// SPDX-License-Identifier: MIT

#include "tests/simulation/record.h"

#include <fmt/format.h>

namespace belfry {
namespace {

bool says(const HistoryEntry& row, std::string_view words) {
  return row.message.find(words) != std::string::npos;
}

std::string_view name_of(WriteKind kind) {
  constexpr std::string_view kNames[] = {"put", "patch", "run", "suspend", "resume", "touch"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name_of(RowKind kind) {
  constexpr std::string_view kNames[] = {"attempt",     "superseded", "note",  "overlap gap",
                                         "absence gap", "change gap", "unmade"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name_of(JobState state) {
  constexpr std::string_view kNames[] = {"enabled", "disabled", "completed", "faulted"};
  return kNames[static_cast<std::size_t>(state)];
}

std::string_view name_of(ActionRole role) {
  return role == ActionRole::main ? "main" : "error";
}

std::string text_of(const Occurrence& occurrence, ActionRole role, int retry) {
  return fmt::format("#{} {} {}/{}", occurrence.seq, format_instant(occurrence.scheduled_for),
                     name_of(role), retry);
}

std::string text_of(const DueAttempt& next) {
  return fmt::format("{}{}, due {}{}{}", text_of(next.occurrence, next.role, next.retry),
                     next.origin == Origin::extra ? " extra" : "", format_instant(next.due),
                     next.started ? ", started " + format_instant(*next.started) : "",
                     next.suspended ? ", suspended" : "");
}

std::string text_of(const RetryPolicy& policy) {
  if (policy.type == RetryType::none) return "none";
  return fmt::format("{} x {} s", policy.count.value_or(kRetryCountDefault),
                     policy.interval.value_or(Ticks{0}) / Seconds{1});
}

std::string text_of(const std::optional<RetryPolicy>& policy) {
  return policy ? text_of(*policy) : "default";
}

std::string text_of(const char* name, SmallSet set) {
  std::string text;
  for (auto member = set.first_from(0); member; member = set.first_from(*member + 1)) {
    text += fmt::format("{}{}", text.empty() ? fmt::format(" {} ", name) : ",", *member);
  }
  return text;
}

std::string text_of(const Recurrence& recurrence) {
  constexpr std::string_view kUnits[] = {"minute", "hour", "day", "week", "month", "year"};
  const Schedule& schedule = recurrence.schedule;
  std::string text = fmt::format("every {} {}", recurrence.interval,
                                 kUnits[static_cast<std::size_t>(recurrence.frequency)]);
  text += text_of("minutes", schedule.minutes) + text_of("hours", schedule.hours) +
          text_of("weekDays", schedule.week_days) + text_of("monthDays", schedule.month_days);
  if (recurrence.count) text += fmt::format(" count {}", *recurrence.count);
  if (recurrence.end_time) text += " end " + format_instant(*recurrence.end_time);
  return text;
}

std::string text_of(const JobDefinition& definition) {
  const Timing& timing = definition.timing;
  return fmt::format(
      "start {}, {}, retry {}, error action {}",
      timing.start_time ? format_instant(*timing.start_time) : "none",
      timing.recurrence ? text_of(*timing.recurrence) : "once",
      text_of(definition.action.retry_policy),
      definition.error_action ? text_of(definition.error_action->retry_policy) : "absent");
}

struct Text {
  std::string operator()(const Wrote& wrote) const {
    const bool defines = wrote.kind == WriteKind::put || wrote.kind == WriteKind::patch;
    return fmt::format("wrote     {}{}{}", name_of(wrote.kind),
                       defines ? (wrote.enabled ? " enabled: " : " disabled: ") : "",
                       defines ? text_of(*wrote.definition) : "");
  }
  std::string operator()(const Unstarted&) const { return "unstarted"; }
  std::string operator()(const Saw& saw) const {
    return fmt::format("stored    gen {} {} ran {} failed {} faulted {}; next {}", saw.gen,
                       name_of(saw.state), saw.status.executions, saw.status.failures,
                       saw.status.faults, saw.next ? text_of(*saw.next) : "none");
  }
  std::string operator()(const Sent& sent) const {
    return fmt::format("sent      {}{}", text_of(sent.attempt), sent.accepted ? "" : ": refused");
  }
  std::string operator()(const Answered& answered) const {
    const Attempt& attempt = answered.attempt;
    return fmt::format("answered  {} {}", text_of(attempt.occurrence, attempt.role, attempt.retry),
                       answered.outcome.succeeded ? "ok" : "failed");
  }
  std::string operator()(const Recorded& recorded) const {
    const HistoryEntry& row = recorded.row;
    return fmt::format("row       {} {}: {}", name_of(recorded.kind),
                       text_of(row.occurrence, row.role, row.retry), row.message);
  }
  std::string operator()(const Removed& removed) const {
    return removed.swept ? "swept" : "deleted";
  }
  std::string operator()(const Crashed&) const { return "crash"; }
  std::string operator()(const ClockSet&) const { return "the clock was set"; }
};

}  // namespace

RowKind kind_of(const HistoryEntry& row) {
  if (says(row, "an earlier occurrence was still being tried")) return RowKind::overlap_gap;
  if (says(row, "Belfry was not running or could not start")) return RowKind::absence_gap;
  if (says(row, "the job was changed before")) return RowKind::change_gap;
  if (says(row, "This attempt was not made")) return RowKind::unmade;
  if (says(row, "its outcome is unknown")) return RowKind::note;
  if (says(row, "The job was changed meanwhile")) return RowKind::superseded;
  return RowKind::attempt;
}

std::string text_of(const Event& event) {
  return fmt::format("step {:5} {}  {}", event.step, format_instant(event.now),
                     std::visit(Text{}, event.what));
}

}  // namespace belfry
