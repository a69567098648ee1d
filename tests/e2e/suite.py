# SPDX-License-Identifier: MIT
"""Counts what a suite shows. A case is a sentence that holds or does not:

    with suite.case("DELETE of a job that is not there answers 200"):
        equal(client.delete(path).status, 200)

finish() prints the line that tools/run-tests looks for and gives the exit code.
"""
import contextlib
import os
import sys
import traceback


class Suite:
    def __init__(self):
        self.passed = 0
        self.failed = 0

    @contextlib.contextmanager
    def case(self, sentence):
        try:
            yield
            self.passed += 1
        except Exception:  # a suite goes on to show whatever else is wrong
            self.failed += 1
            print(f"FAILED: {sentence}\n{traceback.format_exc()}", flush=True)

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed", flush=True)
        return 1 if self.failed or not self.passed else 0


def equal(actual, expected, what=""):
    if actual != expected:
        raise AssertionError(f"{what}\n  expected: {expected!r}\n  actual:   {actual!r}")


def holds(condition, what):
    if not condition:
        raise AssertionError(what)


def binary_of(argv):
    """The path of the server's binary: the suite's one argument, or BELFRY."""
    binary = argv[1] if len(argv) > 1 else os.environ.get("BELFRY")
    if not binary:
        sys.exit(f"usage: {argv[0]} PATH_OF_BELFRY")
    return binary
