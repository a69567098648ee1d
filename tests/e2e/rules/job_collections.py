# SPDX-License-Identifier: MIT
"""Job collections: what may be written, what comes back, enable and disable."""
from rest import AHEAD, Client, Group, collection_body, job_body
from suite import equal, holds

DEFAULTS = {  # SKU: the quota of a collection that names none
    "Free": {"maxJobCount": 5, "maxRecurrence": {"frequency": "hour", "interval": 1}},
    "Standard": {"maxJobCount": 50, "maxRecurrence": {"frequency": "minute", "interval": 1}},
    "P10Premium": {"maxJobCount": 50, "maxRecurrence": {"frequency": "minute", "interval": 1}},
    "P20Premium": {"maxJobCount": 1000, "maxRecurrence": {"frequency": "minute", "interval": 1}},
}
REFUSED = [  # a body, and the member that its refusal names
    ({"properties": {"sku": {"name": "Standard"}}}, "location"),
    ({"location": 5, "properties": {"sku": {"name": "Standard"}}}, "location"),
    ({"location": "x"}, "properties"),
    ({"location": "x", "properties": {}}, "properties.sku"),
    ({"location": "x", "properties": {"sku": {}}}, "properties.sku.name"),
    ({"location": "x", "properties": {"sku": {"name": "Gold"}}}, "properties.sku.name"),
    ({"location": "x", "properties": []}, "properties"),
    (collection_body(state="Deleted"), "properties.state"),
    (collection_body(state="Sleeping"), "properties.state"),
    (collection_body(tags=["a"]), "tags"),
    (collection_body(tags={"a": 5}), "tags.a"),
    (collection_body(quota=5), "properties.quota"),
    (collection_body(quota={"maxJobCount": 0}), "properties.quota.maxJobCount"),
    (collection_body(quota={"maxJobCount": "ten"}), "properties.quota.maxJobCount"),
    (collection_body(quota={"maxRecurrence": {"frequency": "Second"}}),
     "properties.quota.maxRecurrence.frequency"),
    (collection_body(quota={"maxRecurrence": {"frequency": "Hour", "interval": 0}}),
     "properties.quota.maxRecurrence.interval"),
    ({**collection_body(), "name": "another"}, "name"),
]


def run(suite, server):
    client = Client(server.port)
    _puts(suite, client)
    _refusals(suite, client)
    _patches(suite, client)
    _states(suite, client)
    _deletes(suite, client)


def _puts(suite, client):
    for sku, quota in DEFAULTS.items():
        with suite.case(f"{sku}: what the body leaves out is filled in"):
            group = Group()
            answer = client.put(group.collection(), collection_body(sku.upper()))
            equal(answer.status, 201)
            equal(answer.json, {
                "id": group.collection(), "type": "Microsoft.Scheduler/jobCollections",
                "name": "jc", "location": "West Europe",
                "properties": {"sku": {"name": sku}, "state": "Enabled", "quota": quota}})
            equal(client.get(group.collection()).body, answer.body)
    group = Group()
    with suite.case("everything that is sent comes back, maxJobOccurrence excepted"):
        body = {"name": "jc", "location": "South Central US", "tags": {"team": "ops", "b": ""},
                "properties": {"sku": {"name": "standard"}, "state": "SUSPENDED",
                               "quota": {"maxJobCount": 10, "maxJobOccurrence": 1,
                                         "maxRecurrence": {"frequency": "Week", "interval": 2}}}}
        answer = client.put(group.collection(), body)
        equal(answer.status, 201)
        equal(answer.json["tags"], body["tags"])
        equal(answer.json["location"], "South Central US")
        equal(answer.properties, {
            "sku": {"name": "Standard"}, "state": "Suspended",
            "quota": {"maxJobCount": 10, "maxRecurrence": {"frequency": "week", "interval": 2}}})
        equal(answer.headers["x-belfry-ignored"], None)
    with suite.case("PUT again answers 201, as it did live, and replaces all of it"):
        answer = client.put(group.collection(), collection_body(location="south central us"))
        equal(answer.status, 201)
        holds("tags" not in answer.json, "tags that are not sent are gone")
        equal(answer.properties["state"], "Enabled")
        equal(answer.properties["quota"], DEFAULTS["Standard"])
    with suite.case("a quota's parts are filled in one by one"):
        answer = client.put(group.collection(), collection_body(
            location="South Central US", quota={"maxRecurrence": {"frequency": "Day"}}))
        equal(answer.properties["quota"],
              {"maxJobCount": 50, "maxRecurrence": {"frequency": "day", "interval": 1}})
    with suite.case("id, type and name of another spelling may be sent back"):
        body = {**client.get(group.collection()).json, "name": "JC", "id": "x", "type": "y"}
        answer = client.put(group.collection(), body)
        equal((answer.status, answer.json["name"]), (201, "jc"))
    with suite.case("members that nobody knows are ignored and named"):
        body = collection_body(location="South Central US", quoda={"maxJobCount": 1})
        body["etag"] = "x"
        answer = client.put(group.collection(), body)
        equal(answer.status, 201)
        equal(set(answer.headers["x-belfry-ignored"].split(", ")), {"etag", "properties.quoda"})


def _refusals(suite, client):
    group = Group()
    for body, target in REFUSED:
        with suite.case(f"refused: {target} in {body}"):
            answer = client.put(group.collection(), body)
            equal((answer.status, answer.error["code"]), (400, "BadRequest"), answer)
            equal(answer.error["target"], target)
            holds(target in answer.error["message"], answer)
    for body in (b"", b"[]", b"5", b"null", b"\"text\"", b"{", b"{}}"):
        with suite.case(f"refused: the body {body}"):
            for write in (client.put, client.patch):
                answer = write(group.collection(), body)
                # PATCH of what is not there may say that first.
                holds(answer.status == 400 or (write == client.patch and answer.status == 404),
                      answer)
    with suite.case("nothing of it was stored"):
        equal(client.get(group.all_collections()).json, {"value": [], "nextLink": None})


def _patches(suite, client):
    group = Group()
    path = group.collection()
    client.put(path, collection_body(tags={"a": "1", "b": "2"}, quota={"maxJobCount": 7}))
    cases = [  # what is sent, and what is then different
        ({"tags": {"c": "3"}}, {"tags": {"c": "3"}}),
        ({"properties": {"quota": {"maxJobCount": 8}}}, {"maxJobCount": 8}),
        ({"properties": {"quota": {"maxRecurrence": {"interval": 5}}}}, {"interval": 5}),
        ({"properties": {"state": "disabled"}}, {"state": "Disabled"}),
        ({"properties": {"STATE": "enabled"}}, {"state": "Enabled"}),
        ({"tags": {}}, {"tags": None}),
        ({"tags": {"x": "y"}}, {"tags": {"x": "y"}}),
        ({"tags": None}, {"tags": None}),
        ({}, {}),
        ({"properties": {"sku": {"name": "P20Premium"}}},
         {"sku": "P20Premium", "maxJobCount": 1000, "interval": 1}),
    ]
    before = _flat(client.get(path).json)
    for body, changes in cases:
        with suite.case(f"PATCH {body} changes {changes} and keeps the rest"):
            answer = client.patch(path, body)
            equal(answer.status, 200, answer)
            before.update(changes)
            equal(_flat(answer.json), before)
            equal(client.get(path).body, answer.body)
    with suite.case("PATCH of a collection that is not there answers 404"):
        answer = client.patch(group.collection("none"), {"tags": {}})
        equal((answer.status, answer.error["code"]), (404, "ResourceNotFound"))
    for write in (client.put, client.patch):
        with suite.case(f"a collection cannot move to another location by {write.__name__}"):
            answer = write(path, collection_body("P20Premium", location="East Asia"))
            equal((answer.status, answer.error["code"]), (409, "Conflict"), answer)
            equal(client.get(path).json["location"], "West Europe")


def _flat(collection):
    properties = collection["properties"]
    return {"tags": collection.get("tags"), "location": collection["location"],
            "sku": properties["sku"]["name"], "state": properties["state"],
            "maxJobCount": properties["quota"]["maxJobCount"],
            **properties["quota"]["maxRecurrence"]}


def _states(suite, client):
    group = Group()
    path = group.collection()
    client.put(path, collection_body())
    hourly = {"recurrence": {"frequency": "Hour"}}
    client.put(group.job("on"), job_body(**hourly))
    client.put(group.job("off"), job_body(state="Disabled", **hourly))
    with suite.case("disable keeps each job's state and takes the next execution away"):
        answer = client.post(path + "/disable")
        equal((answer.status, answer.body), (200, b""))
        equal(client.get(path).properties["state"], "Disabled")
        on = client.get(group.job("on")).properties
        equal(on["state"], "enabled")
        holds("nextExecutionTime" not in on["status"], on)
        equal(client.get(group.job("off")).properties["state"], "disabled")
    with suite.case("a job that is put into a disabled collection waits"):
        on = client.put(group.job("late"), job_body(**hourly)).properties
        equal(on["state"], "enabled")
        holds("nextExecutionTime" not in on["status"], on)
    with suite.case("POST run in a disabled collection is a conflict"):
        answer = client.post(group.job("on") + "/run")
        equal((answer.status, answer.error["code"]), (409, "Conflict"))
    with suite.case("enable lets those run that were enabled, and only those"):
        equal(client.post(path + "/enable").status, 200)
        equal(client.get(path).properties["state"], "Enabled")
        for name in ("on", "late"):
            equal(client.get(group.job(name)).properties["status"]["nextExecutionTime"],
                  AHEAD)
        off = client.get(group.job("off")).properties
        equal(off["state"], "disabled")
        holds("status" not in off, "a disabled job that never ran has none")
    with suite.case("state by PATCH and by PUT does the same"):
        for state, runs in [("Disabled", False), ("Enabled", True), ("Suspended", False)]:
            client.patch(path, {"properties": {"state": state}})
            status = client.get(group.job("on")).properties["status"]
            equal("nextExecutionTime" in status, runs, state)
        client.put(path, collection_body())
        holds("nextExecutionTime" in client.get(group.job("on")).properties["status"], "runs")
    for verb in ("enable", "disable"):
        with suite.case(f"{verb} twice answers 200 twice; of nothing, 404"):
            equal([client.post(f"{path}/{verb}").status for _ in range(2)], [200, 200])
            answer = client.post(f"{group.collection('none')}/{verb}")
            equal((answer.status, answer.error["code"]), (404, "ResourceNotFound"))


def _deletes(suite, client):
    group = Group()
    client.put(group.collection(), collection_body())
    client.put(group.job(), job_body())
    with suite.case("DELETE takes the jobs along and answers an empty 200"):
        answer = client.delete(group.collection())
        equal((answer.status, answer.body), (200, b""))
        equal(client.get(group.collection()).status, 404)
        equal(client.get(group.job()).error["code"], "ResourceNotFound")
    with suite.case("DELETE of what is gone answers 200 again"):
        equal(client.delete(group.collection()).status, 200)
    with suite.case("a new collection of the same name has no jobs"):
        equal(client.put(group.collection(), collection_body(location="Elsewhere")).status, 201)
        equal(client.get(group.collection() + "/jobs").json, {"value": [], "nextLink": None})
