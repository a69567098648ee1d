#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How late one tenant's jobs start while all jobs of another, due in one instant, call a host that
hangs.

    bench/hanging_bench.py BUILD_DIR [--jobs N] [--rounds N]

Prints one JSON line per measurement: lateness of a modest tenant's jobs in the ten seconds after
that instant, and in the twenty seconds after those, beside that in the twenty seconds before it: in
one server, and of so many that the slowest hundredth is not a handful. Of several rounds, each with
a server of its own, the median counts.
"""
import argparse
import datetime
import json
import multiprocessing
import pathlib
import socket
import statistics
import subprocess
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
from rest import Client, Group, collection_body  # noqa: E402
from server import Server  # noqa: E402

JOBS_PER_COLLECTION = 1000
WRITERS = 8
# Before the instant, after it, and later: when they begin, and for how long.
SPANS = [(-20, 20), (0, 10), (10, 20)]
PER_SECOND = 250  # jobs of the modest tenant
GROWTH_MAX = 1.10


class Sink:
    """A target that costs next to nothing and notes how late each call came."""

    def __init__(self, build):
        self.process = subprocess.Popen([build / "bench" / "sink"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def end(self, calls):
        """Waits until so many calls have come."""
        out, _ = self.process.communicate(f"wait {calls}\n")
        return json.loads(out)


def job_body(start, port):
    moment = datetime.datetime.fromtimestamp(start, datetime.timezone.utc)
    return {"properties": {"startTime": moment.isoformat().replace("+00:00", "Z"), "action": {
        "type": "http", "request": {"method": "POST", "uri": f"http://127.0.0.1:{port}/",
                                    "body": "{}"}}}}


def put_collection(client, group, name):
    answer = client.put(group.collection(name), collection_body("P20Premium"))
    assert answer.status == 201, answer


def put_jobs(port, subscription, collection, starts, target):
    client, group = Client(port), Group(subscription)
    put_collection(client, group, collection)
    for number, start in enumerate(starts):
        answer = client.put(group.job(f"j{number}", collection), job_body(start, target))
        assert answer.status == 201, answer


def hang():
    """Takes connections and says nothing."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    held = []

    def accept():
        while True:
            held.append(listener.accept()[0])

    threading.Thread(target=accept, daemon=True).start()
    return listener.getsockname()[1]


def lateness(build, hanging_jobs, lead_seconds):
    """What the sink of each span saw."""
    sinks = [Sink(build) for _ in SPANS]
    hanging = hang()
    server = Server(build / "belfry", log_level="warning").start()
    try:
        due = time.time() + lead_seconds
        work = []
        for number, ((begin, seconds), sink) in enumerate(zip(SPANS, sinks)):
            starts = [due + begin + i / PER_SECOND for i in range(seconds * PER_SECOND)]
            work += [(server.port, "modest", f"c{number}-{i}", starts[i:i + JOBS_PER_COLLECTION],
                      sink.port) for i in range(0, len(starts), JOBS_PER_COLLECTION)]
        work += [(server.port, "greedy", f"c{number}", [due] * JOBS_PER_COLLECTION, hanging)
                 for number in range(hanging_jobs // JOBS_PER_COLLECTION)]
        with multiprocessing.Pool(WRITERS) as pool:
            pool.starmap(put_jobs, work, chunksize=1)
        left = due + SPANS[0][0] - time.time()
        assert left > 0, f"the jobs were due {-left:.0f} s before all of them were created"
        return [sink.end(seconds * PER_SECOND) for sink, (_, seconds) in zip(sinks, SPANS)]
    finally:  # not stopped: what hangs would be waited for
        server.kill()
        server.remove()


def judged(case, seconds, rounds):
    """A line about one span; a round has what was seen before the instant, and in the span."""
    def median(figure):
        return round(statistics.median(figure(before, after) for before, after in rounds), 3)

    all_started = all(after["count"] == seconds * PER_SECOND for _, after in rounds)
    line = {"bench": "hanging", "case": case, "rounds": len(rounds)}
    for name in ("p50", "p99", "max"):
        line[f"{name}_ms"] = median(lambda _, after: after[f"late_ms_{name}"])
        line[f"alone_{name}_ms"] = median(lambda before, _: before[f"late_ms_{name}"])
    ratio = line["p99_ms"] / line["alone_p99_ms"]
    return line | {"p99_ratio": round(ratio, 2), "met": ratio <= GROWTH_MAX and all_started}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--lead-seconds", type=int)
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    lead = arguments.lead_seconds or 45 + arguments.jobs // 2500
    seen = [lateness(build, arguments.jobs, lead) for _ in range(arguments.rounds)]
    for span, when in ((1, "the first 10 s"), (2, "the 20 s after")):
        print(json.dumps(judged(f"lateness beside {arguments.jobs} hanging jobs, {when}",
                                SPANS[span][1], [(spans[0], spans[span]) for spans in seen])),
              flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
