#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How jobs and their occurrences end, and what is kept of them, under the virtual clock: ended jobs
are final, retries and error actions have their bounds, counters count, old things go.

    endings.py PATH_OF_BELFRY
"""
import sys

from ringing import NO_RETRY, NOW, Bench
from server import Server
from suite import Suite, binary_of, equal, holds


def fixed(interval, count):
    return {"retryType": "Fixed", "retryInterval": interval, "retryCount": count}


def final_jobs(suite, bench):
    bench.put("once", bench.call("/once"))
    bench.move(advance="PT1M")
    path = bench.group.job("once")
    with suite.case("a job without a recurrence runs once, and is completed"):
        equal(bench.job("once")["state"], "completed")
        holds("nextExecutionTime" not in bench.job("once")["status"], bench.job("once"))
        equal(len(bench.sink.at("/once")), 1)
    with suite.case("PATCH cannot bring an ended job back: 409, and nothing changes"):
        for change in ({"state": "Enabled"}, {"recurrence": {"frequency": "Day"}}):
            answer = bench.client.patch(path, {"properties": change})
            equal((answer.status, answer.error["code"]), (409, "Conflict"))
        equal(bench.job("once")["state"], "completed")
    with suite.case("POST run of an ended job is a conflict"):
        equal(bench.client.post(path + "/run").status, 409)
    with suite.case("PUT makes it anew: it runs again, and counts from the beginning"):
        bench.put("once", bench.call("/once"))
        bench.move(advance="PT1M")
        equal(len(bench.sink.at("/once")), 2)
        equal(bench.job("once")["status"]["executionCount"], 1)
        equal([row["repeatCount"] for row in bench.history("once")], [1, 1])
    with suite.case("DELETE removes it"):
        equal(bench.client.delete(path).status, 200)
        equal(bench.client.get(path).status, 404)


def answers_of_targets(suite, bench):
    for status, counted in ((200, None), (202, None), (204, None), (302, "failed"),
                            (404, "failed"), (500, "failed")):
        path = f"/answers-{status}"
        bench.sink.statuses[path] = status
        name = f"answers-{status}"
        bench.put(name, {**bench.call(path), "retryPolicy": NO_RETRY})
        bench.move(advance="PT1M")
        with suite.case(f"a target that answers {status} is asked once, and it is {counted}"):
            equal([row.get("status") for row in bench.history(name)], [counted])
            equal(len(bench.sink.at(path)), 1)


def default_retries(suite, bench):
    bench.sink.statuses["/default"] = 500
    bench.put("default", bench.call("/default"))
    bench.move(advance="PT1H")
    with suite.case("without a policy there are four retries, half a minute apart"):
        rows = bench.history("default")
        equal([row["retryCount"] for row in rows], [0, 1, 2, 3, 4])
        seconds = [row["startTime"][17:19] for row in rows[:3]]
        equal((int(seconds[1]) - int(seconds[0])) % 60, 30, rows)


def error_actions(suite, bench):
    bench.sink.statuses |= {"/main": 500, "/error": 500}
    bench.put("own-policy", {
        **bench.call("/main"), "retryPolicy": fixed("PT1M", 2),
        "errorAction": {**bench.call("/error"), "retryPolicy": fixed("PT2M", 1)}})
    bench.move(advance="PT1H")
    with suite.case("the error action comes once the retries are used up, with its own policy"):
        equal([(row["actionName"], row["retryCount"]) for row in bench.history("own-policy")],
              [("MainAction", 0), ("MainAction", 1), ("MainAction", 2),
               ("ErrorAction", 0), ("ErrorAction", 1)])
    with suite.case("failures of the action count, an occurrence that used up its retries is one"):
        status = bench.job("own-policy")["status"]
        equal((status["executionCount"], status["failureCount"], status["faultedCount"]), (1, 3, 1))
    bench.put("inherited", {**bench.call("/main"), "retryPolicy": fixed("PT1M", 1),
                            "errorAction": bench.call("/error")})
    bench.move(advance="PT1H")
    with suite.case("an error action without a policy has the action's"):
        equal([(row["actionName"], row["retryCount"]) for row in bench.history("inherited")],
              [("MainAction", 0), ("MainAction", 1), ("ErrorAction", 0), ("ErrorAction", 1)])


def overlaps(suite, bench):
    bench.sink.statuses["/slow"] = 500
    bench.put("slow", {**bench.call("/slow"), "retryPolicy": fixed("PT25M", 2)},
              startTime="2030-02-01T00:00Z",
              recurrence={"frequency": "Minute", "interval": 20, "count": 3})
    bench.move(to="2030-02-01T03:00:00Z")
    with suite.case("an occurrence that is still being tried holds up others, which is told"):
        rows = [row for row in bench.history("slow") if row["actionName"] == "MainAction"]
        first = [row for row in rows if row["expectedExecutionTime"] == "2030-02-01T00:00:00Z"]
        equal([row["retryCount"] for row in first], [0, 1, 2])
        passed = [row for row in bench.history("slow") if "passed over" in row["message"]]
        holds(passed and "an earlier occurrence was still being tried" in passed[0]["message"],
              bench.history("slow"))


def changes_on_the_way(suite, bench):
    bench.put("counted", bench.call("/counted"), startTime="2030-03-01T00:00Z",
              recurrence={"frequency": "Day", "count": 3})
    bench.move(to="2030-03-02T12:00:00Z")
    with suite.case("PATCH keeps the counters, and count goes on from there"):
        equal(bench.client.patch(bench.group.job("counted"), {"properties": {
            "action": bench.call("/renamed")}}).status, 200)
        bench.move(to="2030-03-10T00:00:00Z")
        equal((len(bench.sink.at("/counted")), len(bench.sink.at("/renamed"))), (2, 1))
        equal(bench.job("counted")["state"], "completed")


def nothing_ahead(suite, bench):
    timing = {"startTime": "2030-03-15T00:00:00Z",
              "recurrence": {"frequency": "Week", "endTime": "2030-03-18T00:00:00Z"}}
    bench.sink.statuses["/last"] = 500
    action = {**bench.call("/last"), "retryPolicy": fixed("P1D", 2)}
    bench.put("last", action, **timing)
    bench.move(to="2030-03-15T12:00:00Z")
    body = {"properties": {"action": {**action, **bench.call("/other")}, **timing}}
    with suite.case("a job whose end is ahead and whose occurrences are not cannot be made"):
        answer = bench.client.put(bench.group.job("too-late"), body)
        equal((answer.status, answer.error["target"]), (400, "properties.recurrence.endTime"))
        holds("no occurrence lies between now, 2030-03-15T12:00:00Z, and endTime, "
              "2030-03-18T00:00:00Z" in answer.error["message"], answer)
        equal(bench.client.get(bench.group.job("too-late")).status, 404)
    with suite.case("one that is there may be changed otherwise: by PATCH, and by PUT"):
        equal(bench.client.patch(bench.group.job("last"), {"properties": {
            "action": bench.call("/other")}}).status, 200)
        equal(bench.client.put(bench.group.job("last"), body).status, 200)
    with suite.case("another timing with nothing ahead is refused"):
        answer = bench.client.put(bench.group.job("last"), {"properties": {
            **body["properties"], "startTime": "2030-03-14T00:00:00Z"}})
        equal((answer.status, answer.error["target"]), (400, "properties.recurrence.endTime"))


def what_is_kept(suite, bench):
    bench.put("kept", bench.call("/kept"), startTime="2030-04-01T00:00Z",
              recurrence={"frequency": "Day"})
    bench.put("ended", bench.call("/ended"), startTime="2030-04-01T00:00Z")
    bench.move(to="2030-05-30T12:00:00Z")
    with suite.case("an ended job is there for 60 days"):
        equal(bench.job("ended")["state"], "completed")
    bench.move(to="2030-05-30T23:59:59Z")
    with suite.case("it is there to the last second of them"):
        equal(bench.job("ended")["state"], "completed")
    bench.move(to="2030-05-31T00:00:01Z")
    with suite.case("an ended job is gone a second after its 60 days"):
        equal(bench.client.get(bench.group.job("ended")).status, 404)
    bench.move(to="2030-06-15T12:00:00Z")
    with suite.case("after 60 days an ended job is gone, one that goes on is not"):
        equal(bench.client.get(bench.group.job("ended")).status, 404)
        equal(bench.job("kept")["state"], "enabled")
    with suite.case("history is there for 60 days, and no longer"):
        oldest = bench.history("kept")[0]["expectedExecutionTime"]
        equal(oldest, "2030-04-17T00:00:00Z")


def what_is_kept_for_less(suite, binary):
    with Server(binary, "--virtual-clock", NOW, "--history-kept", "P2D") as server:
        bench = Bench(server)
        first = "2030-01-02T00:00Z"
        bench.put("daily", bench.call("/daily"), startTime=first, recurrence={"frequency": "Day"})
        bench.put("once", bench.call("/once"), startTime=first)
        bench.move(to="2030-01-20T12:00:00Z")
        with suite.case("history is there for history-kept, an ended job for 60 days all the same"):
            oldest = bench.history("daily")[0]["expectedExecutionTime"]
            holds("2030-01-17T00:00:00Z" <= oldest <= "2030-01-19T00:00:00Z", oldest)
            equal((bench.job("once")["state"], bench.history("once")), ("completed", []))


def main():
    suite = Suite()
    what_is_kept_for_less(suite, binary_of(sys.argv))
    with Server(binary_of(sys.argv), "--virtual-clock", NOW) as server:
        bench = Bench(server)
        for show in (final_jobs, answers_of_targets, default_retries, error_actions, overlaps,
                     changes_on_the_way, nothing_ahead, what_is_kept):
            show(suite, bench)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
