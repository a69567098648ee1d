# SPDX-License-Identifier: MIT
"""Requests that no good client sends, made out of good ones: see odd_request()."""
import json

from odd_json import odd_body
from rest import collection_body, http_action, job_body

VERSION = "api-version=2016-03-01"

# Disabled, so that a job which happens to be good and due at once is not sent anywhere.
COLLECTIONS = {
    "first": collection_body("P20Premium", state="Disabled", tags={"team": "ops"}, quota={
        "maxJobCount": 100, "maxRecurrence": {"frequency": "Minute", "interval": 1}}),
    "free": collection_body("Free", state="Disabled"),
}
JOBS = {
    "http": job_body({**http_action(headers={"a": "b"}, body="text", authentication={
        "type": "Basic", "username": "u", "password": "p"}),
        "retryPolicy": {"retryType": "Fixed", "retryInterval": "PT1M", "retryCount": 2},
        "errorAction": {"type": "StorageQueue", "queueMessage": {
            "storageAccount": "a", "queueName": "q", "sasToken": "s", "message": "m"}}},
        state="Enabled", recurrence={
            "frequency": "Week", "interval": 2, "count": 10, "endTime": "2099-12-31T00:00:00Z",
            "schedule": {"minutes": [0], "hours": [5, 6], "weekDays": ["Monday", "Friday"]}}),
    "queue": job_body({"type": "StorageQueue", "queueMessage": {
        "storageAccount": "a", "queueName": "q", "sasToken": "s", "message": "m"}},
        recurrence={"frequency": "Month", "schedule": {
            "monthDays": [1, -1], "monthlyOccurrences": [{"day": "Friday", "Occurrence": -1}]}}),
    "bus": job_body({"type": "ServiceBusTopic", "serviceBusTopicMessage": {
        "namespace": "n", "topicPath": "t", "message": "m", "transportType": "AMQP",
        "authentication": {"type": "SharedAccessKey", "sasKeyName": "k", "sasKey": "s"},
        "brokeredMessageProperties": {"label": "l", "timeToLive": "PT1M"},
        "customMessageProperties": {"a": "1"}}}, state="Disabled"),
    "oauth": job_body(http_action(authentication={
        "type": "ActiveDirectoryOAuth", "tenant": "t", "audience": "a", "clientId": "c",
        "secret": "s"}), recurrence={"frequency": "Day"}),
}
ODD_SEGMENTS = ["", ".", "..", "%2e%2e", "%00", "%", "%4", "%zz", "%ff", "%C3%A9", "a%2Fb", "a b",
                "jobs", "x" * 101, "x" * 3000, "1", "-", "\u00e9", "a;b", "a:b", "~", "'", "\"",
                "<", "$metadata", "*", "%25", "%0d%0a", "run", "history", "enable", "PROVIDERS"]
ODD_QUERIES = ["", "api-version", "api-version=", "api-version=2016", "api-version=%ff",
               VERSION + "&" + VERSION, VERSION + "&$top=0", VERSION + "&$top=x",
               VERSION + "&$top=5&$top=6", VERSION + "&$skip=-1", VERSION + "&$skip=" + "9" * 30,
               VERSION + "&$filter=", VERSION + "&$filter=state%20eq%20",
               VERSION + "&$filter=state%20eq%20%00", VERSION + "&$filter=" + "x" * 2000,
               VERSION + "&$filter=state eq Enabled", VERSION + "&$skiptoken=%ff",
               VERSION + "&$skiptoken=" + "9" * 50 + ".0.0", VERSION + "&" + "a=b&" * 100,
               VERSION + "&%", VERSION + "&=", VERSION + "?" + VERSION, VERSION + "#f",
               "%61pi-version=2016-03-01&$top=1", VERSION + "&$skip=%2B1", "&&&" + VERSION]
ODD_METHODS = ["get", "Put", "POST", "OPTIONS", "TRACE", "FOO", "HEAD", "DELETE ", "P\u00dcT", "",
               "GET\t", "LIST", "X" * 32, "PATCH", "MERGE", "\x00"]
ODD_HEADERS = [
    "Host: example.com", "Host: ", "Host: a b", "Host: 127.0.0.1\r\nHost: 127.0.0.1",
    "Origin: http://example.com", "Origin: null", "Content-Type: text/html",
    "Content-Type: application/json; charset=utf-16", "Content-Encoding: gzip",
    "Expect: 200-ok", "Expect: 100-continue", "Connection: close", "Connection: upgrade",
    "Upgrade: h2c", "X-Long: " + "y" * 20000, "x-ms-client-request-id: \xff\xfe",
    "x-ms-correlation-request-id: a\x01b", "x-ms-correlation-request-id: " + "z" * 500,
    "x-ms-return-client-request-id: true\r\nx-ms-client-request-id: <&>", "No colon here",
    " folded: x", "Bad Name: x", ": empty", "X:\x00", "Authorization: Bearer x",
    "Content-Length: 0\r\nContent-Length: 1", "Content-Length: -1", "Content-Length: 1e3",
    "Content-Length: 99999999999999999999", "Transfer-Encoding: gzip",
    "Transfer-Encoding: chunked\r\nContent-Length: 5", "Accept: text/plain",
    "If-Match: *", "Range: bytes=0-1", "X-HTTP-Method-Override: DELETE",
    "\r\n".join(f"X-{i}: y" for i in range(120)),
]


def good_request(rng, group):
    """Method, path and body of a request that is fine."""
    name = rng.choice(list(JOBS))
    job = group.job(name, "first")
    kind = rng.random()
    if kind < 0.35:
        return "PUT", job, JOBS[name]
    if kind < 0.60:
        return "PATCH", job, JOBS[name]
    if kind < 0.80:
        collection = rng.choice(list(COLLECTIONS))
        return rng.choice(("PUT", "PATCH")), group.collection(collection), COLLECTIONS[collection]
    return rng.choice([
        ("GET", job, None), ("GET", group.collection("first"), None),
        ("GET", group.collection("first") + "/jobs", None), ("GET", job + "/history", None),
        ("GET", group.all_collections(), None), ("GET", group.collections(), None),
        ("POST", job + "/run", None), ("POST", group.collection("first") + "/disable", None),
        ("POST", group.collection("free") + "/enable", None), ("DELETE", job, None),
        ("GET", f"/subscriptions/{group.subscription}/providers/Microsoft.Scheduler", None)])


def _odd_path(rng, path):
    segments = path.split("/")
    at = rng.randrange(1, len(segments))
    change = rng.random()
    if change < 0.5:
        segments[at] = rng.choice(ODD_SEGMENTS)
    elif change < 0.65:
        del segments[at]
    elif change < 0.8:
        segments.insert(at, rng.choice(ODD_SEGMENTS))
    elif change < 0.9:
        segments[at] = segments[at].swapcase()
    else:
        segments[at] = "".join(f"%{ord(c):02x}" for c in segments[at])
    return "/".join(segments)


def _chunked(rng, body):
    half = len(body) // 2
    good = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:half], body[half:])
                    if part) + b"0\r\n\r\n"
    return good if rng.random() < 0.7 else rng.choice([
        b"zz\r\n", b"5\r\nabc\r\n", b"-1\r\n\r\n", b"fffffffffffffffff\r\n", good[:-2] + b"x: y",
    ]) + b"\r\n\r\n"


def odd_request(rng, group):
    """(method, the bytes of the request): a good request with something odd about it."""
    method, path, body = good_request(rng, group)
    query, extra, chunked = VERSION, "", False
    data = b"" if body is None else None
    what = rng.random()
    if body is not None and what < 0.7:
        data = odd_body(rng, body)
    elif what < 0.8:
        path = _odd_path(rng, path)
    elif what < 0.9:
        query = rng.choice(ODD_QUERIES)
    elif what < 0.94:
        method = rng.choice(ODD_METHODS)
    elif what < 0.97:
        extra = rng.choice(ODD_HEADERS) + "\r\n"
    else:
        chunked = True
    if data is None:
        data = odd_body(rng, body) if rng.random() < 0.3 else json.dumps(body).encode()
    head = f"{method} {path}?{query} HTTP/1.1\r\n"
    if not extra.lower().startswith("host"):
        head += "Host: 127.0.0.1\r\n"
    if chunked:
        head += "Transfer-Encoding: chunked\r\n"
        data = _chunked(rng, data)
    elif not extra.lower().startswith(("content-length", "transfer-encoding")):
        head += f"Content-Length: {len(data)}\r\n"
    return method, (head + extra + "\r\n").encode("utf-8", "surrogatepass") + data

