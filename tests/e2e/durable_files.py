#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What a power loss must not take: the store's folder, the key that opens its secrets, and the
names of both. No disk is pulled out here; strace tells in which order the kernel was asked to
bring what to the disk. (What SQLite writes is judged by src/store/power_loss_test.cpp.)

    durable_files.py PATH_OF_BELFRY
"""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile

from suite import Suite, binary_of, equal, holds

CALL = re.compile(r"^\d+ +(\w+)\((.*)\) += 0$")
PATH = re.compile(r'(?<=")/[^"]*(?=")|(?<=<)/[^>]*(?=>)')


def traced(trace, *command):
    """The command under strace. LeakSanitizer does not work in a process that strace looks into."""
    return subprocess.Popen(
        ["strace", "-f", "-y", "-o", str(trace),
         "-e", "trace=mkdir,fsync,fdatasync,link,rename", *command],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})


def calls_in(trace):
    """[("fsync", "/store"), ("rename", "/store/a", "/store/b"), …]"""
    found = (CALL.match(line) for line in trace.read_text().splitlines())
    return [(call[1], *PATH.findall(call[2])) for call in found if call]


def calls_of_first_start(home, binary, store):
    """Of a server that makes its store and is stopped."""
    strace = traced(home / "trace", binary, "serve", "--listen", "127.0.0.1:0", "--store", store)
    holds(strace.stdout.readline(), "it says that it has started")
    child = pathlib.Path(f"/proc/{strace.pid}/task/{strace.pid}/children").read_text().split()[0]
    os.kill(int(child), signal.SIGTERM)
    _, said = strace.communicate(timeout=120)
    equal(strace.returncode, 0, said)
    return calls_in(home / "trace")


def calls_of(home, *command):
    strace = traced(home / "trace", *command)
    _, said = strace.communicate(timeout=120)
    equal(strace.returncode, 0, said)
    return calls_in(home / "trace")


def in_order(calls, *wanted):
    """Each of these was called, after the one before it."""
    rest = iter(calls)
    for call in wanted:
        holds(call in rest, f"{call} is missing where it should be:\n" +
              "\n".join(map(str, calls)))


def main():
    binary, suite = binary_of(sys.argv), Suite()
    with tempfile.TemporaryDirectory(prefix="belfry-durable-") as name:
        home = pathlib.Path(name).resolve()
        store = home / "data"
        folder, key, new_key = str(store), str(store / "secret.key"), str(store / "secret.key.new")
        made = calls_of_first_start(home, binary, folder)
        with suite.case("the name of a new store's folder is on the disk before anything in it"):
            in_order(made, ("mkdir", folder), ("fsync", str(home)),
                     ("fdatasync", str(store / "belfry.db")))
        with suite.case("a new key is on the disk before it has its name, and then its name is"):
            in_order(made, ("fsync", new_key), ("link", new_key, key), ("fsync", folder))
        rotated = calls_of(home, binary, "key", "rotate", "--store", folder)
        with suite.case("keys are on the disk before they take the place of the old ones"):
            in_order(rotated, ("fsync", new_key), ("rename", new_key, key), ("fsync", folder))
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
