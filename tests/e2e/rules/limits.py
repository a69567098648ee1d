# SPDX-License-Identifier: MIT
"""Every limit, from both sides: what just fits, and what is one too many."""
import json

from rest import Client, Group, collection_body, http_action, job_body
from suite import equal, holds

URI_MAX = 2048
HEADERS_MAX = 50
HEADERS_CHARACTERS_MAX = 4096
BODY_MAX = 8192
JOB_MAX = 16 * 1024
DEPTH_MAX = 32
DECIDES = "The server's setting body-max decides how many."
REQUEST_MAX = 256 * 1024
TARGET_MAX = 8 * 1024
HEAD_MAX = 16 * 1024


def uri_of(length):
    prefix = "http://h/"
    return prefix + "a" * (length - len(prefix))


def headers_of(total):
    """Two headers of `total` characters, names and values together."""
    return {"a": "x" * (total // 2 - 1), "b": "y" * (total - total // 2 - 1)}


def nested(depth):
    """A job whose deepest bracket is the depth-th; the unknown member is ignored."""
    inner = "[" * (depth - 2) + "]" * (depth - 2)
    text = json.dumps(job_body(deep=0))
    return text.replace('"deep": 0', f'"deep": {inner}')


def bus_action(**more):
    return {"type": "ServiceBusQueue", "serviceBusQueueMessage": {
        "namespace": "n", "queueName": "q", "message": "m",
        "authentication": {"sasKeyName": "k", "sasKey": "s"}, **more}}


JOBS = [  # limit, a job that fits, one that does not, the member that is named
    ("URL of 2,048 characters", job_body(http_action(uri=uri_of(URI_MAX))),
     job_body(http_action(uri=uri_of(URI_MAX + 1))), "properties.action.request.uri"),
    ("50 headers", job_body(http_action(headers={f"h{i}": "" for i in range(HEADERS_MAX)})),
     job_body(http_action(headers={f"h{i}": "" for i in range(HEADERS_MAX + 1)})),
     "properties.action.request.headers"),
    ("headers of 4,096 characters",
     job_body(http_action(headers=headers_of(HEADERS_CHARACTERS_MAX))),
     job_body(http_action(headers=headers_of(HEADERS_CHARACTERS_MAX + 1))),
     "properties.action.request.headers"),
    ("body of 8,192 characters", job_body(http_action(body="b" * BODY_MAX)),
     job_body(http_action(body="b" * (BODY_MAX + 1))), "properties.action.request.body"),
    ("50 custom properties",
     job_body(bus_action(customMessageProperties={f"p{i}": "" for i in range(50)})),
     job_body(bus_action(customMessageProperties={f"p{i}": "" for i in range(51)})),
     "properties.action.serviceBusQueueMessage.customMessageProperties"),
    ("retryCount of 20",
     job_body({**http_action(), "retryPolicy": {"retryType": "fixed", "retryCount": 20}}),
     job_body({**http_action(), "retryPolicy": {"retryType": "fixed", "retryCount": 21}}),
     "properties.action.retryPolicy.retryCount"),
]


def run(suite, server):
    client = Client(server.port)
    group = Group()
    client.put(group.collection(), collection_body("P20Premium"))
    _jobs(suite, client, group)
    _job_size(suite, client, group)
    _json(suite, client, group)
    _requests(suite, client, group)
    _tags(suite, client)


def _jobs(suite, client, group):
    for number, (limit, fits, exceeds, target) in enumerate(JOBS):
        path = group.job(f"limit{number}")
        with suite.case(f"{limit}: fits"):
            answer = client.put(path, fits)
            equal(answer.status, 201, answer)
            equal(client.get(path).body, answer.body)
        with suite.case(f"{limit}: one more is refused, by PUT and by PATCH"):
            before = client.get(path).body
            for write in (client.put, client.patch):
                answer = write(path, exceeds)
                equal((answer.status, answer.error["code"]), (400, "BadRequest"), answer)
                equal(answer.error["target"], target)
            equal(client.get(path).body, before)


def _job_size(suite, client, group):
    """No member is too long, but all of them together are."""
    def job(size):
        action = {**http_action(body="a" * BODY_MAX),
                  "errorAction": http_action(body="b" * size)}
        return job_body(action)

    path = group.job("size")
    shown = client.put(path, job(1)).properties
    stored = {"startTime": shown["startTime"], "action": shown["action"]}
    others = len(json.dumps(stored, separators=(",", ":"))) - 1
    with suite.case("a job of 16 KB fits"):
        answer = client.put(path, job(JOB_MAX - others))
        equal(answer.status, 200, answer)
    with suite.case("a job of 16 KB and one byte answers 400"):
        before = client.get(path).body
        answer = client.put(path, job(JOB_MAX - others + 1))
        equal((answer.status, answer.error["code"]), (400, "BadRequest"), answer)
        holds(f"at most 16384 are allowed. {DECIDES}" in answer.error["message"], answer)
        equal(client.get(path).body, before)
    with suite.case("secrets count as well"):
        body = job(JOB_MAX - others - 200)
        body["properties"]["action"]["request"]["authentication"] = {
            "type": "Basic", "username": "u", "password": "p" * 300}
        equal(client.put(path, body).status, 400)


def _json(suite, client, group):
    path = group.job("json")
    with suite.case(f"JSON that is {DEPTH_MAX} deep is read"):
        answer = client.put(path, nested(DEPTH_MAX))
        equal((answer.status, answer.headers["x-belfry-ignored"]), (201, "properties.deep"))
    for depth in (DEPTH_MAX + 1, 1000, 100_000):
        with suite.case(f"JSON that is {depth} deep is refused"):
            answer = client.put(path, nested(depth))
            equal((answer.status, answer.error["code"]), (400, "BadRequest"), answer)
    duplicates = ['{"properties":{"action":1},"properties":{}}',
                  '{"properties":{"action":{"type":"Http","type":"Http"}}}',
                  '{"a":[{"b":1,"b":2}]}', '{"\\u0061":1,"a":2}', '{"":1,"":1}']
    for text in duplicates:
        with suite.case(f"a member given twice is refused: {text}"):
            answer = client.put(path, text)
            equal(answer.status, 400, answer)
            holds("given twice" in answer.error["message"], answer)
    malformed = [b"{", b"}", b"{]", b"{,}", b'{"a":}', b'{"a":1,}', b"{'a':1}", b"{a:1}",
                 b'{"a":01}', b'{"a":+1}', b'{"a":.5}', b'{"a":NaN}', b'{"a":Infinity}',
                 b'{"a":"\x01"}', b'{"a":"\\x"}', b'{"a":"\\ud800"}', b'{"a":"\xff"}',
                 b'{"a":"\xc0\xaf"}', b"{} {}", b"{}x", b"// comment\n{}", b'{"a":1 /* b */}',
                 b"\xef\xbb\xbf{}", "{}".encode("utf-16"), b"\x00", b'{"a":"\x00"}', b'{"a"',
                 b'{"a":tru}', b'{"a":1e}', b'{"a":1-}', b'{"a":"', b"nul"]
    for body in malformed:
        with suite.case(f"malformed: {body[:40]}"):
            answer = client.put(path, body)
            equal((answer.status, answer.error["code"]), (400, "BadRequest"), answer)
            holds(answer.error["message"].startswith("Malformed Job Object"), answer)
    with suite.case("where the JSON is malformed is said"):
        answer = client.put(path, b'{\n  "properties": {\n    "action": ]\n')
        holds("line 3, column 15" in answer.error["message"], answer)


def _requests(suite, client, group):
    path = group.job("requests")
    body = json.dumps(job_body()).encode()
    with suite.case("a request body of 256 KB is read"):
        answer = client.put(path, body + b" " * (REQUEST_MAX - len(body)))
        equal(answer.status, 201, answer)
    with suite.case("one byte more answers 413"):
        answer = client.put(path, body + b" " * (REQUEST_MAX - len(body) + 1))
        equal((answer.status, answer.error["code"]), (413, "RequestEntityTooLarge"))
        equal(answer.error["message"],
              f"The body has {REQUEST_MAX + 1} bytes; {REQUEST_MAX} are allowed. {DECIDES}")
    with suite.case("a target of 8 KB is read; one byte more answers 414"):
        for length, status in [(TARGET_MAX, 200), (TARGET_MAX + 1, 414)]:
            query = "api-version=2016-03-01&x="
            query += "y" * (length - len(path) - 1 - len(query))
            answer = client.get(path, query=query)
            equal(answer.status, status, answer)
        equal(answer.error["message"],
              f"The request target has {TARGET_MAX + 1} bytes; {TARGET_MAX} are allowed.")
    with suite.case("a head of more than 16 KB answers 431"):
        answer = client.get(path, headers={"x-long": "y" * HEAD_MAX})
        equal(answer.status, 431)
        holds(answer.error["code"] and answer.error["message"], answer)
    with suite.case("more than 100 headers answer 431"):
        answer = client.get(path, headers={f"x-{i}": "y" for i in range(101)})
        equal(answer.status, 431)


def _tags(suite, client):
    cases = [("50 tags", {f"t{i}": "" for i in range(50)}, 201),
             ("51 tags", {f"t{i}": "" for i in range(51)}, 400),
             ("a tag's name of 512 bytes", {"t" * 512: "v"}, 201),
             ("a tag's name of 513 bytes", {"t" * 513: "v"}, 400),
             ("a tag's value of 256 bytes", {"t": "v" * 256}, 201),
             ("a tag's value of 257 bytes", {"t": "v" * 257}, 400)]
    for sentence, tags, status in cases:
        with suite.case(f"{sentence}: {status}"):
            answer = client.put(Group().collection(), collection_body(tags=tags))
            equal(answer.status, status, answer)
