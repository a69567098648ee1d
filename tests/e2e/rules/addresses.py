# SPDX-License-Identifier: MIT
"""Addresses, versions, verbs, and what stands on every answer."""
import json
import re

from rest import Client, Group, collection_body, job_body
from suite import equal, holds

GUID = re.compile(r"^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")

COLLECTION_NAMES = {  # name: is it allowed?
    "a": True, "A1": True, "a-b_c": True, "a" * 100: True,
    "1a": False, "-a": False, "_a": False, "a" * 101: False, "a.b": False, "a%20b": False,
    "%C3%A9": False, "a%2Fb": False, "a%3Fb": False, "..": False, "%2E%2E": False, "%FF": False,
}
JOB_NAMES = {
    "a": True, "1": True, "http_job": True, "sdk-test": True, "0" * 100: True, "%61b": True,
    "-a": False, "_a": False, "a" * 101: False, "a.b": False, "a%20b": False, "%E2%82%AC": False,
}
VERBS = {
    "{all}": "GET", "{group}": "GET", "{jc}": "GET, PUT, PATCH, DELETE", "{jc}/enable": "POST",
    "{jc}/disable": "POST", "{jc}/jobs": "GET", "{jc}/jobs/job": "GET, PUT, PATCH, DELETE",
    "{jc}/jobs/job/enable": "POST", "{jc}/jobs/job/disable": "POST",
    "{jc}/jobs/job/run": "POST", "{jc}/jobs/job/history": "GET",
}
NOWHERE = [
    "/", "/subscriptions", "/subscriptions/s", "/subscriptions/s/resourceGroups/g",
    "/subscriptions/s/providers/Microsoft.Other/jobCollections", "/favicon.ico",
    "{jc}/unknown", "{jc}/jobs/job/unknown", "{jc}/jobs/job/history/1", "{jc}/enable/now",
    "{jc}/jobs/job/generateLogicAppDefinition", "//subscriptions/s", "{jc}//jobs",
    "/subscriptions/s/providers/Microsoft.Scheduler/jobCollections/jc",
]


def run(suite, server):
    client = Client(server.port)
    _spelling(suite, client)
    _names(suite, client)
    _versions(suite, client)
    _verbs(suite, client)
    _nowhere(suite, client)
    _provider(suite, client)
    _headers(suite, client)


def _spelling(suite, client):
    first = "/Subscriptions/Sub-Case/ResourceGROUPS/GrOuP/PROVIDERS/microsoft.scheduler/" \
            "JOBcollections/Jc"
    other = "/subscriptions/sub-case/resourcegroups/group/providers/MICROSOFT.SCHEDULER/" \
            "jobCollections/jC"
    shown = "/subscriptions/Sub-Case/resourceGroups/GrOuP/providers/Microsoft.Scheduler/" \
            "jobCollections/Jc"
    with suite.case("segments are compared without case, and the first spelling is echoed"):
        equal(client.put(first, collection_body()).json["id"], shown)
        for answer in (client.get(other), client.put(other, collection_body()),
                       client.patch(other, {"tags": {"a": "b"}})):
            equal((answer.json["id"], answer.json["name"]), (shown, "Jc"))
        equal(len(client.get("/subscriptions/SUB-CASE/providers/microsoft.scheduler/"
                             "jobcollections").json["value"]), 1)
    with suite.case("job names too: one job, whatever the case of its name"):
        equal(client.put(f"{first}/JOBS/MyJob", job_body()).status, 201)
        answer = client.put(f"{other}/jobs/mYjOB", job_body())
        equal((answer.status, answer.json["name"]), (200, "Jc/MyJob"))
        equal(answer.json["id"], f"{shown}/jobs/MyJob")
        equal(len(client.get(f"{other}/jobs").json["value"]), 1)
        equal(client.delete(f"{other}/jobs/MYJOB").status, 200)
        equal(client.get(f"{first}/jobs/MyJob").status, 404)
    with suite.case("a name may arrive percent-encoded"):
        equal(client.get(other.replace("jC", "%6A%43")).json["id"], shown)
    with suite.case("a slash at the end changes nothing"):
        equal(client.get(other + "/").json["id"], shown)


def _names(suite, client):
    group = Group()
    for name, allowed in COLLECTION_NAMES.items():
        with suite.case(f"a collection {'may' if allowed else 'may not'} be named {name[:20]!r}"):
            answer = client.put(group.collection(name), collection_body())
            _allowed(answer, allowed)
    client.put(group.collection(), collection_body())
    for name, allowed in JOB_NAMES.items():
        with suite.case(f"a job {'may' if allowed else 'may not'} be named {name[:20]!r}"):
            _allowed(client.put(group.job(name), job_body()), allowed)


def _allowed(answer, allowed):
    equal(answer.status in (200, 201), allowed, answer)
    if not allowed:
        holds(answer.status in (400, 404), answer)
        holds(answer.error["message"], answer)


def _versions(suite, client):
    group = Group()
    path = group.collection()
    cases = [("", 400, "MissingApiVersionParameter"),
             ("api-version=", 400, "MissingApiVersionParameter"),
             ("other=2016-03-01", 400, "MissingApiVersionParameter"),
             ("api-version=2015-01-01", 400, "InvalidApiVersionParameter"),
             ("api-version=x", 400, "InvalidApiVersionParameter"),
             ("api-version=2016-03-01&api-version=2016-03-01", 400, "BadRequest"),
             ("api-version=2016-03-01", 404, "ResourceNotFound"),
             ("api-version=2016-01-01", 404, "ResourceNotFound"),
             ("api-version=2014-08-01-preview", 404, "ResourceNotFound"),
             ("API-Version=2014-08-01-PREVIEW", 404, "ResourceNotFound"),
             ("%61pi-version=2016%2D03%2d01", 404, "ResourceNotFound")]
    for query, status, code in cases:
        with suite.case(f"?{query} answers {status} {code}"):
            answer = client.get(path, query=query)
            equal((answer.status, answer.error["code"]), (status, code))
    with suite.case("a write without a version stores nothing"):
        equal(client.put(path, collection_body(), query="").status, 400)
        equal(client.get(path).status, 404)
    with suite.case("the SKU Premium is P10Premium, and is echoed to the old versions"):
        for version in ("2014-08-01-preview", "2016-01-01"):
            answer = client.put(path, collection_body("premium"), query=f"api-version={version}")
            equal(answer.properties["sku"], {"name": "Premium"}, answer)
        equal(client.get(path).properties["sku"], {"name": "P10Premium"})
        equal(client.put(path, collection_body("Premium")).status, 400)


def _verbs(suite, client):
    group = Group()
    client.put(group.collection(), collection_body())
    client.put(group.job(), job_body())
    for address, allowed in VERBS.items():
        path = address.format(all=group.all_collections(), group=group.collections(),
                              jc=group.collection())
        for verb in ("GET", "PUT", "PATCH", "DELETE", "POST", "OPTIONS", "TRACE", "get", "LIST"):
            if verb in allowed.split(", "):
                continue
            with suite.case(f"{verb} {address} answers 405 with Allow"):
                answer = client.request(verb, path)
                equal((answer.status, answer.headers["Allow"]), (405, allowed), answer)
                equal(answer.error["code"], "MethodNotAllowed")
    with suite.case("HEAD answers like GET without the body"):
        answer = client.request("HEAD", group.job())
        equal((answer.status, answer.body), (200, b""))
        equal(answer.headers["Content-Length"], str(len(client.get(group.job()).body)))


def _nowhere(suite, client):
    group = Group()
    client.put(group.collection(), collection_body())
    for path in NOWHERE:
        with suite.case(f"nothing is at {path}"):
            answer = client.get(path.replace("{jc}", group.collection()))
            equal((answer.status, answer.error["code"]), (404, "NotFound"), answer)


def _provider(suite, client):
    path = "/subscriptions/some-sub/providers/Microsoft.Scheduler"
    for query in ("api-version=2016-02-01", "api-version=2016-03-01", "api-version=x", ""):
        with suite.case(f"the provider's metadata is answered for ?{query}"):
            answer = client.get(path, query=query)
            equal(answer.status, 200)
            body = answer.json
            equal(body["id"], path)
            equal(body["namespace"], "Microsoft.Scheduler")
            equal(body["registrationState"], "Registered")
            types = {kind["resourceType"]: kind for kind in body["resourceTypes"]}
            equal(sorted(types), ["flows", "jobcollections", "operationResults", "operations"])
            equal(types["jobcollections"]["apiVersions"],
                  ["2016-03-01", "2016-01-01", "2014-08-01-preview"])
            holds("South Central US" in types["jobcollections"]["locations"], "display names")


def _headers(suite, client):
    group = Group()
    client.put(group.collection(), collection_body(tags={"city": "Zürich"}))
    asked = [("200", lambda **h: client.get(group.collection(), **h)),
             ("404", lambda **h: client.get(group.collection("none"), **h)),
             ("400", lambda **h: client.put(group.job(), b"{", **h)),
             ("empty 200", lambda **h: client.post(group.collection() + "/enable", **h)),
             ("405", lambda **h: client.post(group.collection(), **h)),
             ("404 of no route", lambda **h: client.get("/", **h)),
             ("403", lambda **h: client.get("/", headers={"Host": "example.com"})),
             ("413", lambda **h: client.put(group.job(), b" " * 300_000, **h))]
    for name, ask in asked:
        with suite.case(f"an answer {name} has x-ms-request-id, a new one each time"):
            ids = [ask().headers["x-ms-request-id"] for _ in range(2)]
            holds(all(GUID.match(one) for one in ids) and ids[0] != ids[1], ids)
    with suite.case("answers are compact JSON in UTF-8 that nobody may keep"):
        answer = client.get(group.collection())
        equal(answer.headers["Content-Type"], "application/json; charset=utf-8")
        equal((answer.headers["Cache-Control"], answer.headers["Pragma"],
               answer.headers["Expires"]), ("no-cache", "no-cache", "-1"))
        compact = json.dumps(answer.json, separators=(",", ":"), ensure_ascii=False)
        equal(answer.body, compact.encode())
        equal(answer.json["tags"], {"city": "Zürich"})
        for region_or_tls in ("x-ms-routing-request-id", "Strict-Transport-Security"):
            equal(answer.headers[region_or_tls], None)
    with suite.case("an empty answer says Content-Length: 0"):
        answer = client.post(group.collection() + "/disable")
        equal((answer.status, answer.headers["Content-Length"], answer.body), (200, "0", b""))
    with suite.case("the client's own id comes back only where it asks for it"):
        mine = {"x-ms-client-request-id": "mine"}
        equal(client.get(group.collection(), headers=mine).headers["x-ms-client-request-id"],
              None)
        back = client.get(group.collection(), headers={
            **mine, "x-ms-return-client-request-id": "true"})
        equal(back.headers["x-ms-client-request-id"], "mine")
    with suite.case("a missing collection is the gateway's finding, as it was live"):
        answer = client.get(group.collection("Nope"))
        equal(answer.headers["x-ms-failure-cause"], "gateway")
        equal(answer.error, {
            "code": "ResourceNotFound",
            "message": "The Resource 'Microsoft.Scheduler/jobcollections/Nope' under resource "
                       "group 'group' was not found."})
    with suite.case("/healthz and /readyz answer without a version"):
        for path in ("/healthz", "/readyz"):
            answer = client.get(path, query="")
            equal((answer.status, answer.json), (200, {"status": "ok"}))
