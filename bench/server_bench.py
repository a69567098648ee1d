#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The whole server, measured from outside, beside the bare ceiling of the machine.

    bench/server_bench.py BUILD_DIR [--jobs N]

Prints one JSON line per measurement: durable PUTs and GETs (wrk), lateness of jobs spread over
twenty seconds, a herd of 10,000 in one instant, and a due backlog. Everything runs with
synchronous=FULL and every execution recorded. Only ratios within one run mean anything.
"""
import argparse
import datetime
import http.client
import json
import multiprocessing
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
from server import Server  # noqa: E402

GROUP = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Scheduler/jobCollections/"
VERSION = "?api-version=2016-03-01"
JOBS_PER_COLLECTION = 1000
WRITERS = 16
WRK_SECONDS = 5

WRK_PUT = """
local n = 0
local id = 0
function setup(thread) thread:set("id", id); id = id + 1 end
function request()
  n = n + 1
  local path = "%s" .. "w" .. id .. "c" .. math.floor(n / 1000) %% 20 .. "/jobs/j" .. n %% 1000
  return wrk.format("PUT", path .. "%s", {["Content-Type"] = "application/json"}, '%s')
end
"""


def iso(seconds):
    moment = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return moment.isoformat().replace("+00:00", "Z")


def job_body(start, port):
    return json.dumps({"properties": {"startTime": iso(start), "action": {
        "type": "http", "request": {"method": "POST", "uri": f"http://127.0.0.1:{port}/",
                                    "body": "{}"}}}})


def put_collection(port, name):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    connection.request("PUT", GROUP + name + VERSION, json.dumps(
        {"location": "here", "properties": {"sku": {"name": "P20Premium"}}}))
    assert connection.getresponse().status == 201


def put_jobs(port, prefix, starts, sink_port):
    """One writer's share: a collection per thousand jobs."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for index, start in enumerate(starts):
        collection = f"{prefix}c{index // JOBS_PER_COLLECTION}"
        if index % JOBS_PER_COLLECTION == 0:
            put_collection(port, collection)
        connection.request("PUT", f"{GROUP}{collection}/jobs/j{index}{VERSION}",
                           job_body(start, sink_port))
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 201, answer.status


class Sink:
    def __init__(self, build):
        self.process = subprocess.Popen([build / "bench" / "sink"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def end(self):
        out, _ = self.process.communicate("\n")
        return json.loads(out)


def wait_until_completed(port, prefixes, shares):
    """Blocks until no job of these collections is left to do."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for prefix, share in zip(prefixes, shares):
        for number in range((len(share) + JOBS_PER_COLLECTION - 1) // JOBS_PER_COLLECTION):
            path = (f"{GROUP}{prefix}c{number}/jobs{VERSION}"
                    "&$filter=state%20eq%20enabled&$top=1")
            while True:
                connection.request("GET", path)
                if not json.loads(connection.getresponse().read())["value"]:
                    break
                time.sleep(0.05)


def fire(build, jobs, lead_seconds, spread_seconds):
    """What the sink saw of so many one-time jobs, spread over so long; and CPU seconds."""
    sink = Sink(build)
    with Server(build / "belfry", log_level="warning") as server:
        due = time.time() + lead_seconds
        starts = [due + spread_seconds * i / jobs for i in range(jobs)]
        shares = [starts[i::WRITERS] for i in range(WRITERS)]
        prefixes = [f"w{i}" for i in range(WRITERS)]
        with multiprocessing.Pool(WRITERS) as pool:
            pool.starmap(put_jobs, [(server.port, prefix, share, sink.port)
                                    for prefix, share in zip(prefixes, shares)])
        assert time.time() < due, "the jobs were due before all of them were created"
        wait_until_completed(server.port, prefixes, shares)
        seen = sink.end()
    assert seen["count"] == jobs, seen
    return seen, due


def wrk(port, script, connections):
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as file:
        file.write(script)
        file.flush()
        done = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{WRK_SECONDS}s", "--latency",
                               "-s", file.name, f"http://127.0.0.1:{port}"],
                              capture_output=True, text=True, check=True).stdout
    rate = float(re.search(r"Requests/sec:\s+([\d.]+)", done).group(1))
    quantiles = {q: re.search(rf"{q}%\s+([\d.]+\w+)", done).group(1) for q in ("50", "99")}
    bad = re.search(r"Non-2xx or 3xx responses: (\d+)", done)
    return {"per_second": round(rate), "p50": quantiles["50"], "p99": quantiles["99"],
            "bad": int(bad.group(1)) if bad else 0}


def report(case, **figures):
    print(json.dumps({"bench": "server", "case": case, **figures}), flush=True)


def measure_disk():
    """What one durable write costs here: everything that waits for the disk is a multiple of it."""
    with tempfile.NamedTemporaryFile() as file:
        times = []
        for index in range(200):
            os.pwrite(file.fileno(), bytes(4096), index * 4096)
            began = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append((time.perf_counter() - began) * 1000)
    times.sort()
    report("fdatasync of 4 KiB on this disk", p50_ms=round(times[100], 2),
           p99_ms=round(times[198], 2))
    return times[100]


def measure_api(build):
    far = job_body(4102444800, 9)  # the year 2100: stored, never due here
    with Server(build / "belfry", log_level="warning") as server:
        for number in range(20):
            put_collection(server.port, f"w0c{number}")
        for connections in (1, 16, 64, 256):
            report(f"durable PUT job, {connections} connections",
                   **wrk(server.port, WRK_PUT % (GROUP, VERSION, far), connections))
        get = f'wrk.path = "{GROUP}w0c0/jobs/j1{VERSION}"'
        report("GET job, 64 connections", **wrk(server.port, get, 64))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--jobs", type=int, default=20_000)
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    sync_ms = measure_disk()
    measure_api(build)

    seen, _ = fire(build, 10_000, lead_seconds=25, spread_seconds=20)
    report("lateness, 10,000 jobs over 20 s", p50_ms=seen["late_ms_p50"],
           p99_ms=seen["late_ms_p99"], max_ms=seen["late_ms_max"], early=seen["early"],
           p50_in_fdatasyncs=round(seen["late_ms_p50"] / sync_ms, 1),
           met=seen["late_ms_p50"] <= 1 and seen["late_ms_p99"] <= 10 and seen["early"] == 0)

    seen, due = fire(build, 10_000, lead_seconds=25, spread_seconds=0)
    report("herd of 10,000 in one instant", last_sent_ms=round((seen["last"] - due) * 1000),
           early=seen["early"])

    seen, _ = fire(build, arguments.jobs, lead_seconds=10 + arguments.jobs / 800, spread_seconds=0)
    ours = seen["count"] / (seen["last"] - seen["first"])
    sink = Sink(build)
    ceiling = float(subprocess.run([build / "bench" / "ceiling", str(sink.port),
                                    str(arguments.jobs)], capture_output=True, text=True,
                                   check=True).stdout)
    sink.end()
    report(f"executions of a due backlog of {arguments.jobs}", per_second=round(ours),
           ceiling_per_second=round(ceiling), of_ceiling=round(ours / ceiling, 2),
           met=ours / ceiling >= 0.6)
    return 0


if __name__ == "__main__":
    sys.exit(main())
