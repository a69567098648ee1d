# SPDX-License-Identifier: MIT
"""What the plans and a collection's own quota allow: by default as much as is asked for, and with
`--plans azure` no more than Azure did."""
from rest import Client, Group, collection_body, http_action, job_body
from server import Server
from suite import equal, holds

BASIC = {"type": "Basic", "username": "u", "password": "p"}
HOURLY = {"frequency": "Hour"}
EVERY_MINUTE = {"frequency": "Minute"}

QUOTAS_ABOVE_THE_PLAN = [  # SKU, quota, the member that is named
    ("Free", {"maxJobCount": 6}, "maxJobCount"),
    ("Standard", {"maxJobCount": 51}, "maxJobCount"),
    ("P10Premium", {"maxJobCount": 51}, "maxJobCount"),
    ("P20Premium", {"maxJobCount": 1001}, "maxJobCount"),
    ("Free", {"maxRecurrence": {"frequency": "Minute", "interval": 59}}, "maxRecurrence"),
    ("Free", {"maxRecurrence": {"frequency": "Minute"}}, "maxRecurrence"),
]
QUOTAS_ABOVE_ALL = [
    ("Free", {"maxJobCount": 1_000_001}, "maxJobCount"),
    ("P20Premium", {"maxJobCount": 1_000_001}, "maxJobCount"),
]
QUOTAS_ASKED_FOR = [
    ("Free", {"maxJobCount": 6}),
    ("Free", {"maxRecurrence": {"frequency": "Minute", "interval": 1}}),
    ("Standard", {"maxJobCount": 51}),
    ("Standard", {"maxJobCount": 1_000_000}),
    ("P20Premium", {"maxJobCount": 1_000_000}),
]
QUOTAS_WITHIN = [
    ("Free", {"maxJobCount": 5, "maxRecurrence": {"frequency": "Hour", "interval": 1}}),
    ("Free", {"maxRecurrence": {"frequency": "Minute", "interval": 60}}),
    ("Standard", {"maxJobCount": 50, "maxRecurrence": {"frequency": "Minute", "interval": 1}}),
    ("P20Premium", {"maxJobCount": 1000}),
    ("Standard", {"maxJobCount": 1, "maxRecurrence": {"frequency": "Month", "interval": 1}}),
]
TOO_OFTEN_FOR_HOURLY = [  # recurrences that a maxRecurrence of one hour refuses
    EVERY_MINUTE,
    {"frequency": "Minute", "interval": 59},
    {"frequency": "Hour", "schedule": {"minutes": [0, 30]}},
    {"frequency": "Day", "schedule": {"minutes": [0, 15, 30, 45]}},
    {"frequency": "Week", "schedule": {"weekDays": ["Monday"], "hours": [5],
                                       "minutes": [0, 30]}},
    {"frequency": "Month", "schedule": {"monthDays": [1], "hours": [5], "minutes": [58, 59]}},
]
RIGHT_FOR_HOURLY = [
    HOURLY,
    {"frequency": "Minute", "interval": 60},
    {"frequency": "Day", "schedule": {"minutes": [0]}},
    {"frequency": "Day", "schedule": {"hours": [5, 6], "minutes": [0]}},
    {"frequency": "Week", "schedule": {"weekDays": ["Monday", "Tuesday"]}},
    {"frequency": "Year"},
]
TOO_OFTEN_FOR_WEEKLY = [
    {"frequency": "Day", "interval": 6},
    {"frequency": "Day", "interval": 7, "schedule": {"hours": [5, 17]}},
    {"frequency": "Week", "schedule": {"weekDays": ["Monday", "Friday"]}},
    {"frequency": "Month", "schedule": {"monthDays": [1, 7]}},
    {"frequency": "Month", "schedule": {"monthDays": [1, 31]}},
    {"frequency": "Month", "schedule": {"monthDays": [1, -1]}},
    {"frequency": "Month", "schedule": {"monthlyOccurrences": [{"day": "Friday"}],
                                        "hours": [5, 6]}},
]
RIGHT_FOR_WEEKLY = [
    {"frequency": "Day", "interval": 7},
    {"frequency": "Week", "schedule": {"weekDays": ["Monday"], "hours": [5], "minutes": [0]}},
    {"frequency": "Month", "schedule": {"monthDays": [1]}},
    {"frequency": "Month", "schedule": {"monthDays": [-1], "hours": [5], "minutes": [0]}},
    {"frequency": "Month", "schedule": {"monthDays": [1, 15]}},
    {"frequency": "Month", "schedule": {"monthlyOccurrences": [{"day": "Friday",
                                                                "Occurrence": 1}]}},
    {"frequency": "Month", "schedule": {"monthlyOccurrences": [{"day": "Friday"}]}},
    {"frequency": "Year", "schedule": {"months": [1, 2]}},
]


def run(suite, server):
    client = Client(server.port)
    _quotas(suite, client, QUOTAS_ABOVE_ALL, QUOTAS_WITHIN + QUOTAS_ASKED_FOR)
    _raised(suite, client)
    _job_count(suite, client)
    _frequency(suite, client)
    _free(suite, client)
    _changes(suite, client)
    _collections(suite, client)
    with Server(server.binary, "--plans", "azure") as azure:
        _ceilings_of_azure(suite, Client(azure.port))
    with Server(server.binary, "--plans", "open") as lowered:
        _lowered_ceilings(suite, lowered)


def conflict(answer, *parts):
    equal((answer.status, answer.error["code"]), (409, "Conflict"), answer)
    for part in parts:
        holds(part in answer.error["message"], f"{part!r} is not in {answer!r}")


def _quotas(suite, client, too_much, allowed):
    for sku, quota, member in too_much:
        with suite.case(f"{sku} refuses the quota {quota}"):
            answer = client.put(Group().collection(), collection_body(sku, quota=quota))
            equal((answer.status, answer.error["code"]), (400, "BadRequest"), answer)
            holds(member in answer.error["target"], answer)
    for sku, quota in allowed:
        with suite.case(f"{sku} allows the quota {quota}"):
            answer = client.put(Group().collection(), collection_body(sku, quota=quota))
            equal(answer.status, 201, answer)


def _raised(suite, client):
    """A refusal says how to have more, and that works."""
    group = Group()
    client.put(group.collection(), collection_body("Free", quota={"maxJobCount": 1}))
    client.put(group.job("one"), job_body())
    with suite.case("who has all jobs of a quota is told how to raise it"):
        conflict(client.put(group.job("two"), job_body()),
                 "PATCH of the collection's properties.quota.maxJobCount", "up to 1000000")
        more = {"properties": {"quota": {"maxJobCount": 2}}}
        equal(client.patch(group.collection(), more).status, 200)
        equal(client.put(group.job("two"), job_body()).status, 201)
    with suite.case("who recurs too often is told how to be allowed to"):
        often = job_body(recurrence=EVERY_MINUTE)
        conflict(client.put(group.job("two"), often),
                 "PATCH of the collection's properties.quota.maxRecurrence", "every 1 minutes")
        more = {"properties": {"quota": {"maxRecurrence": {"frequency": "Minute", "interval": 1}}}}
        equal(client.patch(group.collection(), more).status, 200)
        equal(client.put(group.job("two"), often).status, 200)
    with suite.case("a plan of more collections than Azure's hundred"):
        for i in range(101):
            equal(client.put(group.collection(f"s{i}"), collection_body()).status, 201)


def _ceilings_of_azure(suite, client):
    operators = 'The server\'s setting plans = "open" allows more.'
    _quotas(suite, client, QUOTAS_ABOVE_THE_PLAN, QUOTAS_WITHIN)
    with suite.case("a quota above Azure's names the setting that allows it"):
        for sku, quota, _ in QUOTAS_ABOVE_THE_PLAN:
            answer = client.put(Group().collection(), collection_body(sku, quota=quota))
            holds(operators in answer.error["message"], answer)
    group = Group()
    client.put(group.collection("free"), collection_body("Free"))
    with suite.case("so does a collection that is full, or a job that recurs too often"):
        conflict(client.put(group.job("often", "free"), job_body(recurrence=EVERY_MINUTE)),
                 operators)
        for i in range(5):
            equal(client.put(group.job(f"j{i}", "free"), job_body()).status, 201)
        conflict(client.put(group.job("more", "free"), job_body()), operators)
    with suite.case("a hundred standard collections in a subscription, and no more"):
        for i in range(100):
            equal(client.put(group.collection(f"s{i}"), collection_body()).status, 201)
        conflict(client.put(group.collection("s100"), collection_body()), "100", operators)
        equal(client.put(group.collection("p"), collection_body("P10Premium")).status, 201)
        conflict(client.patch(group.collection("p"),
                              {"properties": {"sku": {"name": "Standard"}}}), "100")


def _lowered_ceilings(suite, server):
    """Who has more than the plan gives now keeps it, and may change everything else."""
    group = Group()
    more = {"maxJobCount": 6, "maxRecurrence": {"frequency": "minute", "interval": 1}}
    client = Client(server.port)
    client.put(group.collection(), collection_body("Free", quota=more))
    for i in range(6):
        equal(client.put(group.job(f"j{i}"), job_body(recurrence=EVERY_MINUTE)).status, 201)
    client = Client(server.restart("--plans", "azure").port)
    with suite.case("a collection above a lowered ceiling is disabled and tagged by PATCH"):
        for patch in ({"properties": {"state": "Disabled"}}, {"tags": {"team": "blue"}}):
            answer = client.patch(group.collection(), patch)
            equal((answer.status, answer.properties["state"], answer.properties["quota"]),
                  (200, "Disabled", more), answer)
        equal(answer.json["tags"], {"team": "blue"})
    with suite.case("a PUT of it as it was read changes its state too"):
        read = client.get(group.collection()).json
        read["properties"]["state"] = "Enabled"
        answer = client.put(group.collection(), read)
        equal((answer.status, answer.properties["state"], answer.properties["quota"]),
              (201, "Enabled", more), answer)
    with suite.case("a quota that changes has to be within the lowered ceiling"):
        for quota in ({"maxJobCount": 7},
                      {"maxRecurrence": {"frequency": "Minute", "interval": 2}}):
            for write, body in ((client.put, collection_body("Free", quota={**more, **quota})),
                                (client.patch, {"properties": {"quota": quota}})):
                answer = write(group.collection(), body)
                equal((answer.status, answer.error["code"]), (400, "BadRequest"), answer)
    with suite.case("what it has in one plan is no claim in another"):
        body = collection_body("Standard", quota={"maxJobCount": 51})
        equal(client.put(group.collection("other"), body).status, 400)
        client.patch(group.collection(), {"properties": {"sku": {"name": "Standard"}}})
        body = collection_body("Free", quota=more)
        equal(client.put(group.collection(), body).status, 400)


def _job_count(suite, client):
    for sku, quota, most in [("Free", {}, 5), ("Standard", {}, 50),
                             ("Standard", {"maxJobCount": 2}, 2)]:
        group = Group()
        client.put(group.collection(), collection_body(sku, quota=quota))
        with suite.case(f"{sku} {quota} holds {most} jobs and not one more"):
            for i in range(most):
                equal(client.put(group.job(f"j{i}"), job_body()).status, 201)
            conflict(client.put(group.job("more"), job_body()), f"quota of '{most}'", "'jc'")
            equal(client.get(group.job("more")).status, 404)
        with suite.case(f"{sku} {quota}, full: replacing works, and deleting makes room"):
            equal(client.put(group.job("J0"), job_body()).status, 200)
            equal(client.delete(group.job("j0")).status, 200)
            equal(client.put(group.job("more"), job_body()).status, 201)
            conflict(client.put(group.job("j0"), job_body()))


def _frequency(suite, client):
    for unit, too_often, right in [("Week", TOO_OFTEN_FOR_WEEKLY, RIGHT_FOR_WEEKLY),
                                   ("Hour", TOO_OFTEN_FOR_HOURLY, RIGHT_FOR_HOURLY)]:
        group = Group()
        client.put(group.collection(), collection_body(
            quota={"maxRecurrence": {"frequency": unit, "interval": 1}}))
        for recurrence in too_often:
            with suite.case(f"a quota of one {unit} refuses {recurrence}"):
                conflict(client.put(group.job(), job_body(recurrence=recurrence)),
                         "maxRecurrence")
        for recurrence in right:
            with suite.case(f"a quota of one {unit} allows {recurrence}"):
                answer = client.put(group.job(), job_body(recurrence=recurrence))
                holds(answer.status in (200, 201), answer)
    with suite.case("a PATCH that would recur too often is refused and changes nothing"):
        client.put(group.job(), job_body(recurrence=HOURLY))
        conflict(client.patch(group.job(), {"properties": {"recurrence": EVERY_MINUTE}}))
        equal(client.get(group.job()).properties["recurrence"],
              {"frequency": "hour", "interval": 1})


def _free(suite, client):
    group = Group()
    client.put(group.collection(), collection_body("Free"))
    with suite.case("Free: no outbound authentication"):
        answer = client.put(group.job(), job_body(http_action(authentication=BASIC)))
        equal((answer.status, answer.error["code"]), (400, "BadRequest"), answer)
        holds("Free" in answer.error["message"], answer)
    with suite.case("Free: none in the error action either"):
        action = {**http_action(), "errorAction": http_action(authentication=BASIC)}
        equal(client.put(group.job(), job_body(action)).status, 400)
    for interval, status in [("PT59M", 400), ("00:00:30", 400), ("PT1H", 201), ("PT2H", 200)]:
        with suite.case(f"Free: a retry every {interval} answers {status}"):
            policy = {"retryType": "Fixed", "retryInterval": interval, "retryCount": 1}
            answer = client.put(group.job(), job_body({**http_action(), "retryPolicy": policy}))
            equal(answer.status, status, answer)
    with suite.case("Free: hourly at the most"):
        conflict(client.put(group.job(), job_body(recurrence=EVERY_MINUTE)))
        equal(client.put(group.job(), job_body(recurrence=HOURLY)).status, 200)


def _changes(suite, client):
    """Down to Free: refused for each of the documented reasons, done without them."""
    for why, job, count in [("a job recurs too often", job_body(recurrence=EVERY_MINUTE), 1),
                            ("a job authenticates",
                             job_body(http_action(authentication=BASIC)), 1),
                            ("there are six jobs", job_body(), 6)]:
        group = Group()
        client.put(group.collection(), collection_body())
        for i in range(count):
            equal(client.put(group.job(f"j{i}"), job).status, 201)
        before = client.get(group.collection()).body
        for write in (client.put, client.patch):
            with suite.case(f"no {write.__name__} down to Free while {why}"):
                conflict(write(group.collection(), collection_body("Free")))
                equal(client.get(group.collection()).body, before)
        with suite.case(f"down to Free once it is no longer so that {why}"):
            client.delete(group.job("j0"))
            answer = client.patch(group.collection(), {"properties": {"sku": {"name": "Free"}}})
            equal((answer.status, answer.properties["quota"]["maxJobCount"]), (200, 5), answer)
    group = Group()
    client.put(group.collection("one"), collection_body("Free"))
    client.put(group.collection("two"), collection_body("Standard"))
    with suite.case("no change to Free while there is another free collection"):
        conflict(client.patch(group.collection("two"),
                              {"properties": {"sku": {"name": "Free"}}}), "free")
        equal(client.delete(group.collection("one")).status, 200)
        equal(client.patch(group.collection("two"),
                           {"properties": {"sku": {"name": "Free"}}}).status, 200)
    group = Group()
    client.put(group.collection(), collection_body())
    client.put(group.job("a"), job_body(recurrence=EVERY_MINUTE))
    client.put(group.job("b"), job_body())
    for quota, status in [({"maxJobCount": 1}, 409), ({"maxJobCount": 2}, 200),
                          ({"maxRecurrence": {"frequency": "Hour"}}, 409),
                          ({"maxRecurrence": {"frequency": "Minute"}}, 200)]:
        with suite.case(f"the quota {quota} with the jobs that are there answers {status}"):
            answer = client.patch(group.collection(), {"properties": {"quota": quota}})
            equal(answer.status, status, answer)


def _collections(suite, client):
    group = Group()
    with suite.case("one free collection in a subscription, whatever the resource group"):
        equal(client.put(group.collection("one"), collection_body("Free")).status, 201)
        equal(client.put(group.collection("ONE"), collection_body("Free")).status, 201)
        other = Group(group.subscription, "another")
        conflict(client.put(other.collection("two"), collection_body("Free")), "free")
        equal(client.put(Group().collection("two"), collection_body("Free")).status, 201)
