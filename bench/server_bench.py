#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The whole server, by `belfry bench`, beside the bare ceilings of the machine.

    bench/server_bench.py BUILD_DIR [--rounds N] [--quick]

A ceiling is a program that does the same without any of our work: bare epoll and SQLite for
executions and creates, bare Beast for reads. Ceiling and server take turns, and of several rounds
the median counts. Prints one JSON line per measurement.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys

STORES = "/var/tmp"  # on a disk, as `belfry bench` has it
OF_CEILING = {"executions": 0.6, "PUT job, 64": 0.6, "GET job": 0.5, "GET history": 0.5}


def belfry(build, only, *flags):
    """The measurements whose name has `only` in it."""
    done = subprocess.run([build / "belfry", "bench", "--json", "--only", only, *flags], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    return [json.loads(line) for line in done.splitlines()]


class Sink:
    def __init__(self, build):
        self.process = subprocess.Popen([build / "bench" / "sink"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.port = self.process.stdout.readline().strip()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


def bare(build, program, *words):
    done = subprocess.run([build / "bench" / program, *words], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    return float(done)


def ceiling_of(build, only, size, ours):
    if only == "executions":
        with Sink(build) as sink:
            return bare(build, "ceiling", sink.port, size)
    if only.startswith("PUT"):
        return bare(build, "create_ceiling", STORES, "64", size)
    return bare(build, "beast_ceiling", "64", size, str(ours["answer_bytes"]))


def beside_ceiling(build, only, size, flags, rounds):
    ours, ceilings = [], []
    for _ in range(rounds):
        ours += belfry(build, only, *flags)
        ceilings.append(ceiling_of(build, only, size, ours[-1]))
    row = sorted(ours, key=lambda one: one["per_second"])[len(ours) // 2]
    ceiling = statistics.median(ceilings)
    share = row["per_second"] / ceiling
    row |= {"ceiling_per_second": round(ceiling), "of_ceiling": round(share, 2),
            "target": OF_CEILING[only], "met": share >= OF_CEILING[only]}
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    flags = ["--quick"] if arguments.quick else []
    sizes = {"executions": 50_000, "PUT job, 64": 20_000, "GET job": 20_000, "GET history": 5_000}
    for only in ("fdatasync", "PUT job, 1 ", "PUT job, 16", "PUT job, 256", "lateness", "herd"):
        for row in belfry(build, only, *flags):
            print(json.dumps(row), flush=True)
    for only, size in sizes.items():
        size = size // 10 if arguments.quick else size
        print(json.dumps(beside_ceiling(build, only, str(size), flags, arguments.rounds)),
              flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
