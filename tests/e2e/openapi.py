#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""/openapi.json against the server that serves it: every operation is asked for what it does and
for what it refuses, and each answer has a status that is described, a body of the schema that is
described for it, and no member that is not. What is not described is not possible (405).

    openapi.py PATH_OF_BELFRY
"""
import sys

import jsonschema

import targets
from principals import Owner, scope_of
from rest import VERSION, Client, collection_body, http_action
from server import Server
from suite import Suite, binary_of, equal, holds

METHODS = ("get", "put", "post", "patch", "delete")
NOW = "2030-01-01T00:00:00Z"


def strict(schema):
    """The same, refusing members that it does not name."""
    if isinstance(schema, list):
        return [strict(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    out = {key: strict(value) for key, value in schema.items()}
    if isinstance(out.get("properties"), dict) and out.get("type") == "object":
        out.setdefault("additionalProperties", False)
    return out


class Description:
    def __init__(self, document):
        self.document = document
        self.strict = {"components": {"schemas": strict(document["components"]["schemas"])}}
        self.seen = set()  # (path, method, status)

    def operations(self):
        return {(path, method): item[method] for path, item in self.document["paths"].items()
                for method in METHODS if method in item}

    def check(self, path, method, answer):
        """Raises unless the answer is as described."""
        operation = self.operations()[path, method]
        described = operation["responses"].get(str(answer.status))
        holds(described, f"{method} {path} may not answer {answer}")
        self.seen.add((path, method, answer.status))
        if "$ref" in described:
            described = self.document["components"]["responses"][described["$ref"].split("/")[-1]]
        content = described.get("content")
        if not content:
            equal(answer.body, b"", f"{method} {path}")
            return
        (media, how), = content.items()
        holds(answer.headers["Content-Type"].startswith(media), answer.headers)
        if media == "application/json":
            self.validate(answer.json, how["schema"])

    def validate(self, value, schema):
        whole = {"$schema": "https://json-schema.org/draft/2020-12/schema", **strict(schema),
                 **self.strict}
        jsonschema.Draft202012Validator(whole).validate(value)


def filled(path, **names):
    names = {"subscription": "sub", "resourceGroup": "group", "jobCollection": "jc", "job": "job",
             "token": "0123456789abcdef", **names}
    for name, value in names.items():
        path = path.replace("{" + name + "}", value)
    return path


class Tour:
    """Asks by the described path and checks each answer."""

    def __init__(self, suite, description, client):
        self.suite, self.description, self.client = suite, description, client

    def ask(self, path, method, status, body=None, client=None, query=f"api-version={VERSION}",
            headers=None, **names):
        with self.suite.case(f"{method} {path} answers {status} as described"):
            answer = (client or self.client).request(method.upper(), filled(path, **names), body,
                                                     query=query, headers=headers)
            equal(answer.status, status, answer)
            self.description.check(path, method, answer)
            return answer


def places(description):
    """The described paths by the last words of theirs."""
    paths = list(description.document["paths"])
    find = lambda end: next(path for path in paths if path.endswith(end))
    return {"provider": find("/Microsoft.Scheduler"),
            "of_subscription": next(path for path in paths if path.endswith("/jobCollections")
                                    and "resourceGroup" not in path),
            "of_group": next(path for path in paths if path.endswith("/jobCollections")
                             and "resourceGroup" in path),
            "collection": find("/{jobCollection}"), "enable": find("/enable"),
            "disable": find("/disable"), "jobs": find("/jobs"), "job": find("/jobs/{job}"),
            "enable_job": find("/{job}/enable"), "disable_job": find("/{job}/disable"),
            "run": find("/run"), "preflight": find("/preflight"), "history": find("/history")}


# One of each kind of action, authentication and schedule, so that every schema is used.
def jobs(sink):
    retry = {"retryType": "Fixed", "retryInterval": "PT30S", "retryCount": 2}
    bus = {"namespace": "ns", "transportType": "NetMessaging", "message": "m",
           "authentication": {"type": "SharedAccessKey", "sasKeyName": "n", "sasKey": "k"},
           "brokeredMessageProperties": {"label": "l", "timeToLive": "PT1M",
                                         "scheduledEnqueueTimeUtc": "2031-01-01T00:00:00Z",
                                         "forcePersistence": True},
           "customMessageProperties": {"a": "x", "b": 1, "c": True}}
    queue = {"storageAccount": "acc", "queueName": "que", "sasToken": "sig=x", "message": "m"}
    basic = {"type": "Basic", "username": "u", "password": "p"}
    oauth = {"type": "ActiveDirectoryOAuth", "tenant": "t", "audience": "a", "clientId": "c",
             "secret": "s"}
    monthly = {"frequency": "Month", "schedule": {
        "hours": [10], "minutes": [0],
        "monthlyOccurrences": [{"day": "Friday", "Occurrence": -1}]}}
    yearly = {"frequency": "Year", "endTime": "2050-01-01", "schedule": {
        "months": [2], "monthDays": [-1], "hours": [1]}}
    weekly = {"frequency": "Week", "interval": 2, "count": 5, "schedule": {"weekDays": ["Monday"]}}
    ahead = "2031-01-01T00:00:00Z"
    ok = http_action(uri=sink.url("/good"), method="GET")
    return {
        "job": {"action": {**http_action(uri=sink.url("/bad"), method="POST", body="b",
                                         headers={"x-a": "b"}, authentication=basic),
                           "retryPolicy": retry, "errorAction": ok, "timeout": "PT5S"},
                "recurrence": {"frequency": "Minute"}},
        "once": {"action": ok},
        "oauth": {"startTime": ahead, "recurrence": monthly,
                  "action": http_action(authentication=oauth)},
        "storage": {"startTime": ahead, "recurrence": yearly,
                    "action": {"type": "StorageQueue", "queueMessage": queue}},
        "bus": {"startTime": ahead, "recurrence": weekly, "action": {
            "type": "ServiceBusQueue", "serviceBusQueueMessage": {**bus, "queueName": "que"}}},
        "topic": {"startTime": ahead, "state": "Disabled", "action": {
            "type": "ServiceBusTopic", "serviceBusTopicMessage": {**bus, "topicPath": "top"}}},
    }


def arm(tour, at, sink):
    tour.ask(at["provider"], "get", 200, query=None)
    tour.ask(at["collection"], "get", 404)
    tour.ask(at["collection"], "get", 400, query="api-version=1999-01-01")
    tour.ask(at["collection"], "put", 400, body={"location": "here"})
    tour.ask(at["collection"], "put", 413, body="x" * 300_000)
    tour.ask(at["collection"], "put", 201, body=collection_body(tags={"team": "ops"}))
    tour.ask(at["collection"], "patch", 400, body={"properties": {"state": "odd"}})
    tour.ask(at["collection"], "patch", 409, body={"location": "elsewhere"})
    tour.ask(at["collection"], "patch", 200, body={"tags": {"a": "b"}})
    tour.ask(at["collection"], "get", 200)
    tour.ask(at["of_subscription"], "get", 200)
    tour.ask(at["of_group"], "get", 200)
    for name, properties in jobs(sink).items():
        tour.ask(at["job"], "put", 201, body={"properties": properties}, job=name)
    tour.ask(at["job"], "put", 200, body={"properties": jobs(sink)["job"]})
    tour.ask(at["job"], "put", 400, body={"properties": {}})
    tour.ask(at["job"], "put", 404, body={"properties": jobs(sink)["job"]}, jobCollection="no")
    tour.ask(at["job"], "get", 404, job="no")
    tour.ask(at["job"], "patch", 200, body={"properties": {"action": {"timeout": "PT9S"}}})
    tour.ask(at["job"], "patch", 400, body={"properties": {"state": "odd"}})
    tour.ask("/clock", "post", 200, body={"advance": "PT0S"}, query=None)
    trying = tour.ask(at["job"], "get", 200)
    with tour.suite.case("a job that is being tried says so"):
        equal(trying.properties["status"]["currentAttempt"]["retryCount"], 1)
    tour.ask("/clock", "post", 200, body={"advance": "PT10M"}, query=None)
    tour.ask("/clock", "get", 200, query=None)
    tour.ask("/clock", "post", 400, body={"odd": 1}, query=None)
    for name in jobs(sink):
        tour.ask(at["job"], "get", 200, job=name)
    tour.ask(at["jobs"], "get", 200)
    tour.ask(at["jobs"], "get", 400, query=f"api-version={VERSION}&$filter=state%20eq%20odd")
    tour.ask(at["history"], "get", 200)
    tour.ask(at["history"], "get", 404, job="no")
    tour.ask(at["preflight"], "post", 200)
    tour.ask(at["preflight"], "post", 404, job="no")
    tour.ask(at["run"], "post", 409, job="topic")
    tour.ask(at["run"], "post", 200)
    for verb in ("disable_job", "enable_job"):
        tour.ask(at[verb], "post", 200)
        tour.ask(at[verb], "post", 409, job="once")
        tour.ask(at[verb], "post", 404, job="no")
    tour.ask(at["disable"], "post", 200)
    tour.ask(at["enable"], "post", 200)
    tour.ask(at["enable"], "post", 404, jobCollection="no")
    tour.ask(at["job"], "delete", 200)
    tour.ask(at["collection"], "delete", 200)


def server_itself(tour):
    tour.ask("/healthz", "get", 200, query=None)
    tour.ask("/readyz", "get", 200, query=None)
    tour.ask("/metrics", "get", 200, query=None)
    tour.ask("/openapi.json", "get", 200, query=None)
    tour.ask("/metrics", "get", 403, query=None, headers={"Origin": "http://elsewhere.example"})


def access(tour, owner):
    made = tour.ask("/belfry/tokens", "post", 201, query=None, body={
        "name": "reader", "assignments": [{"role": "Reader", "scope": "/subscriptions/sub"}],
        "expires": "P1D"})
    tour.ask("/belfry/tokens", "post", 400, query=None, body={"name": "x"})
    tour.ask("/belfry/tokens", "get", 200, query=None)
    tour.ask("/belfry/tokens/{token}", "delete", 404, query=None)
    tour.ask("/belfry/tokens/{token}", "delete", 200, query=None, token=made.json["id"])
    tour.ask("/belfry/audit", "get", 200, query=None)
    tour.ask("/belfry/audit", "get", 400, query="$filter=odd")
    reader = owner.caller(("Reader", scope_of("sub")))
    nobody = Client(owner.port)
    for path, method in tour.description.operations():
        if path in ("/healthz", "/readyz", "/openapi.json"):
            tour.ask(path, method, 200, query=None, client=nobody)
        elif path != "/clock":
            tour.ask(path, method, 401, client=nobody, body="{}" if method != "get" else None)
    tour.ask("/belfry/tokens", "get", 403, query=None, client=reader)
    tour.ask("/metrics", "get", 403, query=None, client=reader)


def only_what_is_described(suite, description, client):
    for path, item in description.document["paths"].items():
        described = {method for method in METHODS if method in item}
        with suite.case(f"{path}: what is not described is not possible"):
            for method in set(METHODS) - described:
                answer = client.request(method.upper(), filled(path), "{}")
                equal(answer.status, 405, f"{method} {path}: {answer}")
                allowed = {one.strip().lower() for one in answer.headers["Allow"].split(",")}
                # HEAD is possible wherever GET is, and is not described apart.
                equal(allowed - {"head"}, described, path)


def main():
    binary = binary_of(sys.argv)
    suite = Suite()
    sink = targets.Sink()
    sink.statuses["/bad"] = 500
    with Server(binary, "--virtual-clock", NOW) as server:
        client = Client(server.port)
        document = client.get("/openapi.json", query=None).json
        description = Description(document)
        with suite.case("it is OpenAPI 3.1, and its schemas are schemas"):
            equal(document["openapi"], "3.1.0")
            for schema in document["components"]["schemas"].values():
                jsonschema.Draft202012Validator.check_schema(schema)
        with suite.case("every reference leads somewhere"):
            for reference in references(document):
                node = document
                for part in reference.removeprefix("#/").split("/"):
                    node = node[part]
        tour = Tour(suite, description, client)
        arm(tour, places(description), sink)
        server_itself(tour)
        only_what_is_described(suite, description, client)
    with Server(binary, "--auth", "token") as server:
        owner = Owner(server)
        access(Tour(suite, description, owner.client), owner)
    with suite.case("every operation was asked for what it does"):
        done = {(path, method) for path, method, status in description.seen if status < 300}
        equal(sorted(set(description.operations()) - done), [])
    return suite.finish()


def references(node):
    if isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for value in node.values():
            yield from references(value)
    elif isinstance(node, list):
        for value in node:
            yield from references(value)


if __name__ == "__main__":
    sys.exit(main())
