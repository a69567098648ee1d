#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Secrets at work: jobs with canaries in every secret member ring, fail and are asked about in
every way there is; their targets repeat what they are asked. No canary is found in an answer, in
the history, the audit log, the log at its loudest, what commands print, the store's files or a
backup; and a restored backup is worth nothing without the key.

    secrets_at_work.py PATH_OF_BELFRY
"""
import base64
import contextlib
import json
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

import targets
from principals import Owner, scope_of
from rest import Client, Group, collection_body
from rules.secrets import Canaries, absent, absent_from_files, actions
from server import Server
from suite import Suite, binary_of, equal, holds

NOW = "2030-01-01T00:00:00Z"
DUE = "2030-01-01T00:01:00Z"
NO_RETRY = {"retryType": "None"}


class Stage:
    """A server, targets that refuse everything, and jobs for all of them."""

    def __init__(self, folder):
        self.folder = folder
        self.canaries = Canaries()
        self.group = Group("s", "g")
        self.sink = targets.Sink()
        self.sink.statuses["/hook"] = 500
        self.sink.body = targets.echo
        self.access_token = self.canaries.new("access-token")
        self.sink.bodies["/t/token"] = json.dumps(
            {"access_token": self.access_token, "token_type": "Bearer",
             "expires_in": 3600}).encode()
        self.tls_target = targets.Misbehaving(
            targets.answer_ok, targets.certificate(folder, "target", "127.0.0.1", days=2))
        self.kept_key = self.canaries.new("kept-key")
        keys = folder / "keys.toml"
        keys.write_text(f'[n]\nkept = "{self.kept_key}"\n')
        keys.chmod(0o600)
        self.proxy_password = self.canaries.new("proxy-password")
        self.kinds = []

    def server(self, binary):
        place = f"127.0.0.1:{self.sink.port}"
        return Server(
            binary, "--auth", "token", "--virtual-clock", NOW, "--allow-targets", "127.0.0.1",
            "--ca-file", str(self.folder / "target.pem"),
            "--storage-queue-endpoint", f"http://{place}/{{account}}",
            "--service-bus-endpoint", f"http://{place}/{{namespace}}",
            "--service-bus-amqp-endpoint", f"amqp://{place}",
            "--service-bus-amqp-login", "plain",
            "--service-bus-keys", str(self.folder / "keys.toml"),
            "--oauth-endpoint", f"http://{place}/{{tenant}}/token", "--no-proxy", "*",
            environment={"BELFRY_PROXY": f"http://user:{self.proxy_password}@127.0.0.1:1"})

    def actions(self):
        """Of every kind, with canaries that nothing else has."""
        made = actions(self.canaries, self.sink.url("/hook"))
        made["certificate"]["request"]["uri"] = f"https://127.0.0.1:{self.tls_target.port}/"
        amqp = json.loads(json.dumps(made["bus-queue"]))
        message = amqp["serviceBusQueueMessage"]
        message["transportType"] = "AMQP"
        message["authentication"]["sasKey"] = self.canaries.new("amqp-key")
        kept = json.loads(json.dumps(made["bus-topic"]))
        kept["serviceBusTopicMessage"]["authentication"] = {"sasKeyName": "kept"}
        return {**made, "bus-amqp": amqp, "bus-kept": kept}

    def put_jobs(self, client):
        equal(client.put(self.group.collection(), collection_body("P20Premium")).status, 201)
        for (kind, main), error in zip(self.actions().items(), self.actions().values()):
            action = {**main, "retryPolicy": NO_RETRY, "errorAction": error}
            if kind == "certificate":  # its target answers 200: the error action comes alone
                action = {**actions(self.canaries)["basic"], "retryPolicy": NO_RETRY,
                          "errorAction": error}
                self.put(client, "certificate-main", {**main, "retryPolicy": NO_RETRY})
            self.put(client, kind, action)

    def put(self, client, name, action):
        answer = client.put(self.group.job(name),
                            {"properties": {"startTime": DUE, "action": action}})
        equal(answer.status, 201, answer)
        self.kinds.append(name)

    def move(self, client, to):
        equal(client.request("POST", "/clock", {"to": to}, query=None).status, 200)


def ring(suite, stage, client):
    for path in ("/a/q/messages", "/n/q/messages", "/n/t/messages"):
        stage.sink.statuses[path] = 403
    with suite.case("jobs with all kinds of secrets are put, ring, and fail with their rows"):
        stage.put_jobs(client)
        stage.move(client, "2030-01-01T01:00:00Z")
        for kind in stage.kinds:
            rows = client.get(stage.group.job(kind) + "/history").json["value"]
            holds(len(rows) == (1 if kind == "certificate-main" else 2), (kind, rows))
    with suite.case("what the targets repeated is in the history, without the secrets"):
        rows = [row for kind in stage.kinds
                for row in client.get(stage.group.job(kind) + "/history").json["value"]]
        holds(sum("***" in row["properties"]["message"] for row in rows) >= 8, rows)
    with suite.case("the secrets were used: the targets have seen them"):
        seen = b"".join(json.dumps({**request, "body": request["body"].decode("latin-1")}).encode()
                        for request in stage.sink.requests)
        used = [one for one in stage.canaries.all
                if one.encode() in seen or base64.b64encode(b"u:" + one.encode()) in seen]
        for what in ("-password-", "-secret-", "-sas-token-", "-access-token-", "-mine-"):
            holds(any(what in one for one in used), f"{what} in {used}")


def answers_of(stage, client):
    """Everything that can be asked of the server."""
    group = stage.group
    yield client.get(group.all_collections())
    yield client.get(group.collection())
    yield client.get(group.collection() + "/jobs")
    for kind in stage.kinds:
        job = group.job(kind)
        yield client.get(job)
        yield client.get(job + "/history")
        yield client.post(job + "/preflight")
        yield client.patch(job, {"properties": {"state": "Disabled"}})
    for path in ("/belfry/audit", "/belfry/tokens", "/readyz", "/healthz", "/metrics",
                 "/openapi.json"):
        yield client.get(path, query=None)


def commands_of(stage, binary, server):
    """What the commands print, on both outputs."""
    at_server = {"BELFRY_SERVER": f"http://127.0.0.1:{server.port}", "BELFRY_TOKEN": server.token}
    job = ["--subscription", "s", "--group", "g", "--collection", "jc"]
    commands = [["token", "list"], ["audit", "list"], ["job", "list", *job],
                *[["job", verb, kind, *job, "-o", "json"] for kind in stage.kinds
                  for verb in ("get", "history", "preflight")],
                ["config"], ["check", "--store", str(server.store)],
                ["audit", "verify", "--store", str(server.store)],
                ["key", "list", "--store", str(server.store)]]
    for words in commands:
        done = subprocess.run([binary, *words], env=at_server | server.environment,
                              capture_output=True, timeout=120)
        holds(done.returncode == 0 or "preflight" in words, (words, done.stderr))
        yield done.stdout + done.stderr


def look_everywhere(suite, stage, binary, server, client):
    canaries = stage.canaries
    with suite.case("no canary in any answer: jobs, lists, history, preflight, audit, tokens"):
        for answer in answers_of(stage, client):
            holds(answer.status in (200, 404, 409), answer)
            absent(canaries, answer.body + str(answer.headers).encode(), repr(answer))
    with suite.case("no canary in what any command prints"):
        for printed in commands_of(stage, binary, server):
            absent(canaries, printed, printed[:300])
    with suite.case("no canary in the files of the running store, the write-ahead log among them"):
        holds((server.store / "belfry.db-wal").stat().st_size > 0, "there is a log")
        absent_from_files(canaries, server)
    with suite.case("no canary on standard output, nor in the log at its loudest"):
        absent(canaries, server.log().encode(), "the log")


def show_tokens(suite, stage, server):
    """Access tokens are secrets too; only standard output has ever seen the first one."""
    tokens = Canaries()
    made = Owner(server).token(("Reader", scope_of()))["token"]
    tokens.all = [token.rsplit("_", 1)[1] for token in (server.token, made)]
    reader = Client(server.port, made)
    with suite.case("no access token in any answer, file or line of the log"):
        for answer in (reader.get("/belfry/audit", query=None),
                       reader.get(stage.group.collections()),
                       Client(server.port, server.token).get("/belfry/tokens", query=None)):
            equal(answer.status, 200)
            absent(tokens, answer.body, repr(answer))
        absent_from_files(tokens, server)
        absent(tokens, server.log_path.read_bytes(), "the log")


def back_up(suite, stage, binary, server):
    backup = stage.folder / "backup.db"
    with suite.case("a backup has no canary and no key in it, and says the latter"):
        done = subprocess.run([binary, "backup", "--store", str(server.store), str(backup)],
                              capture_output=True, text=True, timeout=120)
        equal(done.returncode, 0, done.stderr)
        holds("secret.key" in done.stdout and "is not in it" in done.stdout, done.stdout)
        stored = backup.read_bytes()
        absent(stage.canaries, stored, "the backup")
        key = (server.store / "secret.key").read_text().strip()
        for form in (key.encode(), bytes.fromhex(key), base64.b64encode(bytes.fromhex(key))):
            holds(form not in stored, "the key is in the backup")
    return backup


def content(database):
    """All rows of all tables; the file itself changes when it is merely opened."""
    with contextlib.closing(sqlite3.connect(database)) as connection:
        return list(connection.iterdump())


def show_restored(suite, stage, binary, server, backup):
    """Without the key a backup cannot be used, with a wrong one nothing is lost, with the right
    one the jobs ring again."""
    restored = stage.server(binary)
    key = restored.store / "secret.key"

    def refusal():
        try:
            restored.start()
        except RuntimeError as refused:
            return str(refused)
        restored.kill()
        raise AssertionError("it started")

    with contextlib.closing(contextlib.ExitStack()) as cleaning:
        cleaning.callback(restored.remove)
        with suite.case("a restored backup without its key: the server says so and does not start"):
            done = subprocess.run([binary, "restore", "--store", str(restored.store), str(backup)],
                                  capture_output=True, text=True, timeout=120)
            equal(done.returncode, 0, done.stderr)
            (restored.store / "virtual-clock").touch()  # a copy, to be tried out
            before = content(restored.store / "belfry.db")
            holds("secret.key" in refusal(), restored.log())
            holds(not key.exists(), "a key was made")
        with suite.case("with a wrong key the server says so, and nothing is lost"):
            key.write_text("7" * 64 + "\n")
            key.chmod(0o600)
            holds("put the right one there" in refusal(), restored.log())
            equal(content(restored.store / "belfry.db"), before)
        with suite.case("with the right key the jobs of the backup ring, with their secrets"):
            key.write_text((server.store / "secret.key").read_text())
            restored.start()
            client = Client(restored.port, server.token)
            stage.sink.requests.clear()
            enable = {"properties": {"state": "Enabled"}}
            basic = stage.group.job("again")
            equal(client.patch(basic, enable).status, 200)
            equal(client.post(basic + "/run").status, 200)
            stage.move(client, "2030-01-01T02:00:00Z")
            sent = stage.sink.at("/again")[0]["headers"]["Authorization"]
            equal(base64.b64decode(sent.removeprefix("Basic ")).decode(), f"u:{stage.again}")
            restored.stop()


def put_again(stage, client):
    """A job that has not rung yet when the backup is taken."""
    stage.again = stage.canaries.new("again")
    action = {"type": "Http", "retryPolicy": NO_RETRY, "request": {
        "method": "GET", "uri": stage.sink.url("/again"), "authentication": {
            "type": "Basic", "username": "u", "password": stage.again}}}
    answer = client.put(stage.group.job("again"), {"properties": {
        "startTime": "2099-01-01T00:00:00Z", "state": "Disabled", "action": action}})
    equal(answer.status, 201, answer)


def main():
    binary = binary_of(sys.argv)
    suite = Suite()
    with tempfile.TemporaryDirectory(prefix="belfry-secrets-") as folder:
        stage = Stage(pathlib.Path(folder))
        with stage.server(binary) as server:
            client = Client(server.port, server.token)
            ring(suite, stage, client)
            look_everywhere(suite, stage, binary, server, client)
            show_tokens(suite, stage, server)
            put_again(stage, Client(server.port, server.token))
            backup = back_up(suite, stage, binary, server)
            server.stop()
            with suite.case("no canary in the files of the store once the server has stopped"):
                absent_from_files(stage.canaries, server)
            show_restored(suite, stage, binary, server, backup)
            server.start()
        print(f"{len(stage.canaries.all)} canaries", flush=True)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
