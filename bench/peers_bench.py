#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Belfry beside its peers, in one run: pg-boss, graphile-worker, BullMQ.

    bench/peers_bench.py BUILD_DIR [--rounds N] [--scale PART] [--only PART_OF_NAME] [--memory]

Each measurement is made of Belfry and of every peer in turn, so that whatever else the machine
does meets all of them; of several rounds the median counts. All write durably: PostgreSQL with
fsync and synchronous_commit, Redis with appendfsync always, Belfry with synchronous=FULL. All POST
to the same sink, peers with two worker processes. Prints one JSON line per measurement;
tools/bench makes a table of them. --memory also holds a million waiting jobs in each.
"""
import argparse
import contextlib
import json
import os
import pathlib
import pwd
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time

PEERS = pathlib.Path(__file__).resolve().parent / "peers"
WORKER_PROCESSES = 2
AT_A_TIME = 64  # creates under way together
STOP_SECONDS = 60
LEADS_SECONDS = (5, 20, 80)  # in which jobs are created before the first is due; tried in turn

# Targets, as ratios to a peer.
EXECUTIONS_TO_BEST = 5
LATENESS_TO_BEST = 20
HERD_TO_BEST = 8
CREATES_TO = {"bullmq": 2, "pg_boss": 12}
MEMORY_MB_MAX = 150  # with a million jobs


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def stop(process):
    process.terminate()
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def resident_mb(process):
    """Of a process and all it started; pages that they share count once (Pss)."""
    children = pathlib.Path(f"/proc/{process}/task/{process}/children").read_text().split()
    rollup = pathlib.Path(f"/proc/{process}/smaps_rollup").read_text().splitlines()
    own = next(int(line.split()[1]) for line in rollup if line.startswith("Pss:"))
    return own / 1024 + sum(resident_mb(child) for child in children)


class Postgres:
    """A cluster of its own in a temporary directory, with settings a busy server has."""
    SETTINGS = {"shared_buffers": "512MB", "max_wal_size": "4GB", "max_connections": "200",
                "fsync": "on", "synchronous_commit": "on", "full_page_writes": "on",
                "listen_addresses": "127.0.0.1", "autovacuum_naptime": "10s"}

    def __init__(self, home):
        self.binaries = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))[-1]
        self.data = home / "postgres"
        self.port = free_port()
        self.url = f"postgres://bench@127.0.0.1:{self.port}/postgres"
        # PostgreSQL does not run as root.
        self.user = pwd.getpwnam("postgres") if os.getuid() == 0 else pwd.getpwuid(os.getuid())

    def _as_user(self, *command):
        return dict(args=[str(part) for part in command], user=self.user.pw_uid,
                    group=self.user.pw_gid, extra_groups=[], cwd="/", stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def __enter__(self):
        self.data.mkdir()
        os.chown(self.data, self.user.pw_uid, self.user.pw_gid)
        subprocess.run(**self._as_user(self.binaries / "initdb", "-D", self.data, "-U", "bench",
                                       "--auth=trust", "--encoding=UTF8"), check=True)
        flags = [part for name, value in self.SETTINGS.items()
                 for part in ("-c", f"{name}={value}")]
        self.process = subprocess.Popen(**self._as_user(
            self.binaries / "postgres", "-D", self.data, "-p", self.port, "-k", "", *flags))
        wait_for_port(self.port)
        return self

    def __exit__(self, *_):
        stop(self.process)


class Redis:
    def __init__(self, home):
        self.data = home / "redis"
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}"

    def __enter__(self):
        self.data.mkdir()
        self.process = subprocess.Popen(
            ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--dir", self.data,
             "--appendonly", "yes", "--appendfsync", "always", "--save", ""],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        wait_for_port(self.port)
        return self

    def __exit__(self, *_):
        stop(self.process)


def wait_for_port(port):
    for _ in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.1)
    raise RuntimeError(f"nobody listens on port {port}")


class Sink:
    def __init__(self, build):
        self.process = subprocess.Popen([build / "bench" / "sink"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def wait_for(self, count):
        print(f"wait {count}", file=self.process.stdin, flush=True)
        seen = json.loads(self.process.stdout.readline())
        assert seen["count"] >= count, f"only {seen['count']} of {count} calls came"
        return seen

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()


class Peer:
    """A peer with a database that is new for each measurement."""

    def __init__(self, name, service, build):
        self.name, self._service, self._build = name, service, build

    def _command(self, url, *words):
        return ["node", str(PEERS / "peer.mjs"), self.name, url, *map(str, words)]

    def _run(self, url, *words):
        done = subprocess.run(self._command(url, *words), check=True, stdout=subprocess.PIPE,
                              text=True).stdout
        return json.loads(done) if done else None

    @contextlib.contextmanager
    def _database(self):
        home = pathlib.Path(tempfile.mkdtemp(prefix="belfry-peer-", dir="/var/tmp"))
        home.chmod(0o711)
        try:
            with self._service(home) as service:
                self._run(service.url, "prepare")
                yield service
        finally:
            shutil.rmtree(home, ignore_errors=True)

    @contextlib.contextmanager
    def _workers(self, url, port, how):
        workers = [subprocess.Popen(self._command(url, "work", port, how), stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, text=True)
                   for _ in range(WORKER_PROCESSES)]
        try:
            for worker in workers:
                assert "working\n" in iter(worker.stdout.readline, ""), f"{self.name} did not start"
            yield workers
        finally:
            for worker in workers:
                stop(worker)

    def executions(self, count):
        with self._database() as service, Sink(self._build) as sink:
            self._run(service.url, "bulk", count, 0, 0)
            with self._workers(service.url, sink.port, "backlog"):
                seen = sink.wait_for(count)
        return {"per_second": count / (seen["last"] - seen["first"])}

    def _timely(self, count, spread_seconds):
        for lead in LEADS_SECONDS:
            with self._database() as service, Sink(self._build) as sink, \
                    self._workers(service.url, sink.port, "timely"):
                due = time.time() + lead + count / 2000
                self._run(service.url, "bulk", count, int(1000 * due), 1000 * spread_seconds)
                if time.time() < due:
                    return sink.wait_for(count), due
        raise RuntimeError("the jobs cannot be created before they are due")

    def lateness(self, count, seconds):
        seen, _ = self._timely(count, seconds)
        return {"p50_ms": seen["late_ms_p50"], "p99_ms": seen["late_ms_p99"],
                "max_ms": seen["late_ms_max"]}

    def herd(self, count):
        seen, due = self._timely(count, 0)
        return {"last_sent_ms": 1000 * (seen["last"] - due)}

    def creates(self, count):
        with self._database() as service:
            return self._run(service.url, "create", count, AT_A_TIME)

    def memory(self, count):
        far = 1000 * 4102444800
        with self._database() as service:
            self._run(service.url, "bulk", count, far, 0)
            with self._workers(service.url, 9, "timely") as workers:
                time.sleep(5)  # they have looked once
                mb = resident_mb(service.process.pid) + resident_mb(workers[0].pid)
        return {"mb": mb}


class Belfry:
    name = "belfry"

    def __init__(self, build):
        self._build = build

    def _bench(self, only, *flags):
        done = subprocess.run([self._build / "belfry", "bench", "--json", "--only", only,
                               *map(str, flags)], check=True, stdout=subprocess.PIPE, text=True)
        return json.loads(done.stdout)

    def executions(self, count):
        return self._bench("executions", "--backlog", count)

    def lateness(self, count, seconds):
        return self._bench("lateness", "--spread", count, "--spread-seconds", seconds)

    def herd(self, count):
        return self._bench("herd", "--herd", count)

    def creates(self, count):
        return self._bench("PUT job, 64", "--requests", count)

    def memory(self, count):
        done = subprocess.run([self._build / "bench" / "many_jobs_bench", self._build / "belfry",
                               "--jobs", str(count)], check=True, stdout=subprocess.PIPE, text=True)
        return {"mb": json.loads(done.stdout.splitlines()[0])["rss_mb"]}


def rounded(value):
    return round(value) if value >= 100 else round(value, 3)


def measure(everybody, rounds, method, arguments, figures):
    """The median of each figure by name of who was measured, the order turned each round."""
    found = {one.name: [] for one in everybody}
    for number in range(rounds):
        turn = number % len(everybody)
        for one in everybody[turn:] + everybody[:turn]:
            found[one.name].append(getattr(one, method)(*arguments))
    return {name: {figure: statistics.median(row[figure] for row in rows) for figure in figures}
            for name, rows in found.items()}


def report(case, found, met, **more):
    line = {"bench": "peers", "case": case}
    for name, figures in found.items():
        line |= {f"{name}_{figure}": rounded(value) for figure, value in figures.items()}
    print(json.dumps(line | {k: rounded(v) for k, v in more.items()} | {"met": met}), flush=True)


def peers_of(found, figure):
    return [figures[figure] for name, figures in found.items() if name != "belfry"]


def judge_executions(case, found):
    ratio = found["belfry"]["per_second"] / max(peers_of(found, "per_second"))
    report(case, found, ratio >= EXECUTIONS_TO_BEST, to_best_peer=ratio, target=EXECUTIONS_TO_BEST)


def judge_lateness(case, found):
    ratio = min(peers_of(found, "p50_ms")) / found["belfry"]["p50_ms"]
    report(case, found, ratio >= LATENESS_TO_BEST, p50_to_best_peer=ratio,
           target=LATENESS_TO_BEST)


def judge_herd(case, found):
    ratio = min(peers_of(found, "last_sent_ms")) / found["belfry"]["last_sent_ms"]
    report(case, found, ratio >= HERD_TO_BEST, to_best_peer=ratio, target=HERD_TO_BEST)


def judge_creates(case, found):
    ratios = {f"to_{name}": found["belfry"]["per_second"] / found[name]["per_second"]
              for name in CREATES_TO}
    met = all(ratios[f"to_{name}"] >= target for name, target in CREATES_TO.items())
    report(case, found, met, **ratios, **{f"target_{k}": v for k, v in CREATES_TO.items()})


def judge_memory(case, found):
    report(case, found, found["belfry"]["mb"] <= MEMORY_MB_MAX, target_mb=MEMORY_MB_MAX)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=float, default=1, help="part of all sizes, for a try")
    parser.add_argument("--only", default="")
    parser.add_argument("--memory", action="store_true")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    everybody = [Belfry(build), Peer("pg_boss", Postgres, build),
                 Peer("graphile_worker", Postgres, build), Peer("bullmq", Redis, build)]

    def size(count):
        return max(int(count * arguments.scale), 100)

    jobs, spread = size(10_000), max(int(20 * arguments.scale), 2)
    cases = [
        (f"executions of a backlog of {size(50_000)}", "executions", [size(50_000)],
         ["per_second"], judge_executions),
        (f"lateness of {jobs} over {spread} s", "lateness", [jobs, spread], ["p50_ms", "p99_ms"],
         judge_lateness),
        (f"herd of {jobs}", "herd", [jobs], ["last_sent_ms"], judge_herd),
        (f"durable creates, {AT_A_TIME} at a time", "creates", [size(20_000)], ["per_second"],
         judge_creates),
    ]
    if arguments.memory:
        cases.append((f"memory with {size(1_000_000)} waiting jobs", "memory", [size(1_000_000)],
                      ["mb"], judge_memory))
    for case, method, sizes, figures, judge in cases:
        if arguments.only in case:
            judge(case, measure(everybody, arguments.rounds, method, sizes, figures))
    return 0


if __name__ == "__main__":
    sys.exit(main())
