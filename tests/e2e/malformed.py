#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Malformed and odd requests over kept connections, until ten thousand were refused. None is
answered 5xx, every refusal is the error envelope, and what is stored is afterwards what it
was before.

    malformed.py PATH_OF_BELFRY

The requests follow from a seed alone (BELFRY_SEED, else 1), which a failure prints. A request
that happens to be a good one is undone.
"""
import json
import os
import random
import sys

from odd_requests import COLLECTIONS, JOBS, odd_request
from raw_http import RawConnection
from rest import Client, Group
from server import Server
from suite import binary_of, equal, holds

REFUSALS = 10_000
REQUESTS_MAX = 20_000  # should the generator have become too kind
LOOK_EVERY = 500
FAILURES_SHOWN_MAX = 5


class Stored:
    """What is stored before the first odd request, and how to get it back."""

    def __init__(self, client):
        self.client = client
        self.group = Group("odd-requests")
        self.bodies = {self.group.collection(name): body for name, body in COLLECTIONS.items()}
        self.bodies |= {self.group.job(name, "first"): body for name, body in JOBS.items()}
        self.strangers = set()  # subscriptions that odd requests wrote to
        for path, body in self.bodies.items():
            equal(client.put(path, body).status, 201)
        self.before = self.now()

    def now(self):
        """The bytes of everything that can be listed."""
        lists = [self.group.all_collections()]
        lists += [f"{self.group.collection(name)}/jobs" for name in COLLECTIONS]
        return [self.client.get(path).body for path in lists]

    def check(self):
        equal(self.now(), self.before, "what is stored has changed")
        for subscription in self.strangers:
            page = self.client.get(Group(subscription).all_collections()).json
            equal(page["value"], [], f"subscription {subscription}")

    def undo(self, answer):
        """After a write that was answered 2xx."""
        written = json.loads(answer.body) if answer.body else {}
        identity = written.get("id")
        if identity is None:
            return self.restore_all()
        if identity in self.bodies:
            return self.put(identity)
        holds(self.client.delete(identity).status == 200, identity)
        subscription = identity.split("/")[2]
        if subscription.lower() != self.group.subscription:
            self.strangers.add(subscription)
        return None

    def put(self, path):
        answer = self.client.put(path, self.bodies[path])
        holds(answer.status in (200, 201), answer)

    def restore_all(self):
        for path in self.bodies:
            self.put(path)


def check(answer, method):
    """What must hold of every answer."""
    holds(200 <= answer.status < 500, "the status")
    holds(answer.headers.get("x-ms-request-id"), "x-ms-request-id")
    if method == "HEAD" or (answer.status == 200 and not answer.body):
        return
    equal(answer.headers["content-type"], "application/json; charset=utf-8")
    body = json.loads(answer.body.decode("utf-8"))
    if answer.status < 300:
        holds("error" not in body, "a success is no error")
        return
    holds(answer.status >= 400, "the status")
    equal(list(body), ["error"])
    for member in ("code", "message"):
        holds(isinstance(body["error"][member], str) and body["error"][member], member)


class Run:
    def __init__(self, port, seed):
        self.seed = seed
        self.rng = random.Random(seed)
        self.stored = Stored(Client(port))
        self.connection = RawConnection(port)
        self.passed = self.failed = 0
        self.statuses = {}

    def one(self, number):
        method, request = odd_request(self.rng, self.stored.group)
        answer = None
        try:
            answer = self.connection.ask(request, head_only=method == "HEAD")
            check(answer, method)
            self.statuses[answer.status] = self.statuses.get(answer.status, 0) + 1
            if answer.status < 300 and method not in ("GET", "HEAD"):
                self.stored.undo(answer)
            if number % LOOK_EVERY == 0:
                self.stored.check()
            self.passed += 1
        except Exception as failure:
            self.failed += 1
            print(f"FAILED: BELFRY_SEED={self.seed}, request {number}: {failure!r}\n"
                  f"  request: {request[:3000]!r}\n  answer: {answer!r}", flush=True)

    def refused(self):
        return sum(n for status, n in self.statuses.items() if status >= 400)

    def all(self):
        for number in range(1, REQUESTS_MAX + 1):
            self.one(number)
            if self.refused() == REFUSALS or self.failed == FAILURES_SHOWN_MAX:
                break
        self.stored.check()
        counts = ", ".join(f"{n} × {status}" for status, n in sorted(self.statuses.items()))
        print(f"seed {self.seed}: {counts}")


def main():
    seed = int(os.environ.get("BELFRY_SEED", "1"))
    with Server(binary_of(sys.argv)) as server:
        run = Run(server.port, seed)
        run.all()
    print(f"{run.passed} passed, {run.failed} failed")
    return 1 if run.failed or run.refused() < REFUSALS else 0


if __name__ == "__main__":
    sys.exit(main())
