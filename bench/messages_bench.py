#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How many messages a second go through each transport, to the peers of tests/targets.

    bench/messages_bench.py BUILD_DIR

A thousand messages each, from a hundred jobs at a time; the suites check that all of them arrive
once. The peers run on the same cores, and some of them are slower than we are.
"""
import pathlib
import subprocess
import sys

TARGETS = pathlib.Path(__file__).resolve().parent.parent / "tests" / "targets"
SUITES = ("storage_queue", "service_bus_rest", "service_bus_amqp", "rabbitmq")


def main():
    binary = pathlib.Path(sys.argv[1]).resolve() / "belfry"
    failed = 0
    for suite in SUITES:
        done = subprocess.run(["node", TARGETS / f"{suite}.mjs", binary], capture_output=True,
                              text=True)
        failed += done.returncode != 0
        for line in done.stdout.splitlines():
            if line.startswith('{"bench"'):
                print(line, flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
