# SPDX-License-Identifier: MIT
"""PATCH of a job is a deep merge: each case is a job, a patch, and the job it makes."""
import json

from rest import AHEAD, Client, Group, collection_body, http_action
from suite import equal, holds

BASIC = {"type": "Basic", "username": "u", "password": "p"}
SHOWN_BASIC = {"username": "u", "type": "Basic"}
REQUEST = {"uri": "http://h/", "method": "GET"}
WEEKLY = {"frequency": "Week", "interval": 2, "count": 10, "endTime": "2099-12-31T00:00:00Z",
          "schedule": {"minutes": [0], "hours": [5, 6], "weekDays": ["Monday", "Friday"]}}
SHOWN_WEEKLY = {"frequency": "week", "count": 10, "endTime": "2099-12-31T00:00:00Z",
                "interval": 2, "schedule": {"minutes": [0], "hours": [5, 6],
                                            "weekDays": ["monday", "friday"]}}
OTHER_QUEUE = {"type": "StorageQueue", "queueMessage": {
    "storageAccount": "a", "queueName": "q", "sasToken": "s", "message": "m"}}
SHOWN_QUEUE = {"queueMessage": {"storageAccount": "a", "queueName": "q", "message": "m"},
               "type": "StorageQueue"}
POLICY = {"retryType": "Fixed", "retryInterval": "PT1M", "retryCount": 2}
SHOWN_POLICY = {"retryType": "fixed", "retryInterval": "00:01:00", "retryCount": 2}


def action(**more):
    return {"type": "Http", "request": dict(REQUEST, **more)}


def shown(**more):
    return {"request": dict(REQUEST, **more), "type": "Http"}


CASES = [  # sentence, properties before, patch of the properties, what is then shown of it
    ("frequency alone keeps count, endTime, interval",
     {"recurrence": {**WEEKLY, "schedule": {"hours": [5]}}},
     {"recurrence": {"frequency": "Day"}},
     {"recurrence": {**SHOWN_WEEKLY, "frequency": "day", "schedule": {"hours": [5]}}}),
    ("a schedule's array is replaced, its other arrays stay",
     {"recurrence": WEEKLY}, {"recurrence": {"schedule": {"hours": [7]}}},
     {"recurrence": {**SHOWN_WEEKLY, "schedule": {**SHOWN_WEEKLY["schedule"], "hours": [7]}}}),
    ("null removes one member of the schedule",
     {"recurrence": WEEKLY}, {"recurrence": {"schedule": {"minutes": None}}},
     {"recurrence": {**SHOWN_WEEKLY, "schedule": {"hours": [5, 6],
                                                  "weekDays": ["monday", "friday"]}}}),
    ("null removes the schedule",
     {"recurrence": WEEKLY}, {"recurrence": {"schedule": None}},
     {"recurrence": {k: v for k, v in SHOWN_WEEKLY.items() if k != "schedule"}}),
    ("null removes count and endTime",
     {"recurrence": WEEKLY}, {"recurrence": {"count": None, "endTime": None}},
     {"recurrence": {"frequency": "week", "interval": 2, "schedule": SHOWN_WEEKLY["schedule"]}}),
    ("null removes the recurrence", {"recurrence": WEEKLY}, {"recurrence": None},
     {"recurrence": None}),
    ("a recurrence where there was none", {}, {"recurrence": {"frequency": "Hour"}},
     {"recurrence": {"frequency": "hour", "interval": 1}}),
    ("request without authentication keeps the credentials",
     {"action": action(authentication=BASIC)},
     {"action": {"type": "Http", "request": {"uri": "http://h/other", "method": "PUT"}}},
     {"action": shown(uri="http://h/other", method="PUT", authentication=SHOWN_BASIC)}),
    ("authentication null removes it", {"action": action(authentication=BASIC)},
     {"action": {"request": {"authentication": None}}}, {"action": shown()}),
    ("another user name keeps the password", {"action": action(authentication=BASIC)},
     {"action": {"request": {"authentication": {"username": "v"}}}},
     {"action": shown(authentication={"username": "v", "type": "Basic"})}),
    ("what GET showed of the credentials may be sent back",
     {"action": action(authentication=BASIC)},
     {"action": {"request": {"authentication": SHOWN_BASIC}}},
     {"action": shown(authentication=SHOWN_BASIC)}),
    ("authentication of another type replaces all of it",
     {"action": action(authentication=BASIC)},
     {"action": {"request": {"authentication": {
         "type": "ActiveDirectoryOAuth", "tenant": "t", "audience": "a", "clientId": "c",
         "secret": "s"}}}},
     {"action": shown(authentication={"tenant": "t", "audience": "a", "clientId": "c",
                                      "type": "ActiveDirectoryOAuth"})}),
    ("headers are a map: replaced whole", {"action": action(headers={"a": "1", "b": "2"})},
     {"action": {"request": {"headers": {"c": "3"}}}}, {"action": shown(headers={"c": "3"})}),
    ("headers null removes them", {"action": action(headers={"a": "1"})},
     {"action": {"request": {"headers": None}}}, {"action": shown()}),
    ("the body alone", {"action": action(body="old", headers={"a": "1"})},
     {"action": {"request": {"body": "new"}}},
     {"action": shown(headers={"a": "1"}, body="new")}),
    ("an action of another type replaces the action",
     {"action": {**action(authentication=BASIC), "retryPolicy": POLICY,
                 "errorAction": action()}},
     {"action": OTHER_QUEUE}, {"action": SHOWN_QUEUE}),
    ("type in another case is the same type", {"action": action(authentication=BASIC)},
     {"action": {"type": "HTTP", "request": {"method": "PUT"}}},
     {"action": shown(method="PUT", authentication=SHOWN_BASIC)}),
    ("an error action beside what is there", {"action": {**action(), "retryPolicy": POLICY}},
     {"action": {"errorAction": OTHER_QUEUE}},
     {"action": {**shown(), "retryPolicy": SHOWN_POLICY, "errorAction": SHOWN_QUEUE}}),
    ("errorAction.request without authentication keeps its credentials",
     {"action": {**action(), "errorAction": action(authentication=BASIC)}},
     {"action": {"errorAction": {"type": "Http", "request": {"uri": "http://h:80/e"}}}},
     {"action": {**shown(), "errorAction": shown(uri="http://h:80/e",
                                                 authentication=SHOWN_BASIC)}}),
    ("errorAction null removes it", {"action": {**action(), "errorAction": action()}},
     {"action": {"errorAction": None}}, {"action": shown()}),
    ("retryCount alone keeps the interval", {"action": {**action(), "retryPolicy": POLICY}},
     {"action": {"retryPolicy": {"retryCount": 5}}},
     {"action": {**shown(), "retryPolicy": {**SHOWN_POLICY, "retryCount": 5}}}),
    ("retryPolicy null removes it", {"action": {**action(), "retryPolicy": POLICY}},
     {"action": {"retryPolicy": None}}, {"action": shown()}),
    ("retryType none forgets interval and count", {"action": {**action(),
                                                              "retryPolicy": POLICY}},
     {"action": {"retryPolicy": {"retryType": "None"}}},
     {"action": {**shown(), "retryPolicy": {"retryType": "none"}}}),
    ("retryPolicy beside the action", {"action": {**action(), "retryPolicy": POLICY}},
     {"retryPolicy": {"retryCount": 5}},
     {"action": {**shown(), "retryPolicy": {**SHOWN_POLICY, "retryCount": 5}}}),
    ("retryPolicy in the request", {"action": action()},
     {"action": {"request": {"retryPolicy": POLICY, "method": "PUT"}}},
     {"action": {**shown(method="PUT"), "retryPolicy": SHOWN_POLICY}}),
    ("retryPolicy null beside the action", {"action": {**action(), "retryPolicy": POLICY}},
     {"RETRYPOLICY": None}, {"action": shown()}),
    ("retryPolicy null in the request", {"action": {**action(), "retryPolicy": POLICY}},
     {"action": {"request": {"retryPolicy": None}}}, {"action": shown()}),
    ("errorAction beside the action, and its retryPolicy in its request", {"action": action()},
     {"errorAction": action(retryPolicy=POLICY)},
     {"action": {**shown(), "errorAction": {**shown(), "retryPolicy": SHOWN_POLICY}}}),
    ("errorAction null beside the action", {"action": {**action(), "errorAction": action()}},
     {"errorAction": None}, {"action": shown()}),
    ("timeout in the request", {"action": {**action(), "timeout": "PT10S"}},
     {"action": {"request": {"timeout": "PT20S"}}},
     {"action": {**shown(), "timeout": "00:00:20"}}),
    ("timeout null in the request", {"action": {**action(), "timeout": "PT10S"}},
     {"action": {"request": {"timeout": None}}}, {"action": shown()}),
    ("member names in another case are the same members",
     {"action": action(), "recurrence": WEEKLY},
     {"ACTION": {"Request": {"URI": "http://x/"}}, "Recurrence": {"COUNT": 3}},
     {"action": shown(uri="http://x/"), "recurrence": {**SHOWN_WEEKLY, "count": 3}}),
    ("startTime alone", {"startTime": AHEAD, "recurrence": {"frequency": "Day"}},
     {"startTime": "2099-02-01T00:00:00Z"},
     {"startTime": "2099-02-01T00:00:00Z", "recurrence": {"frequency": "day", "interval": 1}}),
    ("state alone", {"recurrence": WEEKLY}, {"state": "Disabled"},
     {"recurrence": SHOWN_WEEKLY, "state": "disabled"}),
    ("status, id and an empty patch change nothing", {"recurrence": WEEKLY},
     {"status": {"executionCount": 7}}, {"recurrence": SHOWN_WEEKLY}),
    ("brokered properties merge, custom ones are replaced",
     {"action": {"type": "ServiceBusQueue", "serviceBusQueueMessage": {
         "namespace": "n", "queueName": "q", "message": "m",
         "authentication": {"sasKeyName": "k", "sasKey": "s"},
         "brokeredMessageProperties": {"label": "l", "to": "t"},
         "customMessageProperties": {"a": "1", "b": "2"}}}},
     {"action": {"serviceBusQueueMessage": {
         "brokeredMessageProperties": {"label": "L"}, "customMessageProperties": {"c": "3"}}}},
     {"action": {"serviceBusQueueMessage": {
         "queueName": "q", "namespace": "n", "transportType": "netMessaging",
         "authentication": {"sasKeyName": "k", "type": "sharedAccessKey"}, "message": "m",
         "brokeredMessageProperties": {"label": "L", "to": "t"},
         "customMessageProperties": {"c": "3"}}, "type": "ServiceBusQueue"}}),
]
REFUSED = [  # patches that make a job nobody may have
    {"action": None},
    {"action": {"type": None}},
    {"action": {"request": None}},
    {"action": {"request": {"uri": None}}},
    {"action": {"type": "StorageQueue"}},
    {"action": 5},
    {"recurrence": {"frequency": "Day"}},  # its weekDays stay, and go with weeks only
    {"recurrence": {"frequency": "Fortnight"}},
    {"recurrence": {"endTime": "2001-01-01"}},
    {"recurrence": {"count": -1}},
    {"state": "Completed"},
    {"startTime": "soon"},
]


def run(suite, server):
    client = Client(server.port)
    group = Group()
    client.put(group.collection(), collection_body("P20Premium"))
    for number, (sentence, before, patch, after) in enumerate(CASES):
        before = {"startTime": AHEAD, "action": http_action(), **before}
        for form in ("wrapped", "bare"):
            with suite.case(f"PATCH, {form}: {sentence}"):
                path = group.job(f"{form}{number}")
                first = client.put(path, {"properties": before})
                equal(first.status, 201, first)
                answer = client.patch(path, {"properties": patch} if form == "wrapped" else patch)
                equal(answer.status, 200, answer)
                expected = {**first.properties, **after}
                expected.pop("status", None)
                expected = {k: v for k, v in expected.items() if v is not None}
                result = answer.properties
                result.pop("status", None)
                equal(result, expected)
                equal(client.get(path).body, answer.body)
    _refusals(suite, client, group)
    _credentials(suite, client, group)


def _refusals(suite, client, group):
    path = group.job("refused")
    before = client.put(path, {"properties": {
        "startTime": AHEAD, "action": http_action(), "recurrence": WEEKLY}}).body
    for patch in REFUSED:
        with suite.case(f"PATCH {json.dumps(patch)} is refused and changes nothing"):
            answer = client.patch(path, {"properties": patch})
            equal((answer.status, answer.error["code"]), (400, "BadRequest"), answer)
            equal(client.get(path).body, before)
    with suite.case("days of week with another unit are refused in the live service's words"):
        answer = client.patch(path, {"properties": {"recurrence": {"frequency": "Month"}}})
        holds("Cannot set days of week with recurrence unit 'Month'." in
              answer.error["message"], answer)
    for body in (b"", b"[]", b"null", b"5", b"{"):
        with suite.case(f"PATCH {body} is refused"):
            equal(client.patch(path, body).status, 400)


def _credentials(suite, client, group):
    """The password is not shown, so what shows that it is kept is that it need not be sent."""
    path = group.job("credentials")
    with suite.case("after authentication null there is no password left to keep"):
        client.put(path, {"properties": {"action": action(authentication=BASIC)}})
        client.patch(path, {"properties": {"action": {"request": {"authentication": None}}}})
        answer = client.patch(path, {"properties": {"action": {"request": {
            "authentication": SHOWN_BASIC}}}})
        equal((answer.status, answer.error["target"]),
              (400, "properties.action.request.authentication.password"))
    with suite.case("PUT without authentication forgets the password"):
        client.put(path, {"properties": {"action": action(authentication=BASIC)}})
        client.put(path, {"properties": {"action": action()}})
        answer = client.patch(path, {"properties": {"action": {"request": {
            "authentication": SHOWN_BASIC}}}})
        equal(answer.status, 400)
    with suite.case("PUT of what GET showed lacks the password, and says so"):
        client.put(path, {"properties": {"action": action(authentication=BASIC)}})
        answer = client.put(path, client.get(path).json)
        equal((answer.status, answer.error["target"]),
              (400, "properties.action.request.authentication.password"))
