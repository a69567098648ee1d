#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The real server under load on days when the machine fails it.

    tests/crash/bad_days.py BINARY

The disk is full, the disk does not confirm what was written, there are no file descriptors.
The first two are put into the running server by strace, which makes its writes to the store
fail, and are lifted by ending strace. On each day:

- what was answered 2xx is there after the server is killed and started again, and rings;
- what fell due while nothing could be written rings once it can;
- /readyz says why, the log says so once, and all is well again when the day is over.
"""
import concurrent.futures
import contextlib
import pathlib
import resource
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))
from crash import COLLECTION, VERSION, Client, Sink, keys_of, one_time_job  # noqa: E402
from server import Server  # noqa: E402
from suite import Suite, binary_of, equal, holds  # noqa: E402
from system_calls import injected  # noqa: E402

CLIENTS = 3
JOBS_PER_CLIENT_MAX = 200
PATIENCE_SECONDS = 60
LOG_LINES_MAX = 40  # that a bad day may add, debug level and all


def wait_until(condition, what):
    """Tries until it holds; each try waits for the server or for a process."""
    until = time.monotonic() + PATIENCE_SECONDS
    while not condition():
        holds(time.monotonic() < until, f"gave up waiting: {what}")


class Day:
    """A server with a sink, and clients that make jobs and remember what they were answered."""

    def __init__(self, binary, name):
        # LeakSanitizer does not work in a process that strace looks into.
        self.server = Server(binary, "--io-threads", "2",
                             environment={"ASAN_OPTIONS": "detect_leaks=0"})
        self.sink, self.name = Sink(), name
        self.collection = COLLECTION.format(name)
        self.answered = set()   # 201: they must be there, and ring
        self.refused = 0        # 503: they may or may not be there
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._pool = concurrent.futures.ThreadPoolExecutor(CLIENTS)

    def start(self):
        self.server.start()
        self.client = Client(self.server.port)
        wait_until(lambda: self.client.ask("GET", "/readyz")[0] == 200, "the first readiness")
        status, _ = self.client.ask("PUT", self.collection + VERSION, {
            "location": "here", "properties": {"sku": {"name": "P20Premium"}}})
        equal(status, 201)

    def path(self, name):
        return f"{self.collection}/jobs/{name}{VERSION}"

    def put(self, client, name, start):
        status, _ = client.ask("PUT", self.path(name), one_time_job(name, start, self.sink.port))
        with self._lock:
            if status == 201:
                self.answered.add(name)
            else:
                self.refused += 1
        return status

    def load(self):
        """Clients that go on until end_load()."""
        def work(part):
            client, number = Client(self.server.port), 0
            while not self._ended.is_set() and number < JOBS_PER_CLIENT_MAX:
                self.put(client, f"{self.name}-{part}-{number}", time.time())
                number += 1
                self._ended.wait(0.05)

        self._work = [self._pool.submit(work, part) for part in range(CLIENTS)]

    def end_load(self):
        self._ended.set()
        for work in self._work:
            work.result()

    def wait_for_answers(self, count):
        before = len(self.answered)
        wait_until(lambda: self.ready() is not None and len(self.answered) >= before + count,
                   f"{count} more answers of 201")

    def wait_for_refusals(self, count):
        before = self.refused
        wait_until(lambda: self.ready() is not None and self.refused >= before + count,
                   f"{count} refusals")

    def ready(self):
        """Status and body of /readyz; None when the server is not there."""
        status, body = self.client.ask("GET", "/readyz")
        return None if status is None else (status, body)

    def check_after_restart(self):
        """Everything that was answered is there, has rung, and is recorded once."""
        self.server.kill()
        self.server.start()
        self.client = Client(self.server.port)
        holds(self.sink.wait_for(self.answered), "never rang: "
              + str(sorted(n for n in self.answered if n not in self.sink.calls)[:10]))
        for name in sorted(self.answered):
            wait_until(lambda: self.state_of(name) == "completed", f"{name} to be completed")
            _, page = self.client.ask("GET",
                                      f"{self.collection}/jobs/{name}/history{VERSION}")
            equal(len(page["value"]), 1, page)
            keys = keys_of(self.sink.calls[name])
            equal(len(keys), 1, f"{name}: one occurrence, one id")

    def state_of(self, name):
        _, job = self.client.ask("GET", self.path(name))
        holds(job and "properties" in job, f"{name} was answered, and is gone: {job}")
        return job["properties"]["state"]

    def end(self):
        self._ended.set()
        self._pool.shutdown()
        with contextlib.suppress(Exception):
            self.server.kill()
        self.server.remove()


def failing_disk(server, calls, error):
    """The server's writes to its store end with this error until the block ends."""
    files = [server.store / file for file in ("belfry.db", "belfry.db-wal")]
    return injected(server, calls, f"error={error}", files)


def log_lines(server, words):
    return [line for line in server.log().splitlines() if words in line]


def events(server):
    """The log without what it says of single occurrences."""
    return [line for line in server.log().splitlines() if ' occurrence="' not in line]


def disk_is_full(suite, binary):
    day = Day(binary, "full")
    try:
        day.start()
        day.load()
        day.wait_for_answers(10)
        with suite.case("disk full: what is due meanwhile is not lost"):
            for number in range(10):
                equal(day.put(day.client, f"meanwhile-{number}", time.time() + 0.5), 201)
        lines = len(events(day.server))
        with failing_disk(day.server, "pwrite64,fallocate,ftruncate", "ENOSPC"):
            with suite.case("disk full: writes are refused, and /readyz says why all the while"):
                day.wait_for_refusals(5)
                for _ in range(20):
                    status, body = day.ready()
                    equal((status, body["status"]), (503, "not ready"))
                    holds("full" in body["reasons"][0], body)
            with suite.case("disk full: `belfry ready` says so too"):
                done = subprocess.run(
                    [binary, "ready", "--server", f"http://127.0.0.1:{day.server.port}"],
                    capture_output=True, text=True)
                equal(done.returncode, 1, done.stderr)
                holds(" answered 503: the store cannot be used: " in done.stderr, done.stderr)
        with suite.case("disk full: when there is room again, all goes on by itself"):
            day.wait_for_answers(10)
            equal(day.ready(), (200, {"status": "ok"}))
        day.end_load()
        with suite.case("disk full: the log says that it began and that it is over, once"):
            equal(len(log_lines(day.server, "the store failed")), 1, day.server.log())
            equal(len(log_lines(day.server, "the store works again")), 1, day.server.log())
            holds(len(events(day.server)) <= lines + LOG_LINES_MAX, day.server.log())
        with suite.case("disk full: everything answered is there after a crash, and has rung"):
            day.check_after_restart()
    finally:
        day.end()


def disk_confirms_nothing(suite, binary):
    day = Day(binary, "unconfirmed")
    try:
        day.start()
        day.load()
        day.wait_for_answers(10)
        with failing_disk(day.server, "fdatasync,fsync", "EIO"):
            with suite.case("fsync fails: the server ends by itself, with an error"):
                equal(day.server.wait_for_end(PATIENCE_SECONDS), 1, day.server.log())
        day.end_load()
        with suite.case("fsync fails: the log says what happened, once"):
            equal(len(log_lines(day.server, "error   the disk did not confirm a write")), 1,
                  day.server.log())
        with suite.case("fsync fails: everything answered is there at the next start, and rings"):
            day.check_after_restart()
    finally:
        day.end()


def no_file_descriptors(suite, binary):
    day = Day(binary, "files")
    waiting = []
    try:
        day.start()
        day.load()
        day.wait_for_answers(10)
        process = day.server.process_id()
        before = resource.prlimit(process, resource.RLIMIT_NOFILE)
        used = len(list(pathlib.Path(f"/proc/{process}/fd").iterdir()))
        other_sinks = [Sink() for _ in range(30)]
        resource.prlimit(process, resource.RLIMIT_NOFILE, (used + 2, before[1]))
        waiting = [Client(day.server.port) for _ in range(60)]
        for client in waiting:
            client.connection.connect()
        with suite.case("no descriptors: those who are connected are served"):
            day.wait_for_answers(10)
        with suite.case("no descriptors: jobs whose targets cannot be called now wait"):
            for number, sink in enumerate(other_sinks):
                name = f"target-{number}"
                status, _ = day.client.ask("PUT", day.path(name),
                                           one_time_job(name, time.time(), sink.port))
                equal(status, 201)
            day.wait_for_answers(10)
        with suite.case("no descriptors: the log says so, once"):
            wait_until(lambda: log_lines(day.server, "connections cannot be accepted")
                       and day.ready(), "a line of the log")
            equal(len(log_lines(day.server, "connections cannot be accepted")), 1)
        resource.prlimit(process, resource.RLIMIT_NOFILE, before)
        with suite.case("no descriptors: all who waited are served when there are some again"):
            for client in waiting:
                equal(client.ask("GET", "/healthz")[0], 200)
        with suite.case("no descriptors: no attempt was recorded as a failure of its target"):
            for number, sink in enumerate(other_sinks):
                name = f"target-{number}"
                holds(sink.wait_for([name]), f"{name} never rang")
                wait_until(lambda: day.state_of(name) == "completed", f"{name} to be completed")
                _, page = day.client.ask("GET",
                                         f"{day.collection}/jobs/{name}/history{VERSION}")
                equal(["status" in row["properties"] for row in page["value"]], [False], page)
        day.end_load()
        with suite.case("no descriptors: everything answered is there after a crash"):
            day.check_after_restart()
    finally:
        for client in waiting:
            client.connection.close()
        day.end()


def main():
    suite, binary = Suite(), binary_of(sys.argv)
    disk_is_full(suite, binary)
    disk_confirms_nothing(suite, binary)
    no_file_descriptors(suite, binary)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
