#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What an error action is told of what failed: as headers of a call and as properties of a message
on Service Bus, the same after a crash; a storage queue's message stays as it was.

    error_actions.py PATH_OF_BELFRY
"""
import base64
import json
import sys

import targets
from rest import Client, Group, collection_body, http_action
from server import Server
from suite import Suite, binary_of, equal, holds

NOW = "2030-01-01T00:00:00Z"
DUE = "2030-01-01T00:01:00Z"
NO_RETRY = {"retryType": "None"}
NAMES = [f"x-belfry-failed-{what}" for what in ("occurrence", "status", "reason")]


def told(request):
    headers = {name.lower(): value for name, value in request["headers"].items()}
    return {name: headers.get(name) for name in NAMES}


def put(client, group, name, action, error):
    answer = client.put(group.job(name), {"properties": {"startTime": DUE, "action": {
        **action, "retryPolicy": NO_RETRY, "errorAction": error}}})
    equal(answer.status, 201, answer)


def move(client, to):
    equal(client.request("POST", "/clock", {"to": to}, query=None).status, 200)


def service_bus(queue, **more):
    return {"type": "ServiceBusQueue", "retryPolicy": NO_RETRY, "serviceBusQueueMessage": {
        "namespace": "n", "queueName": queue, "message": "m",
        "authentication": {"sasKeyName": "k", "sasKey": "service-bus-key"}, **more}}


def show_what_is_told(suite, binary, sink):
    place = f"http://127.0.0.1:{sink.port}"
    main = http_action(uri=sink.url("/fails"), authentication={
        "type": "Basic", "username": "u", "password": "open sesame"})
    with Server(binary, "--virtual-clock", NOW, "--service-bus-endpoint", place + "/{namespace}",
                "--storage-queue-endpoint", place + "/{account}") as server:
        client, group = Client(server.port), Group()
        equal(client.put(group.collection(), collection_body("P20Premium")).status, 201)
        put(client, group, "call", main, http_action(uri=sink.url("/told")))
        put(client, group, "gone", http_action(uri="http://127.0.0.1:1/"),
            http_action(uri=sink.url("/gone")))
        put(client, group, "own", main, http_action(
            uri=sink.url("/own"), headers={"X-Belfry-Failed-Status": "mine"}))
        put(client, group, "bus", main, service_bus("q"))
        put(client, group, "own-property", main, service_bus(
            "own", customMessageProperties={"x-belfry-failed-reason": "mine"}))
        put(client, group, "storage", main, {"type": "StorageQueue", "queueMessage": {
            "storageAccount": "a", "queueName": "q", "message": "m", "sasToken": "sig=abcdefgh"}})
        move(client, "2030-01-01T00:02:00Z")
    tag = sink.at("/fails")[0]["headers"]["x-ms-execution-tag"]
    with suite.case("a call is told which occurrence failed, with which status, and why"):
        heard = told(sink.at("/told")[0])
        instant, its_tag = heard["x-belfry-failed-occurrence"].split(" ")
        equal(instant, DUE)
        equal(its_tag, sink.at("/told")[0]["headers"]["x-ms-execution-tag"])
        equal(heard["x-belfry-failed-status"], "500")
        holds("'InternalServerError' Body: you sent *** and *** ?X-Forged: 1" in
              heard["x-belfry-failed-reason"], heard)
    with suite.case("the reason is short, and in one line"):
        reason = told(sink.at("/told")[0])["x-belfry-failed-reason"]
        equal(len(reason), 256)
        holds(all(" " <= letter <= "~" for letter in reason), reason)
        holds("X-Forged" not in sink.at("/told")[0]["headers"], sink.at("/told")[0])
    with suite.case("where nobody answered, the status is the kind of failure"):
        equal(told(sink.at("/gone")[0])["x-belfry-failed-status"], "ConnectFailure")
    with suite.case("a header that the user set wins"):
        equal(told(sink.at("/own")[0])["x-belfry-failed-status"], "mine")
    with suite.case("a message on Service Bus has them as properties; one that is set wins"):
        heard = told(sink.at("/n/q/messages")[0])
        equal(json.loads(heard["x-belfry-failed-status"]), "500")
        holds(json.loads(heard["x-belfry-failed-occurrence"]).startswith(DUE + " "), heard)
        equal(json.loads(told(sink.at("/n/own/messages")[0])["x-belfry-failed-reason"]), "mine")
    with suite.case("a main action is told nothing, and a storage queue's message is as it was"):
        equal(set(told(sink.at("/fails")[0]).values()), {None}, tag)
        message = sink.at("/a/q/messages?sig=abcdefgh")[0]
        equal(set(told(message).values()), {None})
        text = message["body"].decode().split("<MessageText>")[1].split("<")[0]
        holds("x-belfry" not in base64.b64decode(text).decode(), text)


def show_the_same_after_a_crash(suite, binary, sink):
    """The error action is tried again by another process."""
    sink.statuses["/again"] = 503
    with Server(binary, "--virtual-clock", NOW) as server:
        client, group = Client(server.port), Group()
        equal(client.put(group.collection(), collection_body("P20Premium")).status, 201)
        retry = {"retryType": "Fixed", "retryInterval": "PT1H", "retryCount": 1}
        put(client, group, "job", http_action(uri=sink.url("/fails")),
            {**http_action(uri=sink.url("/again")), "retryPolicy": retry})
        move(client, "2030-01-01T00:02:00Z")
        server.kill()
        server.start()
        move(Client(server.port), "2030-01-01T03:00:00Z")
    with suite.case("what an error action is told is the same after a crash"):
        first, second = sink.at("/again")
        equal(told(first), told(second))
        equal(told(first)["x-belfry-failed-status"], "500")


def failing(request):
    return (f"you sent {request['headers'].get('Authorization', 'nothing').split(' ')[-1]} and "
            "open sesame \nX-Forged: 1" + "." * 2000).encode()


def main():
    suite = Suite()
    sink = targets.Sink()
    sink.statuses["/fails"] = 500
    sink.bodies["/fails"] = failing
    show_what_is_told(suite, binary_of(sys.argv), sink)
    show_the_same_after_a_crash(suite, binary_of(sys.argv), sink)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
