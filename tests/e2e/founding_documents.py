#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Every JSON example of the founding documents (Azure Scheduler's page of concepts and terms,
in five languages) is accepted as printed, and answered as the specification says.

    founding_documents.py PATH_OF_BELFRY

The examples are in founding/, without comments and trailing commas. Their year 2012 is
moved ahead when they are read, since an end in the past is refused.
"""
import datetime
import json
import pathlib
import sys

from rest import AHEAD, Client, Group, collection_body, http_action
from server import Server
from suite import Suite, binary_of, equal, holds

EXAMPLES = pathlib.Path(__file__).parent / "founding"
YEAR_PRINTED, YEAR_AHEAD = "2012-", "2099-"
# The first Monday, Wednesday or Friday at ten from the moved startTime on.
FIRST_RUN = "2099-08-05T10:00:00Z"

WHOLE_JOB = {
    "startTime": "2099-08-04T00:00:00Z",
    "action": {
        "request": {"uri": "http://contoso.com/some-method", "method": "PUT",
                    "headers": {"Content-Type": "application/json"},
                    "body": "Posting from a timer"},
        "type": "Http",
        "retryPolicy": {"retryType": "none"},
        "errorAction": {"request": {"uri": "http://contoso.com/notifyError", "method": "POST"},
                        "type": "Http"},
    },
    "recurrence": {"frequency": "week", "count": 10, "endTime": "2099-11-04T00:00:00Z",
                   "interval": 1,
                   "schedule": {"hours": [10, 22], "weekDays": ["monday", "wednesday", "friday"]}},
    "state": "disabled",
}
BUS_MESSAGE = {"namespace": "mySBNamespace", "transportType": "netMessaging",
               "authentication": {"sasKeyName": "QPolicy", "type": "sharedAccessKey"},
               "message": "Some message", "customMessageProperties": {"appname": "FromScheduler"}}
STORAGE_QUEUE = {"queueMessage": {"storageAccount": "myStorageAccount", "queueName": "myqueue",
                                  "message": "My message body"},
                 "type": "StorageQueue"}
BUS_QUEUE = {"serviceBusQueueMessage": {"queueName": "q1", **BUS_MESSAGE},
             "type": "ServiceBusQueue"}
BUS_TOPIC = {"serviceBusTopicMessage": {"topicPath": "t1", **BUS_MESSAGE},
             "type": "ServiceBusTopic"}


def example(name, moved=True):
    text = (EXAMPLES / f"{name}.json").read_text()
    return json.loads(text.replace(YEAR_PRINTED, YEAR_AHEAD) if moved else text)


def order_of(value):
    """The names of all members in the order they came, however deep."""
    if isinstance(value, dict):
        return [(name, order_of(member)) for name, member in value.items()]
    return [order_of(element) for element in value] if isinstance(value, list) else None


class Documents:
    def __init__(self, suite, client):
        self.suite = suite
        self.client = client
        self.group = Group()
        equal(client.put(self.group.collection(), collection_body()).status, 201)

    def put(self, name, body):
        return self.client.put(self.group.job(name), body)

    def accepted(self, name, body, properties):
        """PUT answers 201 with these properties, status aside, and GET shows the same."""
        answer = self.put(name, body)
        equal(answer.status, 201, answer)
        shown = answer.json
        equal(shown["id"], self.group.job(name))
        equal(shown["type"], "Microsoft.Scheduler/jobCollections/jobs")
        equal(shown["name"], f"jc/{name}")
        self.status = shown["properties"].pop("status", None)
        equal(shown["properties"], properties)
        equal(order_of(shown["properties"]), order_of(properties), "the order of the members")
        again = self.client.get(self.group.job(name)).properties
        again.pop("status", None)
        equal(again, properties)
        return answer

    def whole_jobs(self):
        with self.suite.case("the whole job, wrapped in properties, retryPolicy in request"):
            answer = self.accepted("wrapped", example("whole_job_wrapped"), WHOLE_JOB)
            equal(self.status, None, "a disabled job that never ran has no status")
            equal(answer.headers["x-belfry-ignored"], None)
        with self.suite.case("the whole job with bare keys, http, retryPolicy in action"):
            expected = json.loads(json.dumps(WHOLE_JOB).replace("some-method", "foo"))
            answer = self.accepted("bare", example("whole_job_bare"), expected)
            equal(answer.headers["x-belfry-ignored"], None)
        for name in ("wrapped", "bare"):
            with self.suite.case(f"{name}: enabled, it waits for its first day at ten"):
                first = datetime.datetime.fromisoformat(FIRST_RUN)
                holds(first.strftime("%A") == "Wednesday", "the test knows its calendar")
                answer = self.client.patch(self.group.job(name), {"properties": {
                    "state": "Enabled"}})
                equal(answer.status, 200, answer)
                equal(answer.properties["state"], "enabled")
                equal(answer.properties["status"],
                      {"nextExecutionTime": FIRST_RUN, "executionCount": 0, "failureCount": 0,
                       "faultedCount": 0})

    def actions(self):
        """The documents print no startTime here; ours keeps the test from sending anything."""
        for name, expected in [("storage_queue", STORAGE_QUEUE),
                               ("service_bus_queue", BUS_QUEUE),
                               ("service_bus_queue_type_last", BUS_QUEUE),
                               ("service_bus_topic", BUS_TOPIC)]:
            printed = {"startTime": AHEAD, **example(name)}
            properties = {"startTime": AHEAD, "action": expected, "state": "enabled"}
            with self.suite.case(f"{name}: bare, as printed"):
                answer = self.accepted(f"{name}-bare", printed, properties)
                holds(b"TOKEN" not in answer.body, "the SAS token is never shown")
            with self.suite.case(f"{name}: wrapped in properties"):
                self.accepted(f"{name}-wrapped", {"properties": printed}, properties)
            with self.suite.case(f"{name}: as an error action"):
                both = {"startTime": AHEAD, "action": {**http_action(),
                                                       "errorAction": printed["action"]}}
                answer = self.put(f"{name}-error", {"properties": both})
                equal(answer.status, 201, answer)
                equal(answer.properties["action"]["errorAction"], expected)

    def parts(self):
        action = http_action()
        shown = {"request": action["request"], "type": "Http"}
        with self.suite.case("the recurrence by itself"):
            expected = {"frequency": "week", "count": 10, "endTime": "2099-11-04T00:00:00Z",
                        "interval": 1,
                        "schedule": {"minutes": [0, 30], "hours": [10, 22],
                                     "weekDays": ["monday", "wednesday", "friday"]}}
            self.accepted("recurrence", {"properties": {"action": action,
                                                        **example("recurrence")}},
                          {"action": shown, "recurrence": expected, "state": "enabled"})
            holds("nextExecutionTime" in self.status, "it runs at once, then by its schedule")
        day = {"retryType": "fixed", "retryInterval": "1.00:00:00", "retryCount": 2}
        places = {
            "in action": {"action": {**action, **example("retry_policy")}},
            "in request": {"action": {"type": "Http", "request": {**action["request"],
                                                                  **example("retry_policy")}}},
            "beside action": {"action": action, **example("retry_policy")},
        }
        for place, body in places.items():
            with self.suite.case(f"retryPolicy with PT1D {place}, wrapped and bare"):
                name = "retry-" + place.replace(" ", "-")
                expected = {"action": {**shown, "retryPolicy": day}, "state": "enabled"}
                self.accepted(name, {"properties": body}, expected)
                self.accepted(name + "-bare", body, expected)
        with self.suite.case("errorAction beside action, as the table lists it"):
            self.accepted("error-beside", {"properties": {"action": action,
                                                          "errorAction": action}},
                          {"action": {**shown, "errorAction": shown}, "state": "enabled"})
        with self.suite.case("the state by itself"):
            self.accepted("state", {"properties": {"action": action, **example("state")}},
                          {"action": shown, "state": "disabled"})
        with self.suite.case("a status that is sent along is the service's own business"):
            answer = self.accepted("status", {"properties": {"action": action,
                                                             **example("status")}},
                                   {"action": shown, "state": "enabled"})
            equal(self.status["executionCount"], 0)
            holds("lastExecutionTime" not in self.status, "it never ran")
            equal(answer.headers["x-belfry-ignored"], None, "clients send back what they got")

    def refusals(self):
        for name, path in [("whole_job_wrapped", "properties.recurrence.endTime"),
                           ("whole_job_bare", "recurrence.endTime"),
                           ("recurrence", "recurrence.endTime")]:
            with self.suite.case(f"{name}: its end in 2012 is refused, and why is said"):
                body = example(name, moved=False)
                if name == "recurrence":
                    body["action"] = http_action()
                answer = self.put("past", body)
                equal(answer.status, 400, answer)
                equal(answer.error["code"], "BadRequest")
                message = answer.error["message"]
                equal(answer.error["target"], path)
                for part in ("Malformed Job Object", path, "future", "2012-11-04T00:00:00Z"):
                    holds(part in message, f"{part!r} is not in {message!r}")
                equal(self.client.get(self.group.job("past")).status, 404, "nothing is stored")
        with self.suite.case("names that a machine translated are not known: no action is found"):
            answer = self.put("translated", {"akce": http_action(), "názvů": "x"})
            equal((answer.status, answer.error["target"]), (400, "action"), answer)


def main():
    suite = Suite()
    with Server(binary_of(sys.argv)) as server:
        documents = Documents(suite, Client(server.port))
        documents.whole_jobs()
        documents.actions()
        documents.parts()
        documents.refusals()
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
