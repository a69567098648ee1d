#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`belfry bench`, with sizes at which it says nothing about speed: it measures what it promises,
cleans up after itself, and says why when it cannot go on.

    bench.py PATH_OF_BELFRY
"""
import http.client
import json
import pathlib
import subprocess
import sys
import tempfile

from server import Server
from suite import Suite, binary_of, equal, holds

TINY = ["--backlog", "40", "--spread", "20", "--spread-seconds", "1", "--herd", "20", "--requests",
        "40"]
MEASURED = ["fdatasync of 4 KiB", "durable PUT job, 1 connections",
            "durable PUT job, 16 connections", "durable PUT job, 64 connections",
            "durable PUT job, 256 connections", "GET job, 64 connections",
            "GET history page of 100, 64 connections", "lateness of jobs spread over time",
            "herd in one instant", "executions of a due backlog"]
COLLECTIONS = ("/subscriptions/bench/resourceGroups/bench/providers/Microsoft.Scheduler"
               "/jobCollections?api-version=2016-03-01")


def bench(binary, *flags):
    return subprocess.run([binary, "bench", *flags], capture_output=True, text=True)


def everything(suite, binary):
    with tempfile.TemporaryDirectory() as stores:
        done = bench(binary, "--json", "--store-dir", stores, *TINY)
        with suite.case("every measurement is made, one JSON line each"):
            equal(done.returncode, 0, done.stderr)
            rows = [json.loads(line) for line in done.stdout.splitlines()]
            equal([row["case"] for row in rows], MEASURED)
        with suite.case("lateness is judged, and nothing is early"):
            late = rows[MEASURED.index("lateness of jobs spread over time")]
            equal(late["early"], 0)
            holds(late["met"] in (True, False), late)
        with suite.case("processor time is told of an execution"):
            holds("cpu_us" in rows[-1], rows[-1])
        with suite.case("its store is gone when it ends"):
            equal(list(pathlib.Path(stores).iterdir()), [])


def a_running_server(suite, binary):
    with Server(binary) as server:
        done = bench(binary, "--port", str(server.port), "--only", "executions", *TINY)
        with suite.case("a running server can be measured, with a table for people"):
            equal(done.returncode, 0, done.stderr)
            holds("jobs=40" in done.stdout and "{" not in done.stdout, done.stdout)
        with suite.case("nothing is left on it"):
            connection = http.client.HTTPConnection("127.0.0.1", server.port)
            connection.request("GET", COLLECTIONS)
            equal(json.loads(connection.getresponse().read())["value"], [])


def refusals(suite, binary):
    with suite.case("it says why it gives up"):
        done = bench(binary, "--port", "1", "--only", "GET job", *TINY)
        equal(done.returncode, 1, done.stderr)
        holds("nobody answers on 127.0.0.1:1" in done.stderr, done.stderr)
    with suite.case("sizes have a limit"):
        equal(bench(binary, "--backlog", "1000001").returncode, 2)
    with suite.case("the directory must exist"):
        equal(bench(binary, "--store-dir", "/nowhere").returncode, 2)


def main():
    suite, binary = Suite(), binary_of(sys.argv)
    everything(suite, binary)
    a_running_server(suite, binary)
    refusals(suite, binary)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
