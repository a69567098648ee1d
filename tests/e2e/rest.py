# SPDX-License-Identifier: MIT
"""The REST API spoken by hand: addresses, and a client that hides nothing of an answer."""
import http.client
import itertools
import json
import threading

VERSION = "2016-03-01"
AHEAD = "2099-01-01T00:00:00Z"  # when jobs of the tests begin: they are kept, and do not run
PROVIDER = "providers/Microsoft.Scheduler"
_numbers = itertools.count(1)


class Group:
    """A resource group of a subscription that nobody else uses."""

    def __init__(self, subscription=None, name="group"):
        self.subscription = subscription or f"sub-{next(_numbers)}"
        self.name = name

    def all_collections(self):
        return f"/subscriptions/{self.subscription}/{PROVIDER}/jobCollections"

    def collections(self):
        return (f"/subscriptions/{self.subscription}/resourceGroups/{self.name}/{PROVIDER}"
                "/jobCollections")

    def collection(self, name="jc"):
        return f"{self.collections()}/{name}"

    def job(self, name="job", collection="jc"):
        return f"{self.collection(collection)}/jobs/{name}"


class Answer:
    def __init__(self, response, body):
        self.status = response.status
        self.headers = response.headers
        self.body = body

    @property
    def json(self):
        return json.loads(self.body.decode("utf-8"))

    @property
    def properties(self):
        return self.json["properties"]

    @property
    def error(self):
        return self.json["error"]

    def __repr__(self):
        return f"{self.status} {self.body[:600]!r}"


class Client:
    """One kept connection per thread."""

    def __init__(self, port, token=None):
        self._port = port
        self._credential = {"Authorization": f"Bearer {token}"} if token else {}
        self._mine = threading.local()

    def request(self, method, path, body=None, headers=None, query=f"api-version={VERSION}"):
        """`body`: bytes and text are sent as they are, everything else as JSON."""
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if isinstance(body, str):
            body = body.encode()
        connection = self._connection()
        target = f"{path}?{query}" if query else path
        try:
            connection.request(method, target, body, self._credential | (headers or {}))
            response = connection.getresponse()
            return Answer(response, response.read())
        except BaseException:
            connection.close()
            raise

    def get(self, path, **more):
        return self.request("GET", path, **more)

    def put(self, path, body=None, **more):
        return self.request("PUT", path, body, **more)

    def patch(self, path, body=None, **more):
        return self.request("PATCH", path, body, **more)

    def post(self, path, **more):
        return self.request("POST", path, **more)

    def delete(self, path, **more):
        return self.request("DELETE", path, **more)

    def _connection(self):
        if not hasattr(self._mine, "connection"):
            self._mine.connection = http.client.HTTPConnection("127.0.0.1", self._port,
                                                               timeout=60)
        return self._mine.connection


def collection_body(sku="Standard", location="West Europe", **more):
    """`state`, `quota` go into the properties, `tags` beside them."""
    body = {"location": location, "properties": {"sku": {"name": sku}}}
    if "tags" in more:
        body["tags"] = more.pop("tags")
    body["properties"].update(more)
    return body


def job_body(action=None, **properties):
    """A job that begins AHEAD unless the properties say otherwise; None is "not given"."""
    properties = {"startTime": AHEAD, "action": action or http_action(), **properties}
    return {"properties": {k: v for k, v in properties.items() if v is not None}}


def http_action(**request):
    return {"type": "Http",
            "request": {"uri": "http://127.0.0.1:1/hook", "method": "POST", **request}}
