# SPDX-License-Identifier: MIT
"""Lists: $top, $skip, $filter, nextLink and pages."""
import urllib.parse

from rest import Client, Group, collection_body, job_body
from suite import equal, holds

NAMES = [f"job{i:02}" for i in range(12)]
DISABLED = NAMES[1::3]
ENABLED = [name for name in NAMES if name not in DISABLED]

QUERIES = [  # after the version: the names in the answer
    ("", NAMES),
    ("$top=100", NAMES),
    ("$top=5", NAMES[:5]),
    ("%24top=5", NAMES[:5]),
    ("$skip=10", NAMES[10:]),
    ("$top=5&$skip=5", NAMES[5:10]),
    ("$skip=100", []),
    ("$skip=0", NAMES),
    ("$filter=state%20eq%20Disabled", DISABLED),
    ("$filter=state+eq+Disabled", DISABLED),
    ("$filter=state%20eq%20'disabled'", DISABLED),
    ("$filter=STATE%20EQ%20ENABLED", ENABLED),
    ("$filter=state%20eq%20completed", []),
    ("$filter=state%20eq%20Faulted", []),
    ("$filter=state%20eq%20enabled&$top=2&$skip=1", ENABLED[1:3]),
    ("$top=2&$skip=3&$filter=state%20eq%20disabled", DISABLED[3:5]),
    ("something=else", NAMES),
]
REFUSED = [
    "$top=0", "$top=101", "$top=-1", "$top=x", "$top=", "$top=5.5", "$top=5&$top=5",
    "$top=99999999999999999999", "$skip=-1", "$skip=x", "$skip=99999999999999999999",
    "$filter=", "$filter=state", "$filter=state%20eq", "$filter=state%20ne%20Enabled",
    "$filter=name%20eq%20a", "$filter=state%20eq%20Sleeping",
    "$filter=state%20eq%20Enabled%20or%20state%20eq%20Disabled", "$filter=%ff", "$top=%",
    "&".join(f"p{i}=1" for i in range(40)),
]
HISTORY = ["", "$top=100", "$skip=5", "$filter=status%20eq%20Completed",
           "$filter=status%20eq%20'failed'", "$filter=state%20eq%20Postponed",
           "$top=5&$skip=5&$filter=STATUS%20eq%20Failed"]
HISTORY_REFUSED = ["$top=0", "$top=101", "$filter=status%20eq%20Enabled",
                   "$filter=startTime%20gt%202016-01-01", "$skiptoken=x", "$skiptoken=1.2",
                   "$skiptoken=1.5.0", "$skiptoken=9999999999999999999999.0.0"]
COLLECTIONS_PER_PAGE = 1000


def run(suite, server):
    client = Client(server.port)
    group = Group()
    client.put(group.collection(), collection_body())
    for name in NAMES:
        client.put(group.job(name), job_body(
            state="Disabled" if name in DISABLED else "Enabled"))
    for query, names in QUERIES:
        with suite.case(f"jobs?{query}"):
            answer = _ask(client, group.collection() + "/jobs", query)
            equal(answer.status, 200, answer)
            equal(list(answer.json), ["value", "nextLink"])
            equal([job["name"] for job in answer.json["value"]], [f"jc/{n}" for n in names])
            equal(answer.json["nextLink"], None)
    for path, queries in [("/jobs", REFUSED), (f"/jobs/{NAMES[0]}/history", HISTORY_REFUSED)]:
        for query in queries:
            with suite.case(f"{path}?{query[:60]} is refused"):
                answer = _ask(client, group.collection() + path, query)
                equal((answer.status, answer.error["code"]), (400, "BadRequest"), answer)
    for query in HISTORY:
        with suite.case(f"the history?{query} of a job that never ran is empty"):
            answer = _ask(client, group.job(NAMES[0]) + "/history", query)
            equal((answer.status, answer.json), (200, {"value": [], "nextLink": None}))
    _collections(suite, client)
    _full_collection(suite, client)
    _pages(suite, client)


def _ask(client, path, query):
    return client.get(path, query="api-version=2016-03-01" + (f"&{query}" if query else ""))


def _collections(suite, client):
    one = Group(name="one")
    two = Group(one.subscription, "two")
    for group, names in [(one, ["b", "a"]), (two, ["a"])]:
        for name in names:
            client.put(group.collection(name), collection_body())
    with suite.case("collections of a subscription, and of a resource group"):
        for path, ids in [
                (one.all_collections(), {one.collection("a"), one.collection("b"),
                                         two.collection("a")}),
                (one.collections(), {one.collection("a"), one.collection("b")}),
                (two.collections(), {two.collection("a")}),
                (Group(one.subscription, "three").collections(), set()),
                (Group().all_collections(), set())]:
            page = client.get(path).json
            equal({c["id"] for c in page["value"]}, ids)
            equal(len(page["value"]), len(ids))
            equal(page["nextLink"], None)
    with suite.case("what the list shows of a collection is what GET shows"):
        equal(client.get(two.collections()).json["value"],
              [client.get(two.collection("a")).json])


def _full_collection(suite, client):
    group = Group()
    client.put(group.collection(), collection_body("P20Premium"))
    for i in range(1000):
        client.put(group.job(f"job{i:04}"), job_body(state="Disabled"))
    with suite.case("the thousand jobs of a full collection are one page"):
        page = client.get(group.collection() + "/jobs").json
        equal(([job["name"] for job in page["value"]], page["nextLink"]),
              ([f"jc/job{i:04}" for i in range(1000)], None))
    with suite.case("its last jobs by $skip and $top"):
        page = _ask(client, group.collection() + "/jobs", "$skip=995&$top=100").json
        equal([job["name"] for job in page["value"]], [f"jc/job{i:04}" for i in range(995, 1000)])


def _pages(suite, client):
    group = Group()
    names = [f"c{i:04}" for i in range(COLLECTIONS_PER_PAGE + 1)]
    for name in names:
        client.put(group.collection(name), collection_body("P10Premium"))
    for path in (group.all_collections(), group.collections()):
        with suite.case(f"{len(names)} collections are two pages: {path}"):
            first = client.get(path, query="api-version=2016-01-01").json
            equal(len(first["value"]), COLLECTIONS_PER_PAGE)
            link = urllib.parse.urlsplit(first["nextLink"])
            holds(link.scheme == "http" and link.netloc.startswith("127.0.0.1:"), link)
            holds("api-version=2016-01-01" in link.query, link)
            second = client.get(link.path, query=link.query).json
            equal(second["nextLink"], None)
            equal([c["name"] for c in first["value"] + second["value"]], names)
            equal(second["value"][0]["properties"]["sku"]["name"], "Premium")
    with suite.case("exactly one page full has no next one"):
        client.delete(group.collection(names[0]))
        page = client.get(group.collections()).json
        equal((len(page["value"]), page["nextLink"]), (COLLECTIONS_PER_PAGE, None))
    with suite.case("a next page of a list that shrank meanwhile is empty"):
        client.delete(group.collection(names[-1]))
        equal(client.get(link.path, query=link.query).json, {"value": [], "nextLink": None})
