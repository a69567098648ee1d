#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kills the real server under load, again and again, and checks that nothing is lost.

    tests/crash/crash.py BINARY [ROUNDS] [SEED]

In each round clients create, change and delete jobs that are due within a second, a real
HTTP sink takes the calls, and the server is killed: at a random moment, or by itself at a
named failpoint. It is started again and must then do everything it owes. What the clients
were answered, what the sink received and what the history says are joined by the id of the
occurrence:

- every job whose PUT was answered rang, and its history says so, once;
- nothing rang before its time;
- a repetition is of a call that was in flight, or failed, and carries the same
  Idempotency-Key and x-ms-execution-tag;
- no other occurrence ever carries that key, be it another job's or the same job's later one;
- a job that was deleted, and answered so, is gone.

Most jobs run once. Every eighth is an hourly one whose first call fails: after the crash its
retry is asked for, and then another occurrence.
"""
import concurrent.futures
import dataclasses
import datetime
import http.client
import http.server
import json
import pathlib
import random
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from server import Server  # noqa: E402

JOBS_PER_ROUND = 40
HOURLY = "hourly"  # in the names of jobs whose first call fails
HOURLY_EVERY = 8
CLIENTS = 4
SPREAD_SECONDS = 0.6
PATIENCE_SECONDS = 60
FAILPOINTS = ["before-commit", "after-commit", "before-send", "after-send", "before-answer",
              "before-report", "after-report", "before-checkpoint", "after-checkpoint"]
COLLECTION = ("/subscriptions/s/resourceGroups/g/providers/Microsoft.Scheduler/jobCollections/"
              "crash{}")
VERSION = "?api-version=2016-03-01"


@dataclasses.dataclass(frozen=True)
class Call:
    time: float
    key: str  # Idempotency-Key
    tag: str  # x-ms-execution-tag


def keys_of(calls):
    return {call.key for call in calls}


class Sink:
    """Answers every call but the first of an hourly job with 200, and remembers when it came and
    what it called itself."""

    def __init__(self):
        calls, arrived = {}, threading.Condition()
        self.calls, self.arrived = calls, arrived
        self.names = {}  # of the jobs, by their calls' keys, of all rounds

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                self.rfile.read(int(self.headers.get("Content-Length", 0)))
                name = self.path[1:]
                with arrived:
                    first = name not in calls
                    calls.setdefault(name, []).append(Call(
                        time.time(), self.headers["Idempotency-Key"],
                        self.headers["x-ms-execution-tag"]))
                    arrived.notify_all()
                self.send_response(500 if first and HOURLY in name else 200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.port = self.server.server_address[1]

    def wait_for(self, names):
        """True when each of these has been called; gives up after a while."""
        with self.arrived:
            return self.arrived.wait_for(lambda: all(n in self.calls for n in names),
                                         PATIENCE_SECONDS)


class Client:
    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)

    def ask(self, method, path, body=None):
        """Status and JSON; None when the server went away before it answered."""
        try:
            self.connection.request(method, path, json.dumps(body) if body else None)
            answer = self.connection.getresponse()
            text = answer.read()
            return answer.status, json.loads(text) if text else None
        except (OSError, http.client.HTTPException, ValueError):
            self.connection.close()
            return None, None


def iso(seconds):
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return moment.isoformat().replace("+00:00", "Z")


def http_action(name, sink_port, retry_interval):
    return {"type": "http",
            "retryPolicy": {"retryType": "fixed", "retryInterval": retry_interval},
            "request": {"method": "POST", "uri": f"http://127.0.0.1:{sink_port}/{name}",
                        "body": name}}


def one_time_job(name, start, sink_port):
    return {"properties": {"startTime": iso(start),
                           "action": http_action(name, sink_port, "PT15S")}}


def hourly_job(name, sink_port):
    """Begins at once, and retries when it is told to."""
    return {"properties": {"recurrence": {"frequency": "hour"},
                           "action": http_action(name, sink_port, "PT1H")}}


class Round:
    """What was asked of the server in one round, and what it answered."""

    def __init__(self, number, chance, server, sink):
        self.number, self.chance, self.server, self.sink = number, chance, server, sink
        self.collection = COLLECTION.format(number)
        self.starts = {}      # name -> startTime of the job whose PUT was answered
        self.deleted = set()  # answered so
        self.uncertain = set()  # a write was on its way when the server went
        self.lock = threading.Lock()

    def path(self, name, below=""):
        return f"{self.collection}/jobs/{name}{below}{VERSION}"

    def create(self, client, name, seed):
        chance = random.Random(seed)
        start = time.time()
        job = hourly_job(name, self.sink.port)
        if HOURLY not in name:
            start += chance.uniform(0, SPREAD_SECONDS)
            job = one_time_job(name, start, self.sink.port)
        status, _ = client.ask("PUT", self.path(name), job)
        with self.lock:
            if status == 201:
                self.starts[name] = start
            else:
                self.uncertain.add(name)
        if status == 201 and chance.random() < 0.2:
            self.disturb(client, name, chance)

    def disturb(self, client, name, chance):
        """Another write to a job that may be ringing at this very moment."""
        if chance.random() < 0.5:
            client.ask("PATCH", self.path(name), {"properties": {"action": {"request": {
                "headers": {"x-patched": "yes"}}}}})
            return
        status, _ = client.ask("DELETE", self.path(name))
        with self.lock:
            (self.deleted if status == 200 else self.uncertain).add(name)

    def load(self):
        """All jobs, from several clients at once; ends early when the server goes."""
        names = [f"r{self.number}j{i}{'' if i % HOURLY_EVERY else HOURLY}"
                 for i in range(JOBS_PER_ROUND)]
        seeds = [self.chance.random() for _ in names]

        def work(part):
            client = Client(self.server.port)
            for index in range(part, len(names), CLIENTS):
                self.create(client, names[index], seeds[index])

        with concurrent.futures.ThreadPoolExecutor(CLIENTS) as pool:
            list(pool.map(work, range(CLIENTS)))

    def check(self):
        """Problems found, once the server runs again."""
        expected = set(self.starts) - self.deleted - self.uncertain
        problems = []
        if not self.sink.wait_for(expected):
            missing = sorted(n for n in expected if n not in self.sink.calls)
            problems.append(f"answered, and never rang: {missing}")
        client = Client(self.server.port)
        for name in sorted(expected & set(self.sink.calls)):
            check = self.check_hourly if HOURLY in name else self.check_record
            problems += check(client, name)
        for name in sorted(self.deleted - self.uncertain):
            status, _ = client.ask("GET", self.path(name))
            if status != 404:
                problems.append(f"{name}: deleted and answered so, but GET says {status}")
        for name, calls in self.sink.calls.items():
            problems += self.check_calls(name, calls)
        return problems

    def check_calls(self, name, calls):
        if name in self.starts and calls[0].time < self.starts[name]:
            yield f"{name}: rang {self.starts[name] - calls[0].time:.6f} s early"
        occurrences, attempts = (2, 3) if HOURLY in name else (1, 1)
        if len(keys_of(calls)) > occurrences or len({call.tag for call in calls}) > occurrences:
            yield f"{name}: {occurrences} occurrence(s), but ids {calls}"
        if len(calls) > attempts + 1:
            yield f"{name}: one crash, but {len(calls)} calls"
        for key in keys_of(calls):
            if not key:
                yield f"{name}: called without an Idempotency-Key"
            elif self.sink.names.setdefault(key, name) != name:
                yield f"{name}: has the key of an occurrence of {self.sink.names[key]}"

    def check_hourly(self, client, name):
        """A retry has the key of the call that failed; the next occurrence has another."""
        if not self.succeeds(client, name, times=1):
            return [f"{name}: rang, and did not succeed: {self.rows(client, name)}"]
        keys = keys_of(self.sink.calls[name])
        if len(keys) != 1:
            return [f"{name}: one occurrence, but keys {sorted(keys)}"]
        status, answer = client.ask("POST", self.path(name, "/run"))
        if status != 200:
            return [f"{name}: cannot be run: {status} {answer}"]
        if not self.succeeds(client, name, times=2):
            return [f"{name}: was run, and did not succeed: {self.rows(client, name)}"]
        if len(keys_of(self.sink.calls[name]) - keys) != 1:
            return [f"{name}: another occurrence, and no other key than {sorted(keys)}"]
        client.ask("DELETE", self.path(name))
        return []

    def succeeds(self, client, name, times):
        """Whether the history comes to tell of so many successes. Where the first call failed, its
        retry, which is an hour away, is asked for."""
        until = time.monotonic() + PATIENCE_SECONDS
        asked = False
        while time.monotonic() < until:
            rows = self.rows(client, name)
            successes = sum("status" not in row for row in rows)
            if successes >= times:
                return True
            if rows and successes == 0 and not asked:
                asked = client.ask("POST", self.path(name, "/run"))[0] == 200
        return False

    def rows(self, client, name):
        _, page = client.ask("GET", self.path(name, "/history"))
        return [row["properties"] for row in page["value"]]

    def check_record(self, client, name):
        """The call may be recorded a moment after it was taken: ask until the job has ended."""
        until = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < until:
            _, job = client.ask("GET", self.path(name))
            if job and job.get("properties", {}).get("state") == "completed":
                break
        else:
            return [f"{name}: rang, and is not completed: {job}"]
        rows = self.rows(client, name)
        count = job["properties"]["status"]["executionCount"]
        if count != 1 or len(rows) != 1 or "status" in rows[0]:
            return [f"{name}: executionCount {count}, history {rows}"]
        return []


def crash_once(number, chance, server, sink):
    use_failpoint = chance.random() < 0.6
    if use_failpoint:
        place = chance.choice(FAILPOINTS)
        hit = chance.randint(1, 60)
        server.environment = {"BELFRY_FAILPOINT": f"{place}:{hit}"}
        what = f"failpoint {place}:{hit}"
    else:
        server.environment = {}
        what = "kill -9"
    server.start()
    Client(server.port).ask("PUT", COLLECTION.format(number) + VERSION, {
        "location": "here", "properties": {"sku": {"name": "P20Premium"}}})
    this_round = Round(number, chance, server, sink)
    loading = threading.Thread(target=this_round.load)
    loading.start()
    # Whatever has not crashed by itself by then is killed.
    server.wait_for_end(chance.uniform(0.05, SPREAD_SECONDS + 0.4))
    server.kill()
    loading.join()
    server.environment = {}
    server.start()
    # The collection itself may have been lost with the first, unanswered PUT.
    problems = [f"round {number} ({what}): {p}" for p in this_round.check()]
    sink.calls.clear()
    server.stop()
    return problems


def main():
    binary = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 50
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    chance = random.Random(seed)
    sink = Sink()
    server = Server(binary, "--io-threads", "2")
    failed = 0
    try:
        for number in range(rounds):
            problems = crash_once(number, chance, server, sink)
            failed += bool(problems)
            for problem in problems:
                print(f"seed {seed}, {problem}", flush=True)
    finally:
        server.remove()
    print(f"{rounds - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
