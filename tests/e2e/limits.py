#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The limits that all clients share, provoked on the real server. What a single job or request
may be is shown in rules/limits.py and rules/quotas.py.

    limits.py PATH_OF_BELFRY
"""
import contextlib
import socket
import sys

import targets
from principals import Owner, scope_of
from raw_http import RawConnection
from rest import AHEAD, VERSION, Client, Group, collection_body
from server import Server
from suite import Suite, binary_of, equal, holds

BURST = 10  # a bucket holds what comes back in ten seconds
CLOCK = ("--virtual-clock", "2030-01-01T00:00:00Z")  # stands still, and so do the buckets


def throttled(answer):
    """What every refusal for the rate has in common; how many seconds to wait."""
    equal(answer.status, 429, answer)
    equal(answer.error["code"], "TooManyRequests")
    equal(answer.headers["Content-Type"], "application/json; charset=utf-8")
    seconds = int(answer.headers["Retry-After"])
    holds(seconds >= 1, answer.headers)
    holds(f"'{seconds}' seconds" in answer.error["message"], answer)
    return seconds


def rates_of_subscriptions(suite, binary):
    with Server(binary, *CLOCK, "--limit-subscription-writes", "1",
                "--limit-subscription-reads", "1") as server:
        client, group, other = Client(server.port), Group(), Group()
        path = group.collection()
        with suite.case("a write says how many are left"):
            answers = [client.put(path, collection_body()) for _ in range(BURST)]
            equal([a.headers["x-ms-ratelimit-remaining-subscription-writes"] for a in answers],
                  [str(left) for left in reversed(range(BURST))])
            equal({a.headers["x-ms-ratelimit-remaining-subscription-reads"] for a in answers},
                  {None})
        with suite.case("writes beyond the rate are answered 429 and change nothing"):
            answer = client.put(group.collection("second"), collection_body())
            throttled(answer)
            equal(answer.headers["x-ms-ratelimit-remaining-subscription-writes"], "0")
            holds(f"'write' requests for subscription '{group.subscription}'" in
                  answer.error["message"], answer)
            equal(client.get(group.collection("second")).status, 404)
        with suite.case("reads are counted apart, and by the spelling of no letter"):
            answer = client.get(path)
            equal(answer.status, 200)
            equal(answer.headers["x-ms-ratelimit-remaining-subscription-reads"], str(BURST - 2))
            shouted = client.get(Group(group.subscription.upper()).collection())
            equal(shouted.headers["x-ms-ratelimit-remaining-subscription-reads"], str(BURST - 3))
        with suite.case("another subscription has buckets of its own"):
            equal(client.put(other.collection(), collection_body()).status, 201)
        with suite.case("whoever waits as long as was said is served again"):
            seconds = throttled(client.put(path, collection_body()))
            moved = client.request("POST", "/clock", {"advance": f"PT{seconds}S"})
            equal(moved.status, 200, moved)
            equal(client.put(path, collection_body()).status, 201)
            throttled(client.put(path, collection_body()))
        with suite.case("health and readiness are never refused"):
            for probe in ("/healthz", "/readyz"):
                equal({client.get(probe).status for _ in range(3 * BURST)}, {200})


def rates_of_credentials(suite, binary):
    with Server(binary, *CLOCK, "--auth", "token", "--limit-credential-reads", "1") as server:
        owner = Owner(server)
        group = Group()
        first = owner.caller(("Reader", scope_of(group.subscription)), name="first")
        second = owner.caller(("Reader", scope_of(group.subscription)), name="second")
        with suite.case("a credential has its rate, whatever it asks for"):
            paths = [Group().collection(), group.all_collections(), "/belfry/audit"]
            for number in range(BURST):
                holds(first.get(paths[number % 3]).status in (200, 403, 404), number)
            answer = first.get(group.all_collections())
            throttled(answer)
            holds("'read' requests for client 'first'" in answer.error["message"], answer)
        with suite.case("another credential is not affected"):
            equal(second.get(group.all_collections()).status, 200)
        with suite.case("what is not authenticated counts for nobody"):
            stranger = Client(server.port, "belfry_0000")
            equal({stranger.get(group.all_collections()).status for _ in range(3 * BURST)}, {401})


def rate_of_failures(suite, binary):
    with Server(binary, *CLOCK, "--auth", "token",
                "--limit-failed-authentications", "1") as server:
        owner = Owner(server)
        group = Group()
        path = group.all_collections()
        known = owner.caller(("Reader", scope_of(group.subscription)))
        another = owner.caller(("Reader", scope_of(group.subscription)))
        stranger = Client(server.port, "belfry_0000")
        with suite.case("who tries credentials is refused after a while, whatever they try"):
            equal(known.get(path).status, 200)
            equal([stranger.get(path).status for _ in range(BURST)], [401] * BURST)
            throttled(stranger.get(path))
            answer = Client(server.port).get(path)
            throttled(answer)
            holds("requests from this address without a known access token" in
                  answer.error["message"], answer)
            holds(answer.headers["x-ms-request-id"], answer.headers)
        with suite.case("who was let in before is let in; who was not has to wait like the others"):
            equal(known.get(path).status, 200)
            seconds = throttled(another.get(path))
            equal(owner.client.request("POST", "/clock", {"advance": f"PT{seconds}S"}).status, 200)
            equal(another.get(path).status, 200)
            equal(another.get(path).status, 200)
        with suite.case("a credential that was revoked is a stranger's"):
            token = owner.token(("Reader", scope_of(group.subscription)))
            former = Client(server.port, token["token"])
            equal(former.get(path).status, 200)
            equal(owner.client.delete(f"/belfry/tokens/{token['id']}", query=None).status, 200)
            equal(former.get(path).status, 401)
            throttled(former.get(path))
        with suite.case("health is told to anybody"):
            equal(stranger.get("/healthz").status, 200)


def rate_of_failures_behind_a_proxy(suite, binary):
    def from_address(client, address):
        return client.get(path, headers={"X-Forwarded-For": f"192.0.2.9, {address}"})

    path = Group("s").all_collections()
    flags = (*CLOCK, "--auth", "token", "--limit-failed-authentications", "1")
    with Server(binary, *flags, "--behind-proxy") as server:
        new = Owner(server).caller(("Reader", scope_of("s")))
        stranger = Client(server.port, "belfry_0000")
        with suite.case("behind a proxy, who tries credentials shuts out nobody elsewhere"):
            equal([from_address(stranger, f"192.0.2.1:{port}").status for port in range(BURST)],
                  [401] * BURST)
            throttled(from_address(stranger, "192.0.2.1"))
            equal(from_address(stranger, "192.0.2.2").status, 401)
            equal(from_address(new, "[2001:db8::1]:50000").status, 200)
        with suite.case("the addresses of an IPv6 network count as one: whoever has one has all"):
            for number in range(BURST):
                equal(from_address(stranger, f"2001:db8:1:1::{number}").status, 401)
            throttled(from_address(stranger, "2001:db8:1:1:f::"))
            equal(from_address(stranger, "2001:db8:1:2::").status, 401)
    with Server(binary, *flags) as server:
        stranger = Client(server.port, "belfry_0000")
        with suite.case("without a proxy nobody is believed to call from elsewhere"):
            for number in range(BURST):
                equal(from_address(stranger, f"192.0.2.{number}").status, 401)
            throttled(from_address(stranger, "192.0.2.100"))


def turned_away_by_the_head(suite, binary):
    with Server(binary, *CLOCK, "--auth", "token", "--limit-credential-writes", "1") as server:
        owner = Owner(server)
        group = Group()
        token = owner.token(("Contributor", scope_of(group.subscription)))["token"]
        writer = Client(server.port, token)
        with suite.case("a write too many is answered before its body has come"):
            for _ in range(BURST):
                answer = writer.put(group.collection(), collection_body())
                holds(answer.status in (200, 201), answer)
            connection = RawConnection(server.port)
            answer = connection.ask((
                f"PUT {group.collection()}?api-version={VERSION} HTTP/1.1\r\nHost: a\r\n"
                f"Authorization: Bearer {token}\r\nContent-Length: 200000\r\n\r\n").encode())
            equal(answer.status, 429)
            connection.close()


def turned_away_by_the_subscription(suite, binary):
    """A request that nobody waits for the body of was judged by its head."""
    with Server(binary, *CLOCK, "--auth", "token", "--limit-subscription-writes", "1") as server:
        owner = Owner(server)
        group = Group()

        def status_of(method, token, path):
            connection = RawConnection(server.port)
            answer = connection.ask((
                f"{method} {path}?api-version={VERSION} HTTP/1.1\r\nHost: a\r\n"
                f"Authorization: Bearer {token}\r\nContent-Length: 200000\r\n\r\n").encode())
            connection.close()
            return answer.status

        tokens = {role: owner.token((role, scope_of(group.subscription)))["token"]
                  for role in ("Contributor", "Operator")}
        with suite.case("a write too many for a subscription is answered before its body came"):
            operator = Client(server.port, tokens["Operator"])
            equal(operator.put(group.collection(), collection_body()).status, 403)
            writer = Client(server.port, tokens["Contributor"])
            for _ in range(BURST):
                equal(writer.put(group.collection(), collection_body()).status, 201)
            for method in ("PUT", "PATCH", "DELETE"):
                equal(status_of(method, tokens["Contributor"], group.collection()), 429)
            answer = writer.put(group.collection(), collection_body())
            throttled(answer)
            equal(answer.headers["x-ms-ratelimit-remaining-subscription-writes"], "0")
        with suite.case("who may not write there is told that, and not what others have used up"):
            equal(operator.put(group.collection(), collection_body()).status, 403)
            throttled(operator.post(group.collection() + "/disable"))
            throttled(operator.patch(group.collection(), {"properties": {"state": "Disabled"}}))


def who_may_not_ask_takes_nothing(suite, binary):
    with Server(binary, *CLOCK, "--auth", "token", "--limit-subscription-reads",
                "1") as server:
        owner = Owner(server)
        group = Group()
        stranger = owner.caller(("Reader", scope_of("elsewhere")))
        mine = owner.caller(("Reader", scope_of(group.subscription)))
        left = "x-ms-ratelimit-remaining-subscription-reads"
        with suite.case("a stranger cannot use up a subscription's rate"):
            equal({stranger.get(group.collection()).status for _ in range(3 * BURST)}, {404})
            equal(mine.get(group.all_collections()).headers[left], str(BURST - 1))
        with suite.case("nor by lists, which show a stranger nothing, not even what is left"):
            for path in (group.all_collections(), group.collections()):
                for _ in range(3 * BURST):
                    answer = stranger.get(path)
                    equal((answer.status, answer.json["value"], answer.headers[left]),
                          (200, [], None))
            equal(mine.get(group.all_collections()).headers[left], str(BURST - 2))
        with suite.case("a stranger does not learn that a subscription's rate is used up"):
            while mine.get(group.collection()).status != 429:
                pass
            equal([stranger.get(path).status for path in (group.collection(), group.job(),
                                                          group.all_collections())],
                  [404, 404, 200])
            equal(stranger.put(group.collection(), collection_body()).status, 404)


def methods_of_probes(suite, binary):
    with Server(binary, *CLOCK) as server:
        client = Client(server.port)
        with suite.case("what can only be read says so"):
            for path in ("/healthz", "/readyz", "/openapi.json", "/metrics"):
                for method in ("POST", "PUT", "DELETE"):
                    answer = client.request(method, path, {})
                    equal((answer.status, answer.headers["Allow"]), (405, "GET, HEAD"), path)
                equal(client.request("HEAD", path).status, 200)
        with suite.case("a clock is read and moved"):
            answer = client.request("DELETE", "/clock")
            equal((answer.status, answer.headers["Allow"]), (405, "GET, HEAD, POST"))
            equal(client.request("HEAD", "/clock").status, 200)


def no_rates_in_local_mode(suite, binary):
    with Server(binary, log_level="warning") as server:
        client, group = Client(server.port), Group()
        with suite.case("in local mode a bulk load is not hindered"):
            answers = [client.put(group.collection(f"c{number % 50}"), collection_body())
                       for number in range(1000)]
            equal({answer.status for answer in answers}, {201})
            equal({answer.headers["x-ms-ratelimit-remaining-subscription-writes"]
                   for answer in answers}, {None})


def hammering_is_slowed(suite, binary):
    with Server(binary, *CLOCK, "--limit-subscription-reads", "1") as server:
        group = Group()
        request = (f"GET {group.all_collections()}?api-version={VERSION} HTTP/1.1\r\n"
                   "Host: localhost\r\n\r\n").encode()
        with suite.case("a client that asks on after a 429 is listened to later, and answered"):
            connection = RawConnection(server.port)
            statuses = [connection.ask(request).status for _ in range(BURST + 2)]
            equal(statuses, [200] * BURST + [429, 429])


@contextlib.contextmanager
def silent_clients(port, count, first_bytes=b""):
    sockets = []
    try:
        for _ in range(count):
            sockets.append(socket.create_connection(("127.0.0.1", port), timeout=60))
            sockets[-1].sendall(first_bytes)
        yield sockets
    finally:
        for one in sockets:
            one.close()


def closed(connection):
    """Waits until the server has closed it, and says whether it did without a word."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def connections(suite, binary):
    for what, first_bytes in (("silent", b""), ("slow", b"GET /subscriptions/")):
        with Server(binary, "--connections-max", "20") as server, \
                silent_clients(server.port, 20, first_bytes) as clients:
            with suite.case(f"{what} clients cannot shut out others for longer than a second"):
                client = Client(server.port)
                statuses = []
                while not statuses or statuses[-1] == 503:
                    answer = client.get("/healthz")
                    statuses.append(answer.status)
                    if answer.status == 503:
                        equal(answer.headers["Retry-After"], "1")
                        equal(answer.error["code"], "ServerBusy")
                equal(statuses[-1], 200)
                holds(closed(clients[0]), "whoever was silent longest gave way")


def turned_away(client):
    """With 503, or without a word where too many are told so at a time."""
    try:
        return client.get("/healthz").status == 503
    except ConnectionError:
        return True


def files(suite, binary):
    """Silent clients, more than the process may have files, and somebody who wants something."""
    sink = targets.Sink()
    with Server(binary, files_max=256) as server, silent_clients(server.port, 300):
        client, group = Client(server.port), Group()
        with suite.case("clients cannot take the files that others and calls to targets need"):
            while turned_away(client):
                pass
            equal(client.put(group.collection(), collection_body()).status, 201)
            action = {"type": "Http", "request": {"method": "GET", "uri": sink.url("/rung")}}
            equal(client.put(group.job(), {"properties": {"action": action}}).status, 201)
            job = client.get(group.job()).properties
            while job["state"] == "enabled" and not job["status"]["failureCount"]:
                job = client.get(group.job()).properties
            equal((job["state"], len(sink.at("/rung"))), ("completed", 1))
        with suite.case("that clients may be fewer than connections-max is said at the start"):
            holds('than connections-max says clients="128" files="256"' in server.log(),
                  server.log())


def large_bodies(suite, binary):
    most = 1024 * 1024

    def job_with(body):
        return {"properties": {"startTime": AHEAD, "action": {"type": "Http", "request": {
            "method": "POST", "uri": "http://h/", "body": body}}}}

    with Server(binary, "--body-max", str(most)) as server:
        client, group = Client(server.port), Group()
        client.put(group.collection(), collection_body("P20Premium"))
        body = "\u20ac\"" * (most // 4)
        with suite.case("a body of a megabyte is taken where body-max allows it, not a byte more"):
            equal(client.put(group.job(), job_with(body)).status, 201)
            equal(client.get(group.job()).properties["action"]["request"]["body"], body)
            answer = client.put(group.job("larger"), job_with(body + "x"))
            equal((answer.status, answer.error["target"]), (400, "properties.action.request.body"))
            holds("at most 1048576 are allowed. The server's setting body-max decides how many."
                  in answer.error["message"], answer)
        with suite.case("a page of jobs is shorter then, and leads to the next"):
            for number in range(40):
                equal(client.put(group.job(f"small-{number}"), job_with("x")).status, 201)
            page = client.get(group.collection() + "/jobs").json
            equal(len(page["value"]), 32)
            rest = client.get(group.collection() + "/jobs",
                              query=page["nextLink"].split("?", 1)[1]).json
            equal((len(rest["value"]), rest["nextLink"]), (9, None))
        client = Client(server.restart().port)
        with suite.case("a body that was allowed once stays, and its job may be changed otherwise"):
            answer = client.patch(group.job(), {"properties": {"state": "Disabled"}})
            equal((answer.status, answer.properties["state"]), (200, "disabled"))
            equal(client.get(group.job()).properties["action"]["request"]["body"], body)
            for operation in ("enable", "disable"):
                equal(client.post(f"{group.job()}/{operation}").status, 200)
            equal(client.put(group.job(), job_with("x" * 8193)).status, 400)


def main():
    suite = Suite()
    binary = binary_of(sys.argv)
    rates_of_subscriptions(suite, binary)
    rates_of_credentials(suite, binary)
    rate_of_failures(suite, binary)
    rate_of_failures_behind_a_proxy(suite, binary)
    turned_away_by_the_head(suite, binary)
    turned_away_by_the_subscription(suite, binary)
    methods_of_probes(suite, binary)
    who_may_not_ask_takes_nothing(suite, binary)
    no_rates_in_local_mode(suite, binary)
    hammering_is_slowed(suite, binary)
    connections(suite, binary)
    files(suite, binary)
    large_bodies(suite, binary)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
