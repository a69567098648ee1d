#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Servers that send nothing: one that is held, to look at a restored copy, and one whose virtual
clock was not moved yet. What fell due meanwhile is caught up on.

    held.py PATH_OF_BELFRY
"""
import shutil
import subprocess
import sys

import targets
from rest import http_action
from ringing import NOW, Bench
from server import Server
from suite import Suite, binary_of, equal, holds

HELD = "the server is held: it was started with --held, and sends nothing"


def belfry(binary, *words):
    return subprocess.run([binary, *words], capture_output=True, text=True, timeout=60)


def restored(binary, server, bench, *flags):
    """The server's store as a backup has it, in a store of another's."""
    backup = server.home / "backup"
    done = belfry(binary, "backup", "--store", str(server.store), str(backup))
    equal(done.returncode, 0, done)
    holds("jobs in 1 job collection" in done.stdout, done.stdout)
    copy = Server(binary, *flags)
    done = belfry(binary, "restore", "--store", str(copy.store), str(backup))
    equal(done.returncode, 0, done)
    shutil.copy(server.store / "secret.key", copy.store)  # it is in no backup
    (copy.store / "virtual-clock").touch()  # it is a copy
    copy.start()
    return copy, bench.of(copy)


def show_first_move(suite, binary):
    with Server(binary, "--virtual-clock", NOW) as server:
        bench = Bench(server)
        bench.put("hello", bench.call("/hello"), recurrence={"frequency": "Minute"})
        with suite.case("a virtual clock sends nothing before its first move"):
            # A later write was in a later step: that one would have begun the job.
            bench.put("later", bench.call("/later"), startTime="2031-01-01T00:00:00Z")
            equal(bench.job("hello")["status"], {"nextExecutionTime": NOW, "executionCount": 0,
                                                 "failureCount": 0, "faultedCount": 0})
            equal(bench.sink.requests, [])
        with suite.case("PT0S is a move"):
            bench.move(advance="PT0S")
            equal(len(bench.sink.at("/hello")), 1)


def show_held(suite, binary):
    with Server(binary, "--virtual-clock", NOW) as server:
        bench = Bench(server)
        bench.put("hourly", bench.call("/hourly"), recurrence={"frequency": "Hour"})
        bench.put("once", bench.call("/once"), startTime="2030-01-01T01:30:00Z")
        bench.move(advance="PT0S")
        began = []
        hanging = targets.Misbehaving(lambda _, ended: (began.append(1), ended.wait()))
        bench.put("slow", http_action(uri=f"http://127.0.0.1:{hanging.port}/"))
        while not began:
            bench.job("slow")
        copy, looking = restored(binary, server, bench, "--virtual-clock", "2030-06-01T00:00:00Z",
                                 "--held")
        calls = len(bench.sink.requests)
        with suite.case("a held copy of long ago sends nothing, however its clock is moved"):
            looking.move(advance="P1D")
            equal(len(bench.sink.requests), calls)
        with suite.case("nor anew what was on the wire when the backup was made"):
            holds("currentAttempt" in looking.job("slow")["status"], looking.job("slow"))
            equal(len(began), 1)
        with suite.case("it answers, and keeps what it has, however old"):
            equal([row["expectedExecutionTime"] for row in looking.history("hourly")], [NOW])
            equal(looking.job("once")["state"], "enabled")
        with suite.case("it records nothing as missed"):
            metrics = copy_metrics(looking)
            holds("belfry_missed_occurrences_total{reason=\"not_started\"} 0" in metrics, metrics)
        with suite.case("it takes writes; what is due at once waits"):
            looking.put("new", looking.call("/new"))
            equal(looking.client.post(looking.group.job("new") + "/run").status, 200)
            looking.move(advance="PT1M")
            equal(bench.sink.at("/new"), [])
        with suite.case("/readyz says that it is held, and `belfry ready` ends with 1"):
            answer = looking.client.get("/readyz", query=None)
            equal((answer.status, answer.json["reasons"]), (503, [HELD]))
            done = belfry(binary, "ready", "--server", f"http://127.0.0.1:{copy.port}")
            equal(done.returncode, 1, done)
            holds(HELD in done.stderr, done.stderr)
        with suite.case("a preflight shows the request, and connects to nobody"):
            answer = looking.client.post(looking.group.job("once") + "/preflight")
            equal(answer.json["passed"], False, answer)
            action = answer.json["action"]
            equal(action["request"]["uri"], bench.sink.url("/once"))
            equal([check["check"] for check in action["checks"]], ["request", "held"])
            equal(len(bench.sink.requests), calls)
        with suite.case("the greeting and the log say so"):
            holds("It is held: it sends nothing" in copy.read_greeting(), copy.log())
            holds("held: nothing is sent while --held is set" in copy.log(), copy.log())
        copy.stop()
        hanging.end()
        show_released(suite, binary, bench, copy)
        copy.remove()


def copy_metrics(bench):
    return bench.client.get("/metrics", query=None).body.decode()


def show_released(suite, binary, bench, copy):
    """The same store, no longer held."""
    free = Server(binary, "--virtual-clock", "2030-06-02T00:30:00Z")
    free.home, free.store, free.log_path = copy.home, copy.store, copy.home / "later.log"
    free.start()
    looking = bench.of(free)
    with suite.case("started without --held it catches up: the latest missed one of each job"):
        looking.move(advance="PT0S")
        equal(len(bench.sink.at("/once")), 1)
        equal(len(bench.sink.at("/new")), 2)  # as it was planned, and as somebody ran it
        rows = looking.history("hourly")
        equal([(row["expectedExecutionTime"], row.get("status")) for row in rows][-2:],
              [("2030-01-01T01:00:00Z", "postponed"), ("2030-06-02T00:00:00Z", None)])
    free.stop()


def show_taken_port(suite, binary):
    with Server(binary) as server:
        with suite.case("a port that is taken: no store is made"):
            store = server.home / "none"
            done = belfry(binary, "serve", "--listen", f"127.0.0.1:{server.port}", "--store",
                          str(store))
            equal(done.returncode, 1, done)
            holds("Address already in use" in done.stderr, done.stderr)
            equal(store.exists(), False)
        with suite.case("nor with a setting that cannot be used"):
            done = belfry(binary, "serve", "--listen", "127.0.0.1:0", "--store", str(store),
                          "--ca-file", str(server.home / "none.pem"))
            equal(done.returncode, 1, done)
            equal(store.exists(), False)
        with suite.case("the log of a start says where the store is, from the root on"):
            holds(f'store="{server.store}"' in server.log(), server.log())


def main():
    suite = Suite()
    binary = binary_of(sys.argv)
    show_first_move(suite, binary)
    show_held(suite, binary)
    show_taken_port(suite, binary)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
