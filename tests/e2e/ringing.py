#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Jobs that ring, under the virtual clock, against real targets, good and bad ones.

The first case is the founding documents' own example: Monday, Wednesday and Friday at 10 and
22, ten times, with an error action, through its whole life.
"""
import copy
import datetime
import sys
import tempfile

import targets
from rest import Client, Group, collection_body, http_action
from server import Server
from suite import Suite, binary_of, equal, holds

NOW = "2030-01-01T00:00:00Z"  # a Tuesday
NO_RETRY = {"retryType": "None"}


class Bench:
    """A server whose clock stands at NOW, a collection on it, and a sink."""

    def __init__(self, server):
        self.client = Client(server.port)
        self.group = Group()
        self.sink = targets.Sink()
        equal(self.client.put(self.group.collection(), collection_body("P20Premium")).status, 201)

    def of(self, server):
        """The same jobs and the same sink, as another server has them."""
        other = copy.copy(self)
        other.client = Client(server.port)
        return other

    def put(self, name, action, **properties):
        answer = self.client.put(self.group.job(name), {"properties": {
            "action": action, **properties}})
        holds(answer.status in (200, 201), answer)

    def move(self, **how):
        answer = self.client.request("POST", "/clock", how)
        equal(answer.status, 200, answer)

    def job(self, name):
        return self.client.get(self.group.job(name)).properties

    def history(self, name):
        """Oldest first."""
        page = self.client.get(self.group.job(name) + "/history").json["value"]
        return [row["properties"] for row in reversed(page)]

    def call(self, path="/", **request):
        return http_action(uri=self.sink.url(path), **request)


def founding_example(suite, bench):
    bench.sink.statuses["/some-method"] = 500
    bench.put("founding", {
        **bench.call("/some-method", method="PUT", body="Posting from a timer",
                     headers={"Content-Type": "application/json"}, retryPolicy=NO_RETRY),
        "errorAction": bench.call("/notifyError", method="POST")},
        startTime="2030-01-01T00:00Z",
        recurrence={"frequency": "Week", "interval": 1, "count": 10, "endTime": "2030-11-04",
                    "schedule": {"weekDays": ["Monday", "Wednesday", "Friday"],
                                 "hours": [10, 22], "minutes": [0]}})
    bench.move(to="2030-01-31T00:00:00Z")
    rows = bench.history("founding")
    main = [row for row in rows if row["actionName"] == "MainAction"]
    with suite.case("the founding example rings ten times, Mon/Wed/Fri at 10 and 22"):
        equal([row["expectedExecutionTime"] for row in main], [
            f"2030-01-{day:02}T{hour}:00:00Z"
            for day in (2, 4, 7, 9, 11) for hour in (10, 22)])
        equal([row["repeatCount"] for row in main], list(range(1, 11)))
    with suite.case("each failure is followed by the error action, once"):
        equal([row["actionName"] for row in rows], ["MainAction", "ErrorAction"] * 10)
        equal([row.get("status") for row in rows], ["failed", None] * 10)
        equal(len(bench.sink.at("/notifyError")), 10)
    with suite.case("the target gets method, body and headers as written"):
        request = bench.sink.at("/some-method")[0]
        equal((request["method"], request["body"]), ("PUT", b"Posting from a timer"))
        equal(request["headers"]["Content-Type"], "application/json")
    with suite.case("after the tenth it is faulted, and its counters say why"):
        job = bench.job("founding")
        equal(job["state"], "faulted")
        equal(job["status"], {"lastExecutionTime": "2030-01-11T22:00:00Z", "executionCount": 10,
                              "failureCount": 10, "faultedCount": 10})


def retries(suite, bench):
    bench.sink.statuses["/retry"] = 503
    bench.put("retry", {**bench.call("/retry"), "retryPolicy": {
        "retryType": "Fixed", "retryInterval": "PT1M", "retryCount": 3}})
    bench.move(advance="PT2M30S")
    trying = bench.job("retry")["status"]["currentAttempt"]
    bench.sink.statuses["/retry"] = 202
    bench.move(advance="PT1H")
    calls = bench.sink.at("/retry")
    with suite.case("a job that waits for its retry says which, and when"):
        first = bench.history("retry")[0]
        last = bench.history("retry")[-1]
        equal(trying, {"executionTag": calls[0]["headers"]["x-ms-execution-tag"],
                       "expectedExecutionTime": first["expectedExecutionTime"],
                       "actionName": "MainAction", "retryCount": 3,
                       "nextTryTime": last["startTime"]})
        holds("currentAttempt" not in bench.job("retry")["status"], bench.job("retry"))
    with suite.case("attempts of an occurrence are spans of one trace"):
        parents = [call["headers"]["traceparent"].split("-") for call in calls]
        equal({tuple(parent[:2]) + (parent[3],) for parent in parents},
              {("00", calls[0]["headers"]["x-ms-execution-tag"], "01")})
        equal(len({parent[2] for parent in parents}), len(calls))
    with suite.case("a failing call is retried at its interval until it succeeds"):
        rows = bench.history("retry")
        equal([(row["retryCount"], row.get("status")) for row in rows],
              [(0, "failed"), (1, "failed"), (2, "failed"), (3, None)])
        equal(bench.job("retry")["state"], "completed")
    with suite.case("every attempt of an occurrence carries the same keys and an id of its own"):
        for header in ("x-ms-execution-tag", "Idempotency-Key",
                       "x-ms-scheduler-expected-execution-time", "x-ms-scheduler-jobid"):
            equal(len({call["headers"][header] for call in calls}), 1, header)
        equal(len({call["headers"]["x-ms-client-request-id"] for call in calls}), len(calls))
    with suite.case("the message of a failure is worded as the live service worded it"):
        message = bench.history("retry")[0]["message"]
        holds(message.startswith("Http Action - Response from host '127.0.0.1': "
                                 "'ServiceUnavailable' Response Headers: "), message)
        holds(message.endswith("Body: ok"), message)


def own_trace(suite, bench):
    bench.put("traced", bench.call("/traced", headers={"TraceParent": "00-mine-too-01"}))
    bench.move(advance="PT1S")
    with suite.case("a traceparent of the job's own is left alone"):
        headers = bench.sink.at("/traced")[0]["headers"]
        equal([value for name, value in headers.items() if name.lower() == "traceparent"],
              ["00-mine-too-01"])


def methods(suite, bench):
    for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"):
        path = f"/method-{method}"
        bench.put(f"m-{method}", bench.call(path, method=method))
        bench.move(advance="PT1S")
        with suite.case(f"{method} reaches its target and is recorded"):
            equal([call["method"] for call in bench.sink.at(path)], [method])
            equal(bench.job(f"m-{method}")["state"], "completed")


def lifecycle(suite, bench):
    bench.put("off", bench.call("/off"), recurrence={"frequency": "Hour"}, state="Disabled")
    bench.move(advance="PT5H")
    with suite.case("a disabled job does not ring, and owes nothing when it is enabled"):
        equal(bench.sink.at("/off"), [])
        bench.client.patch(bench.group.job("off"), {"properties": {"state": "Enabled"}})
        bench.move(advance="PT2H")
        equal(len(bench.sink.at("/off")), 2)
    with suite.case("a disabled collection stops its jobs, and enabling goes on from then"):
        bench.client.post(bench.group.collection() + "/disable")
        bench.move(advance="PT3H")
        equal(len(bench.sink.at("/off")), 2)
        bench.client.post(bench.group.collection() + "/enable")
        bench.move(advance="PT1H")
        equal(len(bench.sink.at("/off")), 3)
    with suite.case("run adds an occurrence and leaves the schedule alone"):
        before = bench.job("off")["status"]["nextExecutionTime"]
        equal(bench.client.post(bench.group.job("off") + "/run").status, 200)
        bench.move(advance="PT1S")
        equal(len(bench.sink.at("/off")), 4)
        equal(bench.job("off")["status"]["nextExecutionTime"], before)
    with suite.case("a deleted job never rings again"):
        bench.client.delete(bench.group.job("off"))
        bench.move(advance="PT3H")
        equal(len(bench.sink.at("/off")), 4)


def ways_to_rest(bench, name, body):
    """Each a name, and how a job is disabled and enabled that way."""
    client, job, collection = bench.client, bench.group.job(name), bench.group.collection()

    def put(state):
        return lambda: client.put(job, {"properties": {**body, "state": state}})

    def patch(state):
        return lambda: client.patch(job, {"properties": {"state": state}})

    return [("POST", lambda: client.post(job + "/disable"), lambda: client.post(job + "/enable")),
            ("PATCH", patch("Disabled"), patch("Enabled")),
            ("PUT", put("Disabled"), put("Enabled")),
            ("its collection", lambda: client.post(collection + "/disable"),
             lambda: client.post(collection + "/enable"))]


def suspensions(suite, bench):
    """What is open when a job is disabled goes on when it is enabled."""
    bench.sink.statuses |= {"/open": 500, "/told": 200}
    body = {"action": {
        **bench.call("/open"), "errorAction": bench.call("/told"),
        "retryPolicy": {"retryType": "Fixed", "retryInterval": "PT5M", "retryCount": 2}}}
    for number, (way, disable, enable) in enumerate(ways_to_rest(bench, "open", body)):
        with suite.case(f"disabled by {way}, a job keeps its retries and its error action"):
            before = len(bench.sink.at("/open")), len(bench.sink.at("/told"))
            bench.put("open", **body)
            bench.move(advance="PT1M")
            equal(disable().status, 200)
            bench.move(advance="PT1H")
            equal(len(bench.sink.at("/open")), before[0] + 1)
            equal(bench.job("open")["status"].get("nextExecutionTime"), None)
            equal(bench.job("open")["status"]["currentAttempt"].get("nextTryTime"), None)
            equal(enable().status, 200)
            bench.move(advance="PT1S")
            equal(len(bench.sink.at("/open")), before[0] + 2, "its time had passed: at once")
            bench.move(advance="PT10M")
            after = len(bench.sink.at("/open")), len(bench.sink.at("/told"))
            equal(after, (before[0] + 3, before[1] + 1))
            job = bench.job("open")
            equal((job["state"], job["status"]["failureCount"]), ("faulted", 3))
            equal([row["retryCount"] for row in bench.history("open")[4 * number:]], [0, 1, 2, 0])
    with suite.case("a one-time job whose time passed while it was disabled runs late"):
        bench.put("tardy", bench.call("/tardy"), startTime="2031-01-01T00:00Z")
        bench.client.post(bench.group.job("tardy") + "/disable")
        bench.move(to="2031-01-01T05:00:00Z")
        equal(bench.sink.at("/tardy"), [])
        bench.client.post(bench.group.job("tardy") + "/enable")
        bench.move(advance="PT1S")
        equal(bench.history("tardy")[0]["expectedExecutionTime"], "2031-01-01T00:00:00Z")
        equal(bench.job("tardy")["state"], "completed")
    with suite.case("an ended job is neither enabled nor disabled: 409"):
        for verb in ("enable", "disable"):
            equal(bench.client.post(bench.group.job("tardy") + "/" + verb).status, 409)


def in_minutes(bench, minutes):
    now = bench.client.get("/clock", query=None).json["now"]
    then = datetime.datetime.fromisoformat(now) + datetime.timedelta(minutes=minutes)
    return then.isoformat()


def upserts(suite, bench):
    """Who puts his jobs at every start resets nothing."""
    hourly = {"recurrence": {"frequency": "Hour", "count": 5},
              "action": {**bench.call("/upsert"), "retryPolicy": NO_RETRY}}
    bench.put("upsert", **hourly)
    bench.move(advance="PT90M")
    with suite.case("a PUT of what is there changes nothing"):
        before = bench.job("upsert")
        answer = bench.client.put(bench.group.job("upsert"), {"properties": hourly})
        equal((answer.status, answer.properties), (200, before))
        bench.move(advance="PT1S")
        equal(len(bench.sink.at("/upsert")), 2)
    with suite.case("one of another definition does not ring at once; its calendar goes on"):
        hourly["action"] = {**bench.call("/upserted"), "retryPolicy": NO_RETRY}
        answer = bench.client.put(bench.group.job("upsert"), {"properties": hourly})
        first, second = (row["expectedExecutionTime"] for row in bench.history("upsert"))
        holds(first[13:] == second[13:], (first, second))
        equal(answer.properties["status"]["nextExecutionTime"][13:], first[13:])
        bench.move(advance="PT20M")
        equal(bench.sink.at("/upserted"), [])
        bench.move(advance="PT10M")
        equal(len(bench.sink.at("/upserted")), 1)
    with suite.case("PATCH of the recurrence does not ring at once either"):
        bench.client.patch(bench.group.job("upsert"),
                           {"properties": {"recurrence": {"interval": 2}}})
        bench.move(advance="PT1M")
        equal(len(bench.sink.at("/upserted")), 1)
    with suite.case("a new end before the next time of the calendar is refused"):
        soon = {"frequency": "Hour", "endTime": in_minutes(bench, 20)}
        bench.put("early", bench.call("/early"), recurrence={"frequency": "Hour"})
        bench.move(advance="PT10M")
        for answer in (bench.client.patch(bench.group.job("early"),
                                          {"properties": {"recurrence": soon}}),
                       bench.client.put(bench.group.job("early"), {"properties": {
                           "action": bench.call("/early"), "recurrence": soon}})):
            equal(answer.status, 400, answer)
            holds("no occurrence lies between now" in answer.error["message"], answer)
        equal(bench.job("early")["state"], "enabled")
    with suite.case("an end that has passed hinders no PUT of what is there"):
        bench.sink.statuses["/late"] = 500
        late = {"action": {**bench.call("/late"), "retryPolicy": {
                    "retryType": "Fixed", "retryInterval": "PT1H", "retryCount": 2}},
                "recurrence": {"frequency": "Hour", "endTime": in_minutes(bench, 30)}}
        bench.put("late", **late)
        bench.move(advance="PT40M")
        for state in ("Enabled", "Disabled", "Enabled"):
            answer = bench.client.put(bench.group.job("late"),
                                      {"properties": {**late, "state": state}})
            equal((answer.status, answer.properties["state"]), (200, state.lower()), answer)
        bench.move(advance="PT2H")
        equal([row["retryCount"] for row in bench.history("late")], [0, 1, 2])
        equal(bench.job("late")["state"], "faulted")
    with suite.case("a retry that a PUT ends has a row that says so"):
        bench.sink.statuses["/ends"] = 500
        bench.put("ends", bench.call("/ends"), recurrence={"frequency": "Day"})
        bench.move(advance="PT1S")
        bench.put("ends", bench.call("/other"), recurrence={"frequency": "Day"})
        rows = bench.history("ends")
        equal([(row["retryCount"], row["status"]) for row in rows],
              [(0, "failed"), (1, "postponed")])
        holds("was not made: the job was replaced" in rows[1]["message"], rows[1])


def runs_before_time(suite, bench):
    with suite.case("run shortly before the planned instant does not take its place"):
        bench.sink.statuses["/planned"] = 500
        bench.put("planned", {**bench.call("/planned"), "retryPolicy": {
            "retryType": "Fixed", "retryInterval": "PT1M", "retryCount": 1}},
                  startTime="2031-02-01T00:00Z")
        bench.move(to="2031-01-31T23:59:30Z")
        equal(bench.client.post(bench.group.job("planned") + "/run").status, 200)
        bench.move(to="2031-02-01T00:05:00Z")
        equal([(row["expectedExecutionTime"], row["retryCount"])
               for row in bench.history("planned")],
              [("2031-01-31T23:59:30Z", 0), ("2031-01-31T23:59:30Z", 1),
               ("2031-02-01T00:00:00Z", 0), ("2031-02-01T00:00:00Z", 1)])
        equal(bench.job("planned")["state"], "faulted")


def misbehaving(suite, bench, folder):
    """Each with what its history must say. Those that never end get a second of real time."""
    cases = [
        ("reset", targets.reset, None, "failed", "ReceiveFailure"),
        ("hang", targets.hang, None, "failed", "Timeout The operation has timed out"),
        ("drip", targets.drip, None, "failed", "failed: "),
        ("endlessbody", targets.endless_body, None, None, "'OK'"),
        ("endlesshead", targets.endless_head, None, "failed", "failed: "),
        ("nonsense", targets.nonsense, None, "failed", "ServerProtocolViolation"),
        ("gzipbomb", targets.gzip_bomb, None, None, "'OK'"),
        ("selfsigned", targets.answer_ok, ("127.0.0.1", 30), "failed", "TrustFailure"),
        ("expired", targets.answer_ok, ("127.0.0.1", -1), "failed", "TrustFailure"),
        ("wronghost", targets.answer_ok, ("other.example.test", 30), "failed", "TrustFailure"),
        ("nottls", targets.answer_ok, "plain", "failed", "SecureChannelFailure"),
    ]
    for name, behave, tls, status, words in cases:
        context = targets.certificate(folder, name, *tls) if isinstance(tls, tuple) else None
        target = targets.Misbehaving(behave, context)
        scheme = "https" if tls else "http"
        endless = {"timeout": "PT1S"} if name in ("hang", "drip") else {}
        bench.put(name, {**http_action(uri=f"{scheme}://127.0.0.1:{target.port}/"), **endless,
                         "retryPolicy": NO_RETRY})
        bench.move(advance="PT1S")
        target.end()
        with suite.case(f"a target that does this is recorded so: {name}"):
            rows = bench.history(name)
            equal(len(rows), 1)
            equal(rows[0].get("status"), status, rows[0])
            holds(words in rows[0]["message"], rows[0]["message"])
            holds(len(rows[0]["message"]) < 10_000, "the message is bounded")
    refused = [("10.0.0.1", "private"), ("169.254.169.254", "metadata"), ("[fe80::1]", "link"),
               ("0x7f.1", "hex"), ("2130706433", "decimal")]
    for host, name in refused:
        bench.put(f"no-{name}", {**http_action(uri=f"http://{host}/"), "retryPolicy": NO_RETRY})
        bench.move(advance="PT1S")
        with suite.case(f"nothing is sent to {host}, and the history says so"):
            rows = bench.history(f"no-{name}")
            equal(rows[0].get("status"), "failed", rows[0])


def own_timeout(suite, bench):
    """An action that names a time-out is not bound by the server's, which is a second."""
    slow = targets.Misbehaving(targets.slow_ok)
    call = http_action(uri=f"http://127.0.0.1:{slow.port}/")
    bench.put("patient", {**call, "timeout": "PT20S", "retryPolicy": NO_RETRY})
    bench.put("impatient", {**call, "timeout": "PT1M", "retryPolicy": NO_RETRY,
                            "errorAction": call}, state="Disabled")
    bench.client.patch(bench.group.job("impatient"), {"properties": {
        "state": "Enabled",
        "action": {"timeout": "PT1S", "errorAction": {"timeout": "00:00:20"}}}})
    bench.move(advance="PT1S")
    slow.end()
    with suite.case("a target may take as long as the action's timeout says"):
        equal([row.get("status") for row in bench.history("patient")], [None])
        equal(bench.job("patient")["action"]["timeout"], "00:00:20")
    with suite.case("main and error action have timeouts of their own, and PATCH changes them"):
        rows = bench.history("impatient")
        equal([(row["actionName"], row.get("status")) for row in rows],
              [("MainAction", "failed"), ("ErrorAction", None)])
        holds("Timeout The operation has timed out" in rows[0]["message"], rows[0]["message"])


def main():
    suite = Suite()
    with Server(binary_of(sys.argv), "--virtual-clock", NOW, "--timeout", "PT1S") as server:
        own_timeout(suite, Bench(server))
    with Server(binary_of(sys.argv), "--virtual-clock", NOW) as server:
        bench = Bench(server)
        founding_example(suite, bench)
        retries(suite, bench)
        own_trace(suite, bench)
        methods(suite, bench)
        lifecycle(suite, bench)
        suspensions(suite, bench)
        upserts(suite, bench)
        runs_before_time(suite, bench)
        with tempfile.TemporaryDirectory(prefix="belfry-certificates-") as folder:
            misbehaving(suite, bench, folder)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
