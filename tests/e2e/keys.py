#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The keys that seal secrets are changed while the server runs and is written to, and it dies at
every interesting moment of that. No secret is lost, and none can be read from a file.

    keys.py PATH_OF_BELFRY
"""
import base64
import subprocess
import sys
import threading

import targets
from rest import Client, Group, collection_body, http_action, job_body
from server import Server
from suite import Suite, binary_of, equal, holds

JOBS = 300  # more than are sealed anew in one transaction
CANARY = "canary-8c1f"
RINGING = 5  # jobs that ring all the while
CRASHES = ["key-taken-up:1", "resealed-slice:1", "resealed-slice:2"]


def job_of(value):
    return job_body(http_action(uri="http://127.0.0.1:1/", authentication={
        "type": "Basic", "username": "user", "password": f"{CANARY}-{value}"}))


class Keys:
    """`belfry key` for one server."""

    def __init__(self, binary, server):
        self.binary, self._store = binary, server.store
        self.file = server.store / "secret.key"

    def run(self, *command, environment=None):
        return subprocess.run([self.binary, *command, "--store", str(self._store)],
                              capture_output=True, text=True, timeout=120, env=environment)

    def rotate(self):
        done = self.run("key", "rotate")
        equal(done.returncode, 0, done.stderr)

    def states(self):
        done = self.run("key", "list")
        equal(done.returncode, 0, done.stderr)
        return [line[16:].split("  ")[1].strip() for line in done.stdout.splitlines()]

    def wait_until_sealed_anew(self, server):
        while (states := self.states()) != ["seals"] + ["is not used"] * (len(states) - 1):
            server.hang_up()

    def drop(self):
        done = self.run("key", "drop")
        equal(done.returncode, 0, done.stderr)

    def expect_sound(self):
        done = self.run("check")
        equal(done.returncode, 0, done.stdout + done.stderr)

    def lines(self):
        return self.file.read_text().split()


class Writer(threading.Thread):
    """Puts the same jobs again and again."""

    def __init__(self, port, group):
        super().__init__()
        self._client, self._group = Client(port), group
        self._stop_event = threading.Event()
        self.fault, self.answers = None, 0

    def run(self):
        try:
            while not self._stop_event.is_set():
                answer = self._client.put(self._group.job(f"job{self.answers % JOBS}"), job_of("w"))
                equal(answer.status, 200)
                self.answers += 1
        except Exception as fault:
            self.fault = repr(fault)

    def finish(self):
        self._stop_event.set()
        self.join()
        equal(self.fault, None)
        holds(self.answers > 0, "nothing was written")


class Ringer(threading.Thread):
    """Runs jobs one after the other; each must reach its target with its own password."""

    def __init__(self, port, group):
        super().__init__()
        self._client, self._group = Client(port), group
        self._sink = targets.Sink()
        self._stop_event = threading.Event()
        self.fault, self.rung = None, 0
        for number in range(RINGING):
            answer = self._client.put(group.job(f"ringing{number}"), job_body(http_action(
                uri=self._sink.url(f"/{number}"), authentication=self._credential(number))))
            equal(answer.status, 201, answer)

    @staticmethod
    def _credential(number):
        return {"type": "Basic", "username": "user", "password": f"{CANARY}-ringing-{number}"}

    def run(self):
        try:
            while not self._stop_event.is_set():
                self._ring(self.rung % RINGING)
                self.rung += 1
        except Exception as fault:
            self.fault = repr(fault)

    def _ring(self, number):
        path, job = f"/{number}", self._group.job(f"ringing{number}")
        before = len(self._sink.at(path))
        while (answer := self._client.post(job + "/run")).status == 409:
            pass  # the row of the time before is being written
        equal(answer.status, 200, answer)
        while len(self._sink.at(path)) == before:
            equal(self._client.get(job).status, 200)
        sent = self._sink.at(path)[-1]["headers"]["Authorization"]
        equal(base64.b64decode(sent.removeprefix("Basic ")).decode(),
              f"user:{self._credential(number)['password']}")

    def finish(self):
        self._stop_event.set()
        self.join()
        equal(self.fault, None)
        holds(self.rung >= RINGING, f"only {self.rung} rang")
        for number in range(RINGING):
            rows = self._client.get(self._group.job(f"ringing{number}") + "/history").json["value"]
            equal([row for row in rows if row["properties"].get("status")], [], "failed")


def fill(server, group):
    client = Client(server.port)
    client.put(group.collection(), collection_body(sku="P20Premium"))
    for number in range(JOBS):
        equal(client.put(group.job(f"job{number}"), job_of(number)).status, 201)


def show_rotation(suite, server, keys, group):
    with suite.case("a new key is taken up while jobs are written and ring, and nothing fails"):
        writer, ringer = Writer(server.port, group), Ringer(server.port, group)
        writer.start()
        ringer.start()
        before = keys.lines()
        keys.rotate()
        equal(keys.lines()[1:], before)
        keys.wait_until_sealed_anew(server)
        keys.drop()
        ringer.finish()
        writer.finish()
        equal(len(keys.lines()), 1)
        holds(keys.lines() != before, "it is the old one")
        keys.expect_sound()


def show_crashes(suite, server, keys):
    for place in CRASHES:
        with suite.case(f"a crash at {place} loses no secret"):
            server.stop()
            server.environment = {"BELFRY_FAILPOINT": place}
            server.start()
            keys.rotate()
            server.hang_up()
            equal(server.wait_for_end(120), -9)
            server.environment = {}
            server.start()
            keys.expect_sound()
            keys.wait_until_sealed_anew(server)
            keys.drop()
            keys.expect_sound()
    with suite.case("a rotation that dies half-way leaves the keys as they were"):
        before = keys.lines()
        done = keys.run("key", "rotate", environment={"BELFRY_FAILPOINT": "key-file-written"})
        equal(done.returncode, -9)
        equal(keys.lines(), before)
        keys.rotate()
        equal(keys.lines()[1:], before)
        keys.wait_until_sealed_anew(server)
        keys.drop()


def show_files(suite, server, keys):
    backup = server.home / "backup.db"
    with suite.case("neither secrets nor keys stand in the store's files, the backup or the log"):
        done = keys.run("backup", str(backup))
        equal(done.returncode, 0, done.stderr)
        holds("is not in it" in done.stdout, done.stdout)
        texts = [CANARY.encode()] + [form for line in keys.lines()
                                     for form in (line.encode(), bytes.fromhex(line))]
        for path in [backup, server.log_path, *server.store.glob("belfry.db*")]:
            content = path.read_bytes()
            equal([text for text in texts if text in content], [], str(path))


def show_wrong_key(suite, server, keys):
    with suite.case("with another key the server does not start and says why; nothing is lost"):
        server.stop()
        right = keys.file.read_text()
        keys.file.write_text("7" * 64 + "\n")
        try:
            server.start()
            holds(False, "it started")
        except RuntimeError as refusal:
            holds("put the right one there" in str(refusal), str(refusal))
        keys.file.write_text(right)
        server.start()
        keys.expect_sound()


def show_wrong_key_of_backup(suite, server, keys):
    with suite.case("a backup is not restored with another key, nor with what is no key"):
        backup, wrong, place = (server.home / name for name in ("b.db", "wrong.key", "restored"))
        equal(keys.run("backup", str(backup)).returncode, 0)
        def restore(key_file):
            return subprocess.run([keys.binary, "restore", "--store", str(place), "--key-file",
                                   str(key_file), str(backup)], capture_output=True, text=True,
                                  timeout=120)

        for text, why in (("7" * 64, "put the right one there"), ("no key", "hexadecimal digits")):
            wrong.write_text(text + "\n")
            wrong.chmod(0o600)
            answers = [keys.run("check", "--key-file", str(wrong)).stdout.splitlines()[0]]
            done = restore(wrong)
            answers.append(done.stderr.strip().removeprefix("belfry: "))
            equal((done.returncode, done.stdout), (1, ""))
            holds(answers[0].startswith(answers[1]), answers)
            holds(why in answers[1], answers)
            equal([path.name for path in place.iterdir()], ["belfry.lock"])
    with suite.case("with its own it is, and nobody has to put a key anywhere"):
        done = restore(keys.file)
        equal((done.returncode, done.stderr), (0, ""))
        holds("Restored" in done.stdout and "Put the key" not in done.stdout, done)


def main():
    binary = binary_of(sys.argv)
    suite = Suite()
    group = Group()
    with Server(binary) as server:
        keys = Keys(binary, server)
        fill(server, group)
        show_rotation(suite, server, keys, group)
        show_crashes(suite, server, keys)
        show_files(suite, server, keys)
        show_wrong_key(suite, server, keys)
        show_wrong_key_of_backup(suite, server, keys)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
