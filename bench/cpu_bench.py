#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where does the processor time of an execution go?

    bench/cpu_bench.py BUILD_DIR

Lets a server work off a due backlog (many_jobs_bench) under perf's sampling and sorts the samples
of its threads by what was running: HTTP, the store, JSON, or timer and policy. Without perf it
gives the times by thread alone, which many_jobs_bench prints too.
"""
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

JOBS = "1000"  # that wait besides the backlog
SAMPLES_A_SECOND = "997"
HTTP_THREADS = ("http-out", "http-in", "resolver")
SAMPLE = re.compile(r"^\s*(?P<comm>\S.*?)\s+[0-9a-f]+\s+(?P<symbol>.*) \((?P<dso>[^()]*)\)$")
JSON = re.compile(r"boost::json|belfry::(read_|write_|parse_definition|ObjectReader|parse_json)")


def part_of(comm, symbol, dso):
    """What a sample of the server counts for; None when it is not the server's."""
    if comm in HTTP_THREADS:
        return "http"
    if comm == "worker":
        return "api"
    if comm not in ("engine", "commit", "checkpoint"):
        return None
    # The engine's thread asks the kernel for little but the disk.
    if "sqlite" in dso or "sqlite" in symbol.lower() or dso.startswith("[") or comm != "engine":
        return "store"
    if JSON.search(symbol) or "boost_json" in dso:
        return "json"
    return "memory" if "libc" in dso else "timer_and_policy"


def sampled(build, home):
    """What the benchmark printed, and the samples counted by part."""
    data = pathlib.Path(home) / "perf.data"
    printed = subprocess.run(
        ["perf", "record", "-e", "cpu-clock", "-F", SAMPLES_A_SECOND, "-o", data, "--",
         build / "bench" / "many_jobs_bench", build / "belfry", "--jobs", JOBS],
        check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    script = subprocess.run(["perf", "script", "-i", data, "-F", "comm,ip,sym,dso"], check=True,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout
    counts = collections.Counter()
    for line in script.splitlines():
        if sample := SAMPLE.match(line):
            counts[part_of(sample["comm"], sample["symbol"], sample["dso"])] += 1
    del counts[None]
    return json.loads(next(line for line in printed.splitlines() if line.startswith("{"))), counts


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    if not shutil.which("perf"):
        print("cpu_bench: there is no perf here: nothing is split", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory(prefix="belfry-perf-") as home:
        measured, counts = sampled(build, home)
    total = sum(counts.values())
    row = {"bench": "cpu", "case": "processor time of an execution", "samples": total,
           "cpu_us": measured["cpu_us"]}
    for part, count in counts.most_common():
        row[f"{part}_us"] = round(measured["cpu_us"] * count / total, 1)
    print(json.dumps(row))
    return 0


if __name__ == "__main__":
    sys.exit(main())
