#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""kill -9 in the middle of concurrent writes, thirty times over. After each restart every write
that was answered 2xx is there exactly, a write that was not answered is there whole or not
at all, and the server works as before.

    kill.py PATH_OF_BELFRY

Each writer owns its collection and its jobs, so that it knows what each of them was last: the
value that was answered, or the one that was on its way when the server died. BELFRY_SEED
chooses what is written and when the server dies; a failure prints it.
"""
import http.client
import os
import random
import sys
import threading

from rest import Client, Group, collection_body, http_action, job_body
from server import Server
from suite import Suite, binary_of, equal, holds

ROUNDS = 30
WRITERS = 6
JOBS_PER_WRITER = 4
ANSWERS_BEFORE_KILL = (20, 200)  # the server dies after so many answers, by chance


def job_of(value):
    """A job that says its value in many places: half of it would be seen."""
    return job_body({
        **http_action(uri=f"http://127.0.0.1:1/{value}", headers={"x-value": str(value)},
                      body=f"{value} " * (value % 400), authentication={
                          "type": "Basic", "username": f"user-{value}", "password": f"p{value}"}),
        "errorAction": http_action(body=str(value))},
        recurrence={"frequency": "Day", "count": value})


def value_of(properties):
    """The value that a job says, the same in all places."""
    action, error = properties["action"], properties["action"]["errorAction"]
    value = properties["recurrence"]["count"]
    equal(action["request"]["uri"], f"http://127.0.0.1:1/{value}")
    equal(action["request"]["headers"], {"x-value": str(value)})
    equal(action["request"]["body"], f"{value} " * (value % 400))
    equal(action["request"]["authentication"], {"username": f"user-{value}", "type": "Basic"})
    equal(error["request"]["body"], str(value))
    return value


class Resource:
    """What is known of a job: `values` are those that it may have now, None being absent."""

    def __init__(self):
        self.values = {None}

    def begin(self, value):
        self.values = self.values | {value}

    def answered(self, value):
        self.values = {value}


class Writer:
    """Writes until the server is gone."""

    def __init__(self, number, seed):
        self.rng = random.Random(f"{seed}/{number}")
        self.group = Group(f"writer-{number}")
        self.collection = Resource()
        self.jobs = {f"job{i}": Resource() for i in range(JOBS_PER_WRITER)}
        self.last_value = 0
        self.unexpected = None

    def write_until_death(self, client, on_answer):
        try:
            while True:
                self.write_once(client)
                on_answer()
        except (ConnectionError, http.client.HTTPException, OSError):
            pass
        except Exception as failure:  # told by the round: a thread cannot fail a case
            self.unexpected = failure
            on_answer()

    def write_once(self, client):
        self.last_value += 1
        if None in self.collection.values:
            return self.put_collection(client)
        choice = self.rng.random()
        if choice < 0.03:
            return self.delete_collection(client)
        if choice < 0.10:
            return self.patch_collection(client)
        name = self.rng.choice(list(self.jobs))
        job = self.jobs[name]
        if job.values == {None} or choice < 0.5:
            return self.send(client.put, self.group.job(name), job, job_of(self.last_value))
        if choice < 0.8:
            return self.send(client.patch, self.group.job(name), job, job_of(self.last_value))
        job.begin(None)
        equal(client.delete(self.group.job(name)).status, 200)
        job.answered(None)

    def send(self, method, path, resource, body):
        value = self.last_value
        resource.begin(value)
        answer = method(path, body)
        holds(answer.status in (200, 201), answer)
        resource.answered(value)

    def put_collection(self, client):
        self.send(client.put, self.group.collection(), self.collection,
                  collection_body(tags={"value": str(self.last_value)}))

    def patch_collection(self, client):
        self.send(client.patch, self.group.collection(), self.collection,
                  {"tags": {"value": str(self.last_value)}})

    def delete_collection(self, client):
        for resource in (self.collection, *self.jobs.values()):
            resource.begin(None)
        equal(client.delete(self.group.collection()).status, 200)
        for resource in (self.collection, *self.jobs.values()):
            resource.answered(None)

    def check(self, client):
        """What is there is what may be there; from now on it is what is known."""
        holds(self.unexpected is None, f"before the kill: {self.unexpected!r}")
        answer = client.get(self.group.collection())
        if answer.status == 404:
            found = None
            equal(client.get(self.group.collection() + "/jobs").status, 404)
            listed = {}
        else:
            found = int(answer.json["tags"]["value"])
            page = client.get(self.group.collection() + "/jobs").json
            listed = {job["name"].split("/")[1]: job for job in page["value"]}
        self.settle("the collection", self.collection, found)
        for name, resource in self.jobs.items():
            job = client.get(self.group.job(name))
            equal(job.status == 200, name in listed, "GET and the list agree")
            if name in listed:
                equal(job.json, listed[name])
            value = value_of(job.properties) if name in listed else None
            # DELETE of the collection is one thing: it took all of the jobs, or none.
            holds(found is not None or value is None, "a job without its collection")
            self.settle(name, resource, value)
        equal(set(listed) - set(self.jobs), set(), "strangers")

    def settle(self, what, resource, value):
        holds(value in resource.values,
              f"{self.group.subscription}, {what}: {value} is there; it may be one of "
              f"{resource.values}")
        resource.values = {value}


def one_round(server, writers, rng):
    """Lets all of them write, and kills the server when its time has come."""
    remaining = rng.randrange(*ANSWERS_BEFORE_KILL)
    time_has_come = threading.Event()
    lock = threading.Lock()

    def on_answer():
        nonlocal remaining
        with lock:
            remaining -= 1
            if remaining <= 0:
                time_has_come.set()

    client = Client(server.port)
    threads = [threading.Thread(target=writer.write_until_death, args=(client, on_answer))
               for writer in writers]
    for thread in threads:
        thread.start()
    time_has_come.wait(timeout=60)
    server.kill()
    for thread in threads:
        thread.join()


def main():
    suite = Suite()
    seed = int(os.environ.get("BELFRY_SEED", "1"))
    rng = random.Random(seed)
    writers = [Writer(number, seed) for number in range(WRITERS)]
    with Server(binary_of(sys.argv)) as server:
        for number in range(1, ROUNDS + 1):
            one_round(server, writers, rng)
            server.start()
            client = Client(server.port)
            with suite.case(f"BELFRY_SEED={seed}, kill {number}: every answered write is there"):
                for writer in writers:
                    writer.check(client)
            if suite.failed:
                break  # what is known is no longer what is there
        written = sum(writer.last_value for writer in writers)
        with suite.case("there was something to lose"):
            holds(written > ROUNDS * ANSWERS_BEFORE_KILL[0], written)
        print(f"seed {seed}: {written} writes, {ROUNDS} kills")
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
