#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The log of the real server: lines about jobs have their ids, each line is one event whatever
targets and clients send, and what a target answers is not in it.

    logs.py PATH_OF_BELFRY
"""
import json
import re
import sys

import targets
from rest import Client, Group, collection_body, http_action, job_body
from server import Server
from suite import Suite, binary_of, equal, holds

NOW = "2030-01-01T00:00:00Z"
FORGED = '{"ts":"2030-01-01T00:00:00.000Z","level":"error","msg":"forged"}'
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
HOSTILE = f"\r\n{FORGED}\r\n\x1b[31m"


def forging(connection, _):
    connection.recv(65536)
    body = HOSTILE.encode() + b"\xff\xfe password=hunter2"
    connection.sendall(b"HTTP/1.1 500 No\x85\x9b31m\r\nX-Secret: hunter2\r\n"
                       b"Content-Length: %d\r\n\r\n" % len(body) + body)


def run(server, target):
    client, group = Client(server.port), Group("hostile")
    equal(client.put(group.collection(), collection_body("P20Premium")).status, 201)
    retry = {"retryType": "Fixed", "retryInterval": "PT30S", "retryCount": 1}
    for name, url, more in (
            ("fails", f"http://127.0.0.1:{target.port}/", {"retryPolicy": retry}),
            ("works", f"http://127.0.0.1:{server.port}/healthz", {})):
        answer = client.put(group.job(name), {"properties": {
            "action": {**http_action(uri=url, method="GET"), **more}}})
        equal(answer.status, 201, answer)
    client.get("/%0d%0a" + FORGED.replace('"', "%22") + "%1b%5b31m")
    equal(client.request("POST", "/clock", {"advance": "PT5M"}).status, 200)
    return group


def events_of(server):
    """Of standard error alone."""
    return [json.loads(line) for line in server.log_path.read_bytes().decode("utf-8").splitlines()]


def check(suite, server, group):
    log = server.log_path.read_bytes()
    with suite.case("every line is one JSON object, and none is forged"):
        events = events_of(server)
        holds(all({"ts", "level", "msg"} <= set(event) for event in events), events)
        holds(all(event["msg"] != "forged" for event in events), events)
    with suite.case("no control character but the ends of lines is in the log"):
        equal([byte for byte in log if byte < 0x20 and byte != 0x0A], [])
        log.decode("utf-8")
    with suite.case("what the target answered is not in the log"):
        holds(b"hunter2" not in log, log)
    about = [event for event in events_of(server)
             if event.get("job", "").endswith(group.job("fails"))]
    with suite.case("failed attempts have the ids of job and occurrence, the last is a warning"):
        equal([(event["level"], event["retry"]) for event in about],
              [("info", 0), ("warning", 1)])
        equal(len({event["occurrence"] for event in about}), 1)
        holds(all("InternalServerError" in event["reason"] for event in about), about)
    with suite.case("numbers are numbers"):
        holds(all(isinstance(event["took_ms"], int) for event in about), about)
        equal([event["port"] for event in events_of(server) if event["msg"] == "serving"],
              [server.port])
    with suite.case("times have milliseconds"):
        holds(all(TIME.fullmatch(event["ts"]) for event in events_of(server)), events_of(server))
    with suite.case("at level debug every attempt has a line"):
        done = [event for event in events_of(server)
                if event.get("job", "").endswith(group.job("works"))]
        equal([(event["level"], event["msg"]) for event in done], [("debug", "attempt completed")])


def main():
    suite = Suite()
    target = targets.Misbehaving(forging)
    with Server(binary_of(sys.argv), "--virtual-clock", NOW, "--log-format", "json") as server:
        group = run(server, target)
        check(suite, server, group)
        with suite.case("with a log for machines nobody is greeted"):
            server.stop()
            equal(server.greeting(), "")
            server.start()
    target.end()
    with suite.case("whoever has jobs is greeted shortly"), Server(binary_of(sys.argv)) as server:
        first = server.read_greeting()
        client, jobs = Client(server.port), Group()
        client.put(jobs.collection(), collection_body())
        equal(client.put(jobs.job(), job_body()).status, 201)
        server.stop()
        server.forget_greeting()
        again = server.start().read_greeting()
        holds("curl" in first and "curl" not in again and "jobs: 1" in again, again)
        holds(again.count("\n") <= 4, again)
    with suite.case("a variable with a typing error is named with the nearest, and not its value"):
        with Server(binary_of(sys.argv), environment={"BELFRY_TIMOUT": "hunter2"}) as server:
            holds('variable="BELFRY_TIMOUT" nearest="BELFRY_TIMEOUT"' in server.log(),
                  server.log())
            holds("hunter2" not in server.log(), "its value")
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
