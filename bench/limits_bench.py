#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What others notice of clients that ask too much, or too slowly.

    bench/limits_bench.py BUILD_DIR [--only CASE] [--rounds N]

Prints one JSON line per measurement: the latency of a healthy client beside 2,000 slow
connections; the latency of one tenant while another asks ten times as often as it may, and the
server's memory. The same without the other is measured in turn with it, while the same load is
made for another server (the sink): what the load itself takes from the cores that all share is
in both figures. Two floods are shown beside it, for which nothing is promised.
"""
import argparse
import contextlib
import json
import multiprocessing
import os
import pathlib
import re
import selectors
import socket
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
from principals import Owner, scope_of  # noqa: E402
from raw_http import RawConnection  # noqa: E402
from rest import VERSION, Group, collection_body, job_body  # noqa: E402
from server import Server  # noqa: E402

SLOW_CONNECTIONS = 2_000
SLOW_SECONDS = 20
RATE = 100             # reads and writes a second of each tenant, in the overload
OVERLOAD_TIMES = 10
CONNECTIONS = 64       # of the tenant that asks too much
FLOOD_CONNECTIONS = 400
OVERLOAD_ROUNDS = 15   # the p99 of a round is that of 640 requests: with five it was chance
FLOOD_ROUNDS = 5
ROUND_SECONDS = 8
SETTLE_SECONDS = 2
PACE = 80              # requests a second of the tenant that is measured: within its rate
QUANTILE_MAX_MS = 100  # beside slow connections
LATENCY_GROWTH_MAX = 1.10
CACHE_WRITES = 80_000  # more than fill it
CACHE_SECONDS_MAX = 60
CASES = ["slow", "overload", "flood", "reconnecting"]
MEMORY_GROWTH_MAX = 1.10


def report(case, **figures):
    print(json.dumps({"bench": "limits", "case": case, **figures}), flush=True)


def rss_mb(server):
    status = pathlib.Path(f"/proc/{server.process_id()}/status").read_text()
    return round(int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024, 1)


def open_files(server):
    return len(os.listdir(f"/proc/{server.process_id()}/fd"))


def quantile(times, part):
    return sorted(times)[min(len(times) - 1, int(len(times) * part))]


def paced(port, requests, per_second, seconds):
    """Milliseconds that each answer took, and the statuses that were seen."""
    connection = RawConnection(port)
    times, statuses = [], set()
    begin = time.perf_counter()
    for number in range(int(per_second * seconds)):
        due = begin + number / per_second
        time.sleep(max(0.0, due - time.perf_counter()))
        asked = time.perf_counter()
        statuses.add(connection.ask(requests[number % len(requests)]).status)
        times.append((time.perf_counter() - asked) * 1000)
    connection.close()
    return times, statuses


def drip(port, count, ended):
    """Clients that are silent, send their head, or send their body a byte at a time."""
    os.nice(19)
    parts = (b"", b"GET /subscriptions/s/",
             b"PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 9999\r\n\r\n")
    selector = selectors.DefaultSelector()

    def connect(part):
        one = socket.create_connection(("127.0.0.1", port))
        one.setblocking(False)
        one.send(part)
        selector.register(one, selectors.EVENT_READ, part)

    for number in range(count):
        connect(parts[number % 3])
    while not ended.is_set():
        gone = selector.select(timeout=1.0)
        for key, _ in gone:  # it was answered or closed: another one comes
            selector.unregister(key.fileobj)
            key.fileobj.close()
            connect(key.data)
        for key in list(selector.get_map().values()):
            if key.data:
                with contextlib.suppress(OSError):
                    key.fileobj.send(b"x")


def measure_slow_connections(build):
    with Server(build / "belfry", log_level="warning") as server:
        request = b"GET /subscriptions/s/providers/Microsoft.Scheduler/jobCollections" \
            b"?api-version=2016-03-01 HTTP/1.1\r\nHost: localhost\r\n\r\n"
        alone, _ = paced(server.port, [request], 100, 5)
        ended = multiprocessing.Event()
        # Some more: at any time a few have been closed for their slowness and are coming back.
        clients = SLOW_CONNECTIONS + SLOW_CONNECTIONS // 20
        slow = multiprocessing.Process(target=drip, args=(server.port, clients, ended))
        slow.start()
        while open_files(server) < SLOW_CONNECTIONS:
            time.sleep(0.05)
        times, statuses = paced(server.port, [request], 100, SLOW_SECONDS)
        connections = open_files(server)
        memory = rss_mb(server)
        ended.set()
        slow.join()
    report(f"a healthy client beside {SLOW_CONNECTIONS} slow connections",
           p50_ms=round(quantile(times, 0.5), 2), p99_ms=round(quantile(times, 0.99), 2),
           alone_p99_ms=round(quantile(alone, 0.99), 2), open_files=connections, rss_mb=memory,
           met=quantile(times, 0.99) < QUANTILE_MAX_MS and statuses == {200}
           and connections >= SLOW_CONNECTIONS)


class Tenant:
    """A subscription with a job, and somebody who may write there and nowhere else."""

    def __init__(self, owner, name):
        self.group = Group(name)
        self.token = owner.token(("Contributor", scope_of(name)), name=name)["token"]
        owner.client.put(self.group.collection(), collection_body("P20Premium"))
        owner.client.put(self.group.job(), job_body())

    def head(self, method):
        return (f"{method} {self.group.job()}?api-version={VERSION} HTTP/1.1\r\nHost: a\r\n"
                f"Authorization: Bearer {self.token}\r\n")

    def read(self):
        return (self.head("GET") + "\r\n").encode()

    def write(self):
        body = json.dumps(job_body())
        return f"{self.head('PUT')}Content-Length: {len(body)}\r\n\r\n{body}".encode()


class Crowd:
    """Somebody who asks at a rate of their own, whatever the answer (bench/open_loop.cpp); a rate
    of 0: on as many connections, each time as soon as they are answered."""

    def __init__(self, build, port, requests, per_second, connections):
        self.began = time.perf_counter()
        self.process = subprocess.Popen(
            [build / "bench" / "open_loop", str(port), str(per_second), str(connections)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for request in requests:
            self.process.stdin.write(b"%d\n%s" % (len(request), request))
        self.process.stdin.close()

    def end(self):
        """A second of it: what was offered, sent and answered."""
        seconds = time.perf_counter() - self.began
        self.process.terminate()
        counts = json.loads(self.process.stdout.read())
        self.process.wait()
        counts["answered"] = {k: round(v / seconds) for k, v in counts["answered"].items()}
        return {k: v if k == "answered" else round(v / seconds) for k, v in counts.items()}


class Idle:
    """The machine as busy with somebody who asks, but of another server: what the load itself
    takes from two cores is in the figures that the server is compared with."""

    def __init__(self, build):
        self.sink = subprocess.Popen([build / "bench" / "sink"], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True)
        self.port = int(self.sink.stdout.readline())

    def end(self):
        self.sink.communicate()


class Overload:
    """Rounds of one tenant's requests, in turn without and beside another's."""

    def __init__(self, build, server, tenant, rounds):
        self.build, self.server, self.rounds = build, server, rounds
        self.kinds = {"reads": tenant.read(), "writes": tenant.write()}
        self.alone = {kind: [] for kind in self.kinds}
        self.beside = {kind: [] for kind in self.kinds}
        self.memory, self.crowds = [], []

    def _measure(self, into):
        for kind, request in self.kinds.items():
            times, statuses = paced(self.server.port, [request], PACE, ROUND_SECONDS)
            assert statuses == {200}, statuses
            into[kind].append(times)

    def run(self, requests, per_second, connections, idle_per_second):
        idle = Idle(self.build)
        for _ in range(self.rounds):
            for port, rate, into in ((idle.port, idle_per_second, self.alone),
                                     (self.server.port, per_second, self.beside)):
                crowd = Crowd(self.build, port, requests, rate, connections)
                time.sleep(SETTLE_SECONDS)
                self._measure(into)
                counts = crowd.end()
                if into is self.beside:
                    self.crowds.append(counts)
                    self.memory.append(rss_mb(self.server))
        idle.end()

    def offered(self):
        """The round in the middle."""
        return sorted(self.crowds, key=lambda crowd: crowd["offered"])[len(self.crowds) // 2]

    def report(self, what, promised):
        """`promised`: whether the offered load is one that nobody else may notice."""
        for kind in self.kinds:
            figures = [statistics.median(quantile(times, part) for times in rounds)
                       for rounds in (self.alone[kind], self.beside[kind]) for part in (0.5, 0.99)]
            growth = figures[3] / figures[1]
            crowd = self.offered()
            verdict = {} if promised is None else {"met": growth <= LATENCY_GROWTH_MAX and promised}
            report(f"a tenant's {kind} beside {what}", offered_per_second=crowd["offered"],
                   answered_per_second=crowd["answered"], connects_per_second=crowd["connects"],
                   alone_p50_ms=round(figures[0], 2), alone_p99_ms=round(figures[1], 2),
                   p50_ms=round(figures[2], 2), p99_ms=round(figures[3], 2),
                   p99_ratio=round(growth, 2), **verdict)
        report(f"memory beside {what}", first_mb=self.memory[0], last_mb=self.memory[-1],
               all_mb=self.memory, met=self.memory[-1] <= MEMORY_GROWTH_MAX * self.memory[0])


def overload_flags():
    flags = ["--auth", "token"]
    for of in ("credential", "subscription"):
        flags += [f"--limit-{of}-reads", str(RATE), f"--limit-{of}-writes", str(RATE)]
    return flags


def fill_cache(build, server, owner):
    """The store keeps the pages that it wrote last, so many and no more: they are filled first,
    and what grows after that is something else."""
    tenants = [Tenant(owner, f"early{number}") for number in range(CACHE_WRITES // (10 * RATE))]
    crowd = Crowd(build, server.port, [tenant.write() for tenant in tenants], 0, CONNECTIONS)
    before, now = 0, rss_mb(server)
    until = time.perf_counter() + CACHE_SECONDS_MAX
    while now > 1.01 * before and time.perf_counter() < until:
        time.sleep(3)
        before, now = now, rss_mb(server)
    crowd.end()


def measure_overload(build, cases, rounds):
    with Server(build / "belfry", *overload_flags(), log_level="warning") as server:
        owner = Owner(server)
        greedy, modest = Tenant(owner, "greedy"), Tenant(owner, "modest")
        requests = [greedy.read(), greedy.write()]
        fill_cache(build, server, owner)
        rate = OVERLOAD_TIMES * 2 * RATE
        if "overload" in cases:
            overload = Overload(build, server, modest, rounds)
            overload.run(requests, rate, CONNECTIONS, rate)
            promised = overload.offered()["offered"] >= 0.99 * rate
            overload.report(f"another who asks {OVERLOAD_TIMES} times as often as it may", promised)
        if "flood" in cases:
            flood = Overload(build, server, modest, FLOOD_ROUNDS)
            flood.run(requests, 0, FLOOD_CONNECTIONS, rate)
            flood.report(f"{FLOOD_CONNECTIONS} connections that ask on as they are answered", None)
        if "reconnecting" in cases:
            # Without a Host: each is answered 400, and its connection closed.
            malformed = [request.replace(b"Host: a\r\n", b"") for request in requests]
            flood = Overload(build, server, modest, FLOOD_ROUNDS)
            flood.run(malformed, 0, FLOOD_CONNECTIONS, rate)
            flood.report(f"{FLOOD_CONNECTIONS} malformed requests at a time, each on a connection "
                         "of its own", None)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", choices=CASES, action="append")
    parser.add_argument("--rounds", type=int, default=OVERLOAD_ROUNDS, help="of the overload")
    arguments = parser.parse_args()
    build, cases = arguments.build.resolve(), arguments.only or CASES
    if "slow" in cases:
        measure_slow_connections(build)
    if cases != ["slow"]:
        measure_overload(build, cases, arguments.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
