#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""/metrics as Prometheus reads it: what is counted, who may see it, the alerts, and that every
query of the dashboard finds what it asks for in a real Prometheus.

    metrics.py PATH_OF_BELFRY
"""
import contextlib
import json
import pathlib
import re
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import targets
from principals import Owner, scope_of
from rest import Client, Group, collection_body, http_action
from server import Server
from suite import Suite, binary_of, equal, holds

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALERTS = ROOT / "packaging" / "prometheus" / "alerts.yml"
DASHBOARD = ROOT / "packaging" / "grafana" / "belfry.json"
ALERTS_TEST = pathlib.Path(__file__).with_name("alerts_test.yml")
NOW = "2030-01-01T00:00:00Z"
NOT_EVERYWHERE = {"belfry_clock_synchronised"}  # a kernel may refuse to say
PATIENCE_SECONDS = 60
SAMPLE = re.compile(r'^([a-z_]+)(?:\{([^}]*)\})? (\S+)$', re.M)
OURS = re.compile(r"\b(?:belfry|process)_[a-z_]+")


def scrape(client):
    return client.get("/metrics", query=None)


def samples(text):
    """{'name' or 'name{label="value"}': number}"""
    return {name + (f"{{{labels}}}" if labels else ""): float(value)
            for name, labels, value in SAMPLE.findall(text)}


def promtool(*arguments, given=""):
    return subprocess.run(["promtool", *arguments], input=given, text=True, capture_output=True)


class Bench:
    """A server whose clock stands at NOW; its jobs call a sink."""

    def __init__(self, server):
        self.client = Client(server.port)
        self.group = Group()
        self.sink = targets.Sink()
        self.sink.statuses["/bad"] = 500
        equal(self.client.put(self.group.collection(), collection_body("P20Premium")).status, 201)

    def put(self, name, path, retry=None, **properties):
        action = http_action(uri=self.sink.url(path), method="GET")
        if retry:
            action["retryPolicy"] = retry
        answer = self.client.put(self.group.job(name),
                                 {"properties": {"action": action, **properties}})
        holds(answer.status in (200, 201), answer)

    def move(self, **how):
        equal(self.client.request("POST", "/clock", how).status, 200)


def what_is_counted(suite, server):
    bench = Bench(server)
    minutely = {"frequency": "Minute", "interval": 1}
    bench.put("good", "/good", recurrence=minutely | {"count": 3})
    bench.put("bad", "/bad", retry={"retryType": "Fixed", "retryInterval": "PT30S",
                                    "retryCount": 1}, startTime="2030-01-01T00:10:00Z")
    # Tried for 5 minutes: four occurrences pass meanwhile, and the one at the end waits its turn.
    bench.put("slow", "/bad", retry={"retryType": "Fixed", "retryInterval": "PT4M30S",
                                     "retryCount": 1},
              startTime="2030-01-01T01:00:00Z", recurrence=minutely | {"count": 2})
    bench.put("asleep", "/good", state="Disabled", recurrence=minutely)
    bench.put("ahead", "/good", startTime="2031-01-01T00:00:00Z")
    bench.move(to="2030-01-01T03:00:00Z")
    answer = scrape(bench.client)
    seen = samples(answer.body.decode())

    with suite.case("jobs are counted by their state"):
        equal([seen[f'belfry_jobs{{state="{state}"}}']
               for state in ("enabled", "disabled", "completed", "faulted")], [1, 1, 1, 2])
    with suite.case("occurrences are counted by what became of them"):
        equal(seen['belfry_occurrences_total{outcome="completed"}'], 3)
        equal(seen['belfry_occurrences_total{outcome="failed"}'], 3)
        holds(seen['belfry_missed_occurrences_total{reason="overlap"}'] > 0, seen)
        equal(seen['belfry_missed_occurrences_total{reason="not_started"}'], 0)
    with suite.case("attempts, retries and how late they were are counted"):
        equal(seen['belfry_attempts_total{result="completed"}'], 3)
        equal(seen['belfry_attempts_total{result="failed"}'], 6)
        equal(seen["belfry_retries_total"], 3)
        equal(seen["belfry_start_lateness_seconds_count"], 6)
        equal(seen["belfry_attempt_duration_seconds_count"], 9)
        equal(seen["belfry_attempts_in_flight"], 0)
        equal(seen["belfry_overdue_seconds"], 0)
    with suite.case("commits, steps, the store's size and requests are counted"):
        for name in ("belfry_commit_duration_seconds_count", "belfry_engine_steps_total",
                     'belfry_store_bytes{file="database"}', "belfry_store_usable",
                     "belfry_clock_trusted", 'belfry_http_requests_total{code="2xx"}',
                     "process_resident_memory_bytes", "process_cpu_seconds_total",
                     "process_start_time_seconds", "process_open_fds"):
            holds(seen[name] > 0, name)
    with suite.case("what the server refuses by itself is counted too"):
        before = seen['belfry_http_requests_total{code="4xx"}']
        equal(bench.client.get("/" + "x" * 9000).status, 414)
        after = samples(scrape(Client(server.port)).body.decode())
        equal(after['belfry_http_requests_total{code="4xx"}'], before + 1)
    with suite.case("the page says what it is, and promtool finds no fault with it"):
        equal(answer.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
        checked = promtool("check", "metrics", given=answer.body.decode())
        equal((checked.returncode, checked.stdout + checked.stderr), (0, ""))
    with suite.case("it is read, not written to"):
        refused = bench.client.post("/metrics", query=None)
        equal((refused.status, refused.headers["Allow"]), (405, "GET, HEAD"))


def of_job(family, name):
    name = rf'belfry_job_{family}_timestamp_seconds\{{[^}}]*job="{name}"\}}'
    return re.compile(rf"^{name} (\S+)$", re.M)


def last_success(suite, server):
    bench = Bench(server)
    for name, path, more in (("good", "/good", {"metrics": True}), ("plain", "/good", {}),
                             ("in-vain", "/bad", {"metrics": True})):
        bench.put(name, path, retry={"retryType": "None"}, startTime="2030-01-01T00:20:00Z", **more)
    bench.move(to="2030-01-01T01:00:00Z")
    page = scrape(bench.client).body.decode()
    with suite.case("a job that asks for it has the time of its last success in the metrics"):
        equal([float(at) for at in of_job("last_success", "good").findall(page)], [1893457200.0])
        equal(of_job("last_success", "in-vain").findall(page), [])
        equal([float(at) for at in of_job("defined", "in-vain").findall(page)], [1893456000.0])
        holds('job="plain"' not in page, page)
    with suite.case("it is there after a restart"):
        server.stop()
        server.start()
        bench.client = Client(server.port)
        page = scrape(bench.client).body.decode()
        equal([float(at) for at in of_job("last_success", "good").findall(page)], [1893457200.0])
    job = bench.group.job("good")
    with suite.case("clients that drop the member keep it, and null takes it away"):
        known = bench.client.get(job).properties
        equal(known.pop("metrics"), True)
        put = bench.client.put(job, {"properties": {"action": known["action"],
                                                    "startTime": "2031-01-01T00:00:00Z"}})
        equal((put.status, put.properties["metrics"]), (200, True))
        patched = bench.client.patch(job, {"properties": {"metrics": None}})
        holds("metrics" not in patched.properties, patched)
        holds('job="good"' not in scrape(bench.client).body.decode(), "it is still counted")
        equal(bench.client.get(bench.group.job("plain")).properties.get("metrics"), None)
    with suite.case("it must be true or false"):
        wrong = bench.client.patch(job, {"properties": {"metrics": "yes"}})
        equal(wrong.status, 400)
        holds("properties.metrics" in wrong.error["message"], wrong)
    with suite.case("a thousand jobs of a store may ask for it, and no more"):
        server.stop()
        with contextlib.closing(sqlite3.connect(server.store / "belfry.db")) as db, db:
            db.executemany("INSERT INTO counted(job) VALUES (?)", [(-n,) for n in range(1, 1000)])
        server.start()
        client = Client(server.port)
        bench.client = client
        bench.put("in-vain", "/bad", startTime="2031-01-01T00:00:00Z", metrics=True)
        refused = client.patch(job, {"properties": {"metrics": True}})
        equal(refused.status, 400)
        holds("properties.metrics" in refused.error["message"] and
              "1000" in refused.error["message"], refused)


def who_may_read(suite, owner, server):
    with suite.case("/metrics needs a credential, and the role Reader over everything"):
        equal(scrape(Client(server.port)).status, 401)
        equal(scrape(owner.caller(("Reader", scope_of()))).status, 200)
        for role in ("Reader", "Owner"):
            refused = scrape(owner.caller((role, scope_of("sub"))))
            equal((refused.status, refused.error["code"]), (403, "AuthorizationFailed"))


def rules(suite):
    with suite.case("promtool accepts the alerts"):
        checked = promtool("check", "rules", str(ALERTS))
        equal(checked.returncode, 0, checked.stdout + checked.stderr)
    with suite.case("every alert is raised by what it is for, and none by a server that is well"):
        with tempfile.NamedTemporaryFile("w", suffix=".yml") as file:
            file.write(ALERTS_TEST.read_text().replace("@RULES@", str(ALERTS)))
            file.flush()
            checked = promtool("test", "rules", file.name)
            equal(checked.returncode, 0, checked.stdout + checked.stderr)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


class Prometheus:
    """Debian's own, that scrapes one server with a token, every second."""

    def __init__(self, home, server, token):
        self.port = free_port()
        (home / "token").write_text(token)
        (home / "prometheus.yml").write_text(json.dumps({  # YAML is a superset
            "rule_files": [str(ALERTS)],
            "scrape_configs": [{
                "job_name": "belfry", "scrape_interval": "1s",
                "authorization": {"credentials_file": str(home / "token")},
                "static_configs": [{"targets": [f"127.0.0.1:{server.port}"]}]}]}))
        self.log = (home / "log").open("wb")
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={home / 'prometheus.yml'}",
             f"--storage.tsdb.path={home / 'data'}", f"--web.listen-address=127.0.0.1:{self.port}"],
            stdout=self.log, stderr=self.log, stdin=subprocess.DEVNULL)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def ask(self, path, **parameters):
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE_SECONDS) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            if error.code == 503:  # it has only just begun
                raise
            return json.load(error)

    def query(self, text):
        answer = self.ask("query", query=text)
        equal(answer["status"], "success", f"{text}: {answer}")
        return answer["data"]["result"]

    def wait_for(self, text):
        """Until a query finds something: the first scrape takes a moment."""
        until = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                if self.query(text):
                    return
            except OSError:  # it is not there yet
                pass
            holds(time.monotonic() < until, f"gave up waiting for {text}")
            self.process.poll()
            holds(self.process.returncode is None, "Prometheus ended")


def count_a_job(client):
    """One that succeeds at once, so that the page has all there is."""
    group, sink = Group(), targets.Sink()
    equal(client.put(group.collection(), collection_body()).status, 201)
    equal(client.put(group.job(), {"properties": {
        "metrics": True, "action": http_action(uri=sink.url("/"))}}).status, 201)
    until = time.monotonic() + PATIENCE_SECONDS
    while b"belfry_job_last_success_timestamp_seconds{" not in scrape(client).body:
        holds(time.monotonic() < until, "the job has not succeeded")


def dashboard_queries():
    board = json.loads(DASHBOARD.read_text())
    found = [target["expr"] for panel in board["panels"] for target in panel["targets"]]
    found += [annotation["expr"] for annotation in board["annotations"]["list"]]
    holds(len(found) > 20, found)
    return [query.replace("$__rate_interval", "1m").replace("$instance", ".*") for query in found]


def dashboard(suite, owner, server):
    token = owner.token(("Reader", scope_of()), name="prometheus")["token"]
    page = scrape(owner.client).body.decode()
    names = {name for name, _, _ in SAMPLE.findall(page)}
    with suite.case("what the dashboard and the alerts ask for is on the page"):
        asked = OURS.findall(" ".join(dashboard_queries()) + ALERTS.read_text())
        equal(sorted(set(asked) - names - NOT_EVERYWHERE), [])
    with suite.case("what is on the page is on the dashboard"):
        families = set(re.findall(r"^# TYPE (\S+)", page, re.M))
        shown = " ".join(dashboard_queries()) + DASHBOARD.read_text()
        unseen = {family for family in families if not re.search(rf"\b{family}(_|\b)", shown)}
        equal(unseen - NOT_EVERYWHERE, {"process_virtual_memory_bytes"})
    with tempfile.TemporaryDirectory(prefix="belfry-prometheus-") as home:
        with Prometheus(pathlib.Path(home), server, token) as prometheus:
            prometheus.wait_for("belfry_build_info")
            with suite.case("a real Prometheus scrapes the server with a token"):
                equal([sample["value"][1] for sample in prometheus.query('up{job="belfry"}')],
                      ["1"])
            with suite.case("every sample of the page is in Prometheus"):
                stored = prometheus.ask("label/__name__/values")["data"]
                equal(sorted(names - set(stored)), [])
            with suite.case("every query of the dashboard is answered without an error"):
                for query in dashboard_queries():
                    prometheus.query(query)
            with suite.case("every rule is evaluated without an error"):
                groups = prometheus.ask("rules")["data"]["groups"]
                faults = [rule for group in groups for rule in group["rules"]
                          if rule["health"] == "err"]
                holds(groups and not faults, faults)


def main():
    binary = binary_of(sys.argv)
    suite = Suite()
    with Server(binary, "--virtual-clock", NOW) as server:
        what_is_counted(suite, server)
    with Server(binary, "--virtual-clock", NOW) as server:
        last_success(suite, server)
    rules(suite)
    with Server(binary, "--auth", "token", "--allow-targets", "127.0.0.1") as server:
        owner = Owner(server)
        count_a_job(owner.client)
        who_may_read(suite, owner, server)
        dashboard(suite, owner, server)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
