#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The audit log: a row for every kind of change and for nothing else, written with the change,
and a log that somebody tampered with is found out.

    audit.py PATH_OF_BELFRY
"""
import contextlib
import http.client
import sqlite3
import subprocess
import sys
import threading

from principals import Owner, scope_of
from rest import Client, Group, collection_body, http_action, job_body
from server import Server
from suite import Suite, binary_of, equal, holds

NOW = "2030-01-01T00:00:00Z"
CANARY = "canary-password"
SCHEDULER = "Microsoft.Scheduler/jobCollections"


def secret_action(user="u"):
    return http_action(authentication={"type": "Basic", "username": user, "password": CANARY})


class Log:
    def __init__(self, client):
        self.client = client

    def rows(self, **more):
        return self.client.get("/belfry/audit", query=None, **more).json["value"]

    @contextlib.contextmanager
    def new_rows(self):
        """The rows that come in meanwhile, the oldest first."""
        found = []
        last = self.last()
        yield found
        found.extend(reversed([row for row in self.rows() if row["number"] > last]))

    def last(self):
        rows = self.rows()
        return rows[0]["number"] if rows else 0


class Changes:
    """Every kind of change, made by somebody with a name."""

    def __init__(self, suite, server):
        self.suite = suite
        self.server = server
        self.owner = owner = Owner(server)
        made = owner.token(("Contributor", scope_of("s")), name="ann")
        self.ann = Client(owner.port, made["token"])
        self.id = made["id"]
        self.log = Log(owner.client)
        self.group = Group("s", "g")

    def expect(self, what, request, operation, resource, result, hashes):
        """`hashes`: whether there is one of before, and of after."""
        with self.suite.case(f"a row tells of it: {what}"):
            with self.log.new_rows() as rows:
                answer = request()
                holds(answer.status < 300, answer)
            equal(len(rows), 1, rows)
            row = rows[0]
            equal((row["operation"], row["resource"], row["result"]),
                  (operation, resource, result))
            equal(("before" in row, "after" in row), hashes)
            equal((row["time"], row["address"]), (NOW, "127.0.0.1"))
            equal(row["principal"], {"kind": "token", "name": "ann", "id": self.id})
            return row

    def of_collections(self):
        path, ann = self.group.collection(), self.ann
        made = self.expect("PUT makes a collection", lambda: ann.put(path, collection_body()),
                           f"{SCHEDULER}/write", path, "created", (False, True))
        put = self.expect("PUT changes it", lambda: ann.put(path, collection_body(
            tags={"a": "b"})), f"{SCHEDULER}/write", path, "updated", (True, True))
        self.expect("PATCH", lambda: ann.patch(path, {"tags": {"c": "d"}}),
                    f"{SCHEDULER}/write", path, "updated", (True, True))
        disabled = self.expect("disable", lambda: ann.post(path + "/disable"),
                               f"{SCHEDULER}/state/write", path, "updated", (True, True))
        enabled = self.expect("enable", lambda: ann.post(path + "/enable"),
                              f"{SCHEDULER}/state/write", path, "updated", (True, True))
        self.expect("PATCH of the state", lambda: ann.patch(path, {"properties": {
            "state": "Enabled"}}), f"{SCHEDULER}/state/write", path, "updated", (True, True))
        with self.suite.case("what was after one change is before the next"):
            equal(made["after"], put["before"])
            holds(made["after"] != put["after"], "another definition, another hash")
            equal((disabled["before"], disabled["after"]), (enabled["after"], enabled["before"]))

    def of_jobs(self):
        path, ann = self.group.job(), self.ann
        jobs = f"{SCHEDULER}/jobs"
        made = self.expect("PUT makes a job", lambda: ann.put(path, job_body(secret_action())),
                           f"{jobs}/write", path, "created", (False, True))
        resting = job_body(secret_action("v"))
        resting["properties"]["state"] = "Disabled"
        rests = self.expect("PUT replaces it by one that rests", lambda: ann.put(path, resting),
                            f"{jobs}/write", path, "updated", (True, True))
        put = self.expect("PUT replaces it", lambda: ann.put(path, job_body(secret_action("v"))),
                          f"{jobs}/write", path, "updated", (True, True))
        patched = self.expect("PATCH", lambda: ann.patch(path, {"properties": {"recurrence": {
            "frequency": "Day"}}}), f"{jobs}/write", path, "updated", (True, True))
        with self.suite.case("what was after one change of a job is before the next"):
            equal([rests["before"], put["before"], patched["before"]],
                  [made["after"], rests["after"], put["after"]])
            equal(len({made["after"], rests["after"], put["after"], patched["after"]}), 4)
        self.expect("run", lambda: ann.post(path + "/run"), f"{jobs}/run/action", path, "started",
                    (True, True))
        off = self.expect("PATCH of the state", lambda: ann.patch(path, {"properties": {
            "state": "Disabled"}}), f"{jobs}/state/write", path, "updated", (True, True))
        with self.suite.case("the state is part of the hash"):
            holds(off["before"] != off["after"], off)
        self.expect("DELETE of a job", lambda: ann.delete(path), f"{jobs}/delete", path,
                    "deleted", (True, False))
        self.expect("DELETE of a collection", lambda: ann.delete(self.group.collection()),
                    f"{SCHEDULER}/delete", self.group.collection(), "deleted", (True, False))

    def of_tokens(self):
        with self.suite.case("tokens that are made and revoked are told of"):
            with self.log.new_rows() as rows:
                made = self.owner.token(("Reader", scope_of("s")), name="bob")
                equal(self.owner.revoke(made["id"]).status, 200)
            equal([(row["operation"], row["result"]) for row in rows],
                  [("Belfry/tokens/write", "created"), ("Belfry/tokens/write", "deleted")])
            equal({row["resource"] for row in rows}, {f"/belfry/tokens/{made['id']}"})
            equal({row["principal"]["name"] for row in rows}, {"first owner"})

    def of_nothing(self):
        group = Group("s", "g")
        reader = self.owner.caller(("Reader", scope_of("s")), name="reader")
        self.ann.put(group.collection(), collection_body())
        self.ann.put(group.job(), job_body())
        requests = {
            "reading": lambda: reader.get(group.job()),
            "what is forbidden": lambda: reader.delete(group.job()),
            "what is malformed": lambda: self.ann.put(group.job(), {"properties": {}}),
            "DELETE of nothing": lambda: self.ann.delete(group.job("nothing")),
            "a conflict": lambda: self.ann.put(group.collection(), collection_body(
                location="Elsewhere")),
            "what one may not see": lambda: self.ann.delete(Group("other").collection()),
            "a preflight": lambda: self.ann.post(group.job() + "/preflight"),
        }
        for name, request in requests.items():
            with self.suite.case(f"what changes nothing has no row: {name}"):
                with self.log.new_rows() as rows:
                    request()
                equal(rows, [])

    def of_refusals(self):
        path = self.group.collection()
        with self.suite.case("who is not let in has a row a minute, whatever they try"):
            with self.log.new_rows() as rows:
                for token in ("belfry_0000", None, "ey.JhbGciOi.J9", "belfry_1111"):
                    equal(Client(self.owner.port, token).delete(path).status, 401)
                equal(self.ann.patch(path, {"tags": {}}).status, 200)
            equal([row["result"] for row in rows], ["refused", "updated"])
            refused = {name: rows[0][name] for name in ("principal", "address", "operation")}
            equal(refused, {"principal": {"kind": "unknown", "name": "unknown_token"},
                            "address": "127.0.0.1", "operation": "Belfry/authenticate/action"})
        with self.suite.case("a token that was revoked is named, to who may read everything"):
            made = self.owner.token(("Owner", scope_of("s")), name="eve")
            self.owner.revoke(made["id"])
            equal(self.owner.client.request("POST", "/clock", {"advance": "PT1M"}).status, 200)
            with self.log.new_rows() as rows:
                equal(Client(self.owner.port, made["token"]).get(path).status, 401)
                equal(self.ann.patch(path, {"tags": {}}).status, 200)
            equal((rows[0]["result"], rows[0]["principal"]),
                  ("refused", {"kind": "token", "name": "eve", "id": made["id"]}))
            holds("refused" not in str(Log(self.ann).rows()), "told to a Contributor")
        with self.suite.case("the log names the address once a second and reason"):
            log = self.server.log()
            equal(log.count('authentication failed reason="unknown_token" address="127.0.0.1"'), 1)
            equal(log.count('authentication failed reason="revoked_token"'), 1)

    def reading(self):
        with self.suite.case("the log is paged, and filtered by scope"):
            numbers = [row["number"] for row in self.log.rows()]
            equal(numbers, list(range(numbers[0], 0, -1)))
            page = self.owner.client.get("/belfry/audit", query="$top=2").json
            equal([row["number"] for row in page["value"]], numbers[:2])
            query = page["nextLink"].split("?", 1)[1]
            older = self.owner.client.get("/belfry/audit", query=query).json["value"]
            equal(older[0]["number"], numbers[2])
            scoped = self.owner.client.get(
                "/belfry/audit", query="$filter=scope%20eq%20'/subscriptions/S/resourceGroups/G'")
            resources = [row["resource"] for row in scoped.json["value"]]
            holds(resources and all(self.group.collections() in one for one in resources),
                  resources)
        with self.suite.case("a filter that means nothing: 400"):
            for query in ("$filter=who%20eq%20ann", "$filter=scope%20eq%20x", "$skiptoken=x",
                          "$top=0"):
                equal(self.owner.client.get("/belfry/audit", query=query).status, 400, query)
        with self.suite.case("no secret is in it"):
            holds(CANARY not in str(self.log.rows()), "a password")


def verify(binary, store, *more):
    done = subprocess.run([binary, "audit", "verify", "--store", store, *more],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.strip().splitlines()


def tampering(suite, binary, server):
    """On a copy of the log's rows, each put back before the next."""
    database = sqlite3.connect(server.store / "belfry.db", isolation_level=None)
    rows = database.execute("SELECT count(*) FROM audit").fetchone()[0]
    code, lines = verify(binary, server.store)
    mark = lines[1].removeprefix("Last row: ")
    with suite.case("a sound log is said to be sound, while the server runs"):
        equal(code, 0, lines)
        equal(lines[0], f"The audit log of {server.store} is sound: {rows} rows.")
        equal(mark.split(":")[0], str(rows))
        equal(verify(binary, server.store, "--expect", mark)[0], 0)
    server.stop()
    changes = {
        "UPDATE audit SET principal = 'eve' WHERE number = 5":
            "row 5 was altered, or the one before it and its hash",
        "UPDATE audit SET at = at + 1 WHERE number = 1":
            "row 1 was altered, or the one before it and its hash",
        "DELETE FROM audit WHERE number = 7": "row 7 is missing",
        "DELETE FROM audit WHERE number BETWEEN 3 AND 5": "rows 3 to 5 are missing",
        f"DELETE FROM audit WHERE number = {rows}": f"row {rows} is missing",
    }
    for change, finding in changes.items():
        with suite.case(f"it is found out: {change}"):
            database.execute("CREATE TEMP TABLE kept AS SELECT * FROM audit")
            database.execute(change)
            equal(verify(binary, server.store), (1, [finding]))
            database.execute("DELETE FROM audit")
            database.execute("INSERT INTO audit SELECT * FROM kept")
            database.execute("DROP TABLE kept")
            equal(verify(binary, server.store)[0], 0)
    with suite.case("a log that was cut and sealed anew is found by what was written down"):
        database.execute(f"DELETE FROM audit WHERE number = {rows}")
        database.execute("UPDATE audit_head SET (number, hash) = "
                         "(SELECT number, hash FROM audit ORDER BY number DESC LIMIT 1)")
        equal(verify(binary, server.store)[0], 0)
        equal(verify(binary, server.store, "--expect", mark), (1, [f"row {rows} is missing"]))
    database.close()
    with suite.case("no secret is in the store's file beside its seal"):
        holds(CANARY.encode() not in (server.store / "belfry.db").read_bytes(), "a password")
    server.start()


def crash(suite, binary):
    """Whatever was answered has its row, and every row has its change."""
    with Server(binary) as server:
        group = Group("s", "g")
        Client(server.port).put(group.collection(), collection_body("P20Premium"))
        answered = []

        def write(part):
            client = Client(server.port)
            with contextlib.suppress(OSError, http.client.HTTPException):
                for i in range(10_000):
                    name = f"job-{part}-{i}"
                    if client.put(group.job(name), job_body()).status != 201:
                        return
                    answered.append(name)

        writers = [threading.Thread(target=write, args=(part,)) for part in range(4)]
        for writer in writers:
            writer.start()
        while len(answered) < 200 and writers[0].is_alive():
            writers[0].join(0.01)
        server.kill()
        for writer in writers:
            writer.join()
        server.start()
        client = Client(server.port)
        rows, query = [], None
        while True:
            page = client.get("/belfry/audit", query=query).json
            rows += page["value"]
            if not page["nextLink"]:
                break
            query = page["nextLink"].split("?", 1)[1]
        told = {row["resource"].rsplit("/", 1)[1] for row in rows}
        with suite.case(f"kill -9: all {len(answered)} answered changes are told of"):
            holds(len(answered) >= 200, "too few were answered")
            equal(set(answered) - told, set())
        with suite.case("kill -9: no row tells of what is not there"):
            there = {path.rsplit("/", 1)[1] for path in all_jobs(client, group)}
            equal(told - {group.collection().rsplit("/", 1)[1]}, there)
        with suite.case("kill -9: the log is sound"):
            equal(verify(binary, server.store)[0], 0)
        with suite.case("in local mode the log says so"):
            equal(rows[-1]["principal"], {"kind": "local", "name": "local mode"})


def addresses(suite, binary):
    """Whose address a row has: what a proxy says counts where there is one, and nowhere else."""
    said = {"192.0.2.1": "192.0.2.1", "made up, [2001:db8::1]:50000": "2001:db8::1",
            "192.0.2.1, unknown": "127.0.0.1"}
    for flags in ((), ("--behind-proxy",)):
        with Server(binary, *flags) as server:
            client, path = Client(server.port), Group().collection()
            for header, address in said.items():
                expected = address if flags else "127.0.0.1"
                with suite.case(f"{flags}: a change that is forwarded for {header} has {expected}"):
                    answer = client.put(path, collection_body(),
                                        headers={"X-Forwarded-For": header})
                    equal(answer.status, 201, answer)
                    equal(Log(client).rows()[0]["address"], expected)


def all_jobs(client, group):
    path, query = group.collection() + "/jobs", "api-version=2016-03-01"
    while True:
        page = client.get(path, query=query).json
        yield from (job["id"] for job in page["value"])
        if not page["nextLink"]:
            return
        query = page["nextLink"].split("?", 1)[1]


def main():
    binary = binary_of(sys.argv)
    suite = Suite()
    with Server(binary, "--auth", "token", "--virtual-clock", NOW) as server:
        changes = Changes(suite, server)
        changes.of_collections()
        changes.of_jobs()
        changes.of_tokens()
        changes.of_nothing()
        changes.of_refusals()
        changes.reading()
        tampering(suite, binary, server)
    addresses(suite, binary)
    crash(suite, binary)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
