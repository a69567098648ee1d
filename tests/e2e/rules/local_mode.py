# SPDX-License-Identifier: MIT
"""Local mode is not a hole: a web page of somebody else cannot reach the API."""
from rest import Client, Group, collection_body
from suite import equal, holds

HOSTS = {  # Host header: is it this machine?
    "127.0.0.1": True, "127.0.0.1:{port}": True, "localhost:{port}": True, "LOCALHOST": True,
    "[::1]:{port}": True, "127.1.2.3": True,
    "example.com": False, "example.com:{port}": False, "127.0.0.1.example.com": False,
    "localhost.example.com": False, "10.0.0.1": False, "0.0.0.0": False, "192.168.1.1": False,
    "[::ffff:10.0.0.1]": False, "127.0.0.1@example.com": False, "1270.0.0.1": False,
    "127.0.0": False, "": False,
}
ORIGINS = {
    "http://127.0.0.1:{port}": True,
    "http://example.com": False, "https://127.0.0.1:{port}": False, "null": False,
    "http://127.0.0.1": False, "http://127.0.0.1:1": False, "http://localhost:{port}": False,
    "http://127.0.0.1:{port}.example.com": False, "file://": False,
}


def run(suite, server):
    client = Client(server.port)
    group = Group()
    client.put(group.collection(), collection_body())
    path = group.collection()
    for host, ours in HOSTS.items():
        host = host.format(port=server.port)
        with suite.case(f"Host {host!r} is {'served' if ours else 'refused'}"):
            _served(client.get(path, headers={"Host": host}), ours)
    for origin, ours in ORIGINS.items():
        origin = origin.format(port=server.port)
        with suite.case(f"Origin {origin} is {'served' if ours else 'refused'}"):
            _served(client.get(path, headers={"Origin": origin}), ours)
    with suite.case("a refused write stores nothing, whatever the verb"):
        for verb, where in [("PUT", group.collection("evil")), ("DELETE", path),
                            ("PATCH", path), ("POST", path + "/disable")]:
            answer = client.request(verb, where, collection_body(tags={"a": "b"}),
                                    headers={"Origin": "http://example.com"})
            equal(answer.status, 403)
        equal(client.get(group.collection("evil")).status, 404)
        equal(client.get(path).json["properties"]["state"], "Enabled")
        holds("tags" not in client.get(path).json, "unchanged")


def _served(answer, ours):
    if ours:
        equal(answer.status, 200, answer)
        return
    # What is no host at all is refused before anybody asks whose it is.
    holds(answer.status in (403, 400), answer)
    holds(answer.error["code"] and answer.error["message"], answer)
    if answer.status == 403:
        equal(answer.error["code"], "AuthorizationFailed")
