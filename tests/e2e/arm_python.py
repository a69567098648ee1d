#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Azure's own Python client (azure.mgmt.scheduler, Debian's python3-azure) against the real
server: every operation of the service, and everything a job can say, there and back.

    arm_python.py PATH_OF_BELFRY [--auth token]
"""
import datetime
import sys

from azure.core.exceptions import HttpResponseError, ResourceExistsError, ResourceNotFoundError
from azure.core.pipeline.policies import SansIOHTTPPolicy
from azure.mgmt.scheduler import SchedulerManagementClient
from azure.mgmt.scheduler import models as m

from history_rows import add_rows
from rest import Client, Group, collection_body
from server import Server
from suite import Suite, binary_of, equal, holds

GROUP, COLLECTION = "group", "jc"
AHEAD = datetime.datetime(2099, 1, 1, tzinfo=datetime.timezone.utc)
HISTORY_ROWS = 620
PAGE = 1000


class PlainToken(SansIOHTTPPolicy):
    """The client's own policy refuses to send a token over plain http."""

    def __init__(self, token):
        super().__init__()
        self._token = token

    def on_request(self, request):
        request.http_request.headers["Authorization"] = f"Bearer {self._token}"


def connect(server, subscription="sub"):
    return SchedulerManagementClient(
        credential=object(), subscription_id=subscription,
        base_url=f"http://127.0.0.1:{server.port}",
        authentication_policy=PlainToken(server.token or "none"), retry_total=0)


def fails(kind, status, code, call):
    try:
        call()
    except HttpResponseError as error:
        equal(type(error), kind)
        equal((error.status_code, error.error.code), (status, code))
        holds(error.error.message, "a message")
        return error.error.message
    raise AssertionError(f"{code} was expected, and nothing was refused")


def collection(sku="Standard", **more):
    return m.JobCollectionDefinition(
        location="West Europe", tags=more.pop("tags", None),
        properties=m.JobCollectionProperties(sku=m.Sku(name=sku), **more))


def http_job(**properties):
    request = m.HttpRequest(uri="http://127.0.0.1:1/hook", method="POST",
                            headers={"Content-Type": "text/plain"}, body="text")
    properties.setdefault("action", m.JobAction(type="Http", request=request))
    properties.setdefault("start_time", AHEAD)
    return m.JobDefinition(properties=m.JobProperties(**properties))


def lower(values):
    return [value.lower() for value in values]


class Tour:
    def __init__(self, suite, client):
        self.suite = suite
        self.client = client
        self.collections = client.job_collections
        self.jobs = client.jobs

    def put(self, name, job):
        return self.jobs.create_or_update(GROUP, COLLECTION, name, job)

    def get(self, name):
        return self.jobs.get(GROUP, COLLECTION, name)

    def round_trip(self, name, job):
        """What PUT answers and what GET answers are the same."""
        answered = self.put(name, job).as_dict()
        equal(self.get(name).as_dict(), answered)
        return self.get(name).properties

    def collection_operations(self):
        with self.suite.case("create_or_update makes a collection with its plan's quota"):
            made = self.collections.create_or_update(GROUP, COLLECTION, collection(
                tags={"team": "ops"}))
            equal(made.id, f"/subscriptions/sub/resourceGroups/{GROUP}/providers/"
                           f"Microsoft.Scheduler/jobCollections/{COLLECTION}")
            equal((made.name, made.type, made.location, made.tags),
                  (COLLECTION, "Microsoft.Scheduler/jobCollections", "West Europe",
                   {"team": "ops"}))
            equal(m.SkuDefinition(made.properties.sku.name), m.SkuDefinition.STANDARD)
            equal(m.JobCollectionState(made.properties.state), m.JobCollectionState.ENABLED)
            quota = made.properties.quota
            equal((quota.max_job_count, quota.max_recurrence.frequency.lower(),
                   quota.max_recurrence.interval), (50, "minute", 1))
        with self.suite.case("create_or_update again replaces it"):
            quota = m.JobCollectionQuota(max_job_count=30, max_recurrence=m.JobMaxRecurrence(
                frequency=m.RecurrenceFrequency.MINUTE, interval=5))
            made = self.collections.create_or_update(GROUP, COLLECTION, collection(quota=quota))
            equal((made.tags, made.properties.quota.max_job_count,
                   made.properties.quota.max_recurrence.interval), (None, 30, 5))
        with self.suite.case("patch changes the tags alone"):
            patched = self.collections.patch(GROUP, COLLECTION, m.JobCollectionDefinition(
                tags={"a": "b"}))
            equal((patched.tags, patched.properties.quota.max_job_count), ({"a": "b"}, 30))
        with self.suite.case("get shows what patch answered"):
            equal(self.collections.get(GROUP, COLLECTION).as_dict(), patched.as_dict())
        with self.suite.case("disable and enable are done when they answer"):
            for begin, state in ((self.collections.begin_disable, "Disabled"),
                                 (self.collections.begin_enable, "Enabled")):
                poller = begin(GROUP, COLLECTION)
                holds(poller.done(), "nothing to poll")
                poller.result()
                equal(self.collections.get(GROUP, COLLECTION).properties.state, state)
        for sku in ("Free", "P10Premium", "P20Premium"):
            with self.suite.case(f"a collection of SKU {sku}, made, listed and deleted"):
                made = self.collections.create_or_update("other", sku, collection(sku))
                equal(made.properties.sku.name, sku)
                equal([c.name for c in self.collections.list_by_resource_group("other")], [sku])
                equal({c.name for c in self.collections.list_by_subscription()},
                      {COLLECTION, sku})
                self.collections.begin_delete("other", sku).result()
                equal(list(self.collections.list_by_resource_group("other")), [])
        with self.suite.case("begin_delete of what is gone is no error"):
            self.collections.begin_delete("other", "Free").result()

    def http_actions(self):
        with self.suite.case("a job with everything: action, errorAction, retryPolicy"):
            action = m.JobAction(
                type=m.JobActionType.HTTPS,
                request=m.HttpRequest(
                    uri="https://127.0.0.1:1/hook?a=%2d", method="PUT", body="é€",
                    headers={"ConTent-tYPe": "text/plain"},
                    authentication=m.BasicAuthentication(username="u", password="secret")),
                retry_policy=m.RetryPolicy(retry_type=m.RetryType.FIXED, retry_count=3,
                                           retry_interval=datetime.timedelta(
                                               days=1, hours=2, minutes=3, seconds=4)),
                error_action=m.JobErrorAction(
                    type=m.JobActionType.HTTP,
                    request=m.HttpRequest(uri="http://127.0.0.1:1/error", method="post"),
                    retry_policy=m.RetryPolicy(retry_type=m.RetryType.NONE)))
            made = self.round_trip("full", http_job(action=action, state=m.JobState.DISABLED))
            request = made.action.request
            equal(m.JobActionType(made.action.type), m.JobActionType.HTTPS)
            equal((request.uri, request.method, request.body, request.headers),
                  ("https://127.0.0.1:1/hook?a=%2d", "PUT", "é€", {"ConTent-tYPe": "text/plain"}))
            equal(type(request.authentication), m.BasicAuthentication)
            equal((request.authentication.username, request.authentication.password),
                  ("u", None))
            policy = made.action.retry_policy
            equal((policy.retry_type.lower(), policy.retry_count, policy.retry_interval),
                  ("fixed", 3, datetime.timedelta(days=1, hours=2, minutes=3, seconds=4)))
            error = made.action.error_action
            equal((error.type, error.request.uri, error.retry_policy.retry_type.lower()),
                  ("Http", "http://127.0.0.1:1/error", "none"))
            equal((made.start_time, made.state.lower(), made.status), (AHEAD, "disabled", None))
        with self.suite.case("OAuth comes back as OAuth, without the secret"):
            oauth = m.OAuthAuthentication(tenant="t", audience="a", client_id="c", secret="s")
            action = m.JobAction(type="Http", request=m.HttpRequest(
                uri="http://127.0.0.1:1/", method="GET", authentication=oauth))
            made = self.round_trip("oauth", http_job(action=action)).action.request.authentication
            equal(type(made), m.OAuthAuthentication)
            equal((made.tenant, made.audience, made.client_id, made.secret),
                  ("t", "a", "c", None))

    def sealed_headers(self):
        with self.suite.case("a header that is sealed comes back from GET to PUT as it was"):
            request = m.HttpRequest(uri="http://127.0.0.1:1/", method="GET", headers={
                "Accept": "a", "Authorization": "Bearer b"})
            self.put("sealed", http_job(action=m.JobAction(type="Http", request=request)))
            for _ in range(2):
                read = self.get("sealed")
                equal(read.properties.action.request.headers,
                      {"Accept": "a", "Authorization": "(sealed)"})
                self.put("sealed", read)
            self.jobs.delete(GROUP, COLLECTION, "sealed")

    def message_actions(self):
        with self.suite.case("a storage queue message, without its SAS token"):
            action = m.JobAction(type="StorageQueue", queue_message=m.StorageQueueMessage(
                storage_account="account", queue_name="q", sas_token="?sv=x", message="hello"))
            made = self.round_trip("queue", http_job(action=action)).action.queue_message
            equal(made.as_dict(), {"storage_account": "account", "queue_name": "q",
                                   "message": "hello"})
        shared = {
            "namespace": "ns", "message": "hello", "transport_type": "AMQP",
            "authentication": m.ServiceBusAuthentication(
                type="SharedAccessKey", sas_key_name="key", sas_key="secret"),
            "brokered_message_properties": m.ServiceBusBrokeredMessageProperties(
                content_type="text/plain", correlation_id="c", force_persistence=True, label="l",
                message_id="m", partition_key="p", reply_to="r", reply_to_session_id="rs",
                scheduled_enqueue_time_utc=AHEAD, session_id="s", to="t",
                time_to_live=datetime.timedelta(minutes=90), via_partition_key="v"),
            "custom_message_properties": {"tenant": "contoso"}}
        actions = {
            "bus-queue": m.JobAction(type="ServiceBusQueue",
                                     service_bus_queue_message=m.ServiceBusQueueMessage(
                                         queue_name="q", **shared)),
            "bus-topic": m.JobAction(type="ServiceBusTopic",
                                     service_bus_topic_message=m.ServiceBusTopicMessage(
                                         topic_path="t", **shared))}
        for name, action in actions.items():
            with self.suite.case(f"{name}: every property there and back, without the key"):
                made = self.round_trip(name, http_job(action=action)).action
                message = made.service_bus_queue_message or made.service_bus_topic_message
                equal(made.type, action.type)
                equal((message.namespace, message.message, message.transport_type.lower(),
                       message.custom_message_properties),
                      ("ns", "hello", "amqp", {"tenant": "contoso"}))
                equal((message.authentication.sas_key_name, message.authentication.sas_key,
                       message.authentication.type.lower()), ("key", None, "sharedaccesskey"))
                equal(message.brokered_message_properties.as_dict(),
                      shared["brokered_message_properties"].as_dict())
        with self.suite.case("another type of error action than of action"):
            error = m.JobErrorAction(**actions["bus-topic"].as_dict())
            action = http_job().properties.action
            action.error_action = error
            made = self.round_trip("mixed", http_job(action=action)).action
            equal((made.type, made.error_action.type), ("Http", "ServiceBusTopic"))

    def recurrences(self):
        end = datetime.datetime(2099, 12, 31, 23, 59, 59, tzinfo=datetime.timezone.utc)
        with self.suite.case("a weekly recurrence with count and endTime"):
            made = self.round_trip("weekly", http_job(recurrence=m.JobRecurrence(
                frequency=m.RecurrenceFrequency.WEEK, interval=2, count=5, end_time=end,
                schedule=m.JobRecurrenceSchedule(
                    week_days=[m.DayOfWeek.MONDAY, m.DayOfWeek.FRIDAY], hours=[5, 17],
                    minutes=[0, 30])))).recurrence
            equal((made.frequency.lower(), made.interval, made.count, made.end_time),
                  ("week", 2, 5, end))
            equal((lower(made.schedule.week_days), made.schedule.hours, made.schedule.minutes),
                  (["monday", "friday"], [5, 17], [0, 30]))
        with self.suite.case("monthDays, counted from both ends"):
            made = self.round_trip("days", http_job(recurrence=m.JobRecurrence(
                frequency="Month", schedule=m.JobRecurrenceSchedule(month_days=[1, -1]))))
            equal(made.recurrence.schedule.month_days, [1, -1])
            equal(made.recurrence.interval, 1)
        with self.suite.case("monthlyOccurrences, with and without a number"):
            made = self.round_trip("occurrences", http_job(recurrence=m.JobRecurrence(
                frequency="Month", schedule=m.JobRecurrenceSchedule(monthly_occurrences=[
                    m.JobRecurrenceScheduleMonthlyOccurrence(day="Friday", occurrence=-1),
                    m.JobRecurrenceScheduleMonthlyOccurrence(day="Monday", occurrence=1),
                    m.JobRecurrenceScheduleMonthlyOccurrence(day="Sunday")]))))
            equal([(o.day.lower(), o.occurrence)
                   for o in made.recurrence.schedule.monthly_occurrences],
                  [("friday", -1), ("monday", 1), ("sunday", None)])
            friday = datetime.datetime(2099, 1, 4, tzinfo=datetime.timezone.utc)
            equal(made.status.next_execution_time, friday)
            equal((made.status.execution_count, made.status.failure_count,
                   made.status.faulted_count, made.status.last_execution_time), (0, 0, 0, None))
        with self.suite.case("a startTime with an offset comes back in UTC"):
            offset = datetime.timezone(datetime.timedelta(hours=-7))
            job = http_job()
            job.properties.start_time = datetime.datetime(2099, 7, 7, 7, 7, 7, 216000, offset)
            equal(self.round_trip("offset", job).start_time,
                  datetime.datetime(2099, 7, 7, 14, 7, 7, 216000, datetime.timezone.utc))

    def patch_run_delete(self):
        with self.suite.case("patch keeps what it does not name, the credentials too"):
            patch = m.JobDefinition(properties=m.JobProperties(
                action=m.JobAction(type="Https", request=m.HttpRequest(
                    uri="https://127.0.0.1:1/other", method="PUT")),
                recurrence=m.JobRecurrence(frequency="Day")))
            made = self.jobs.patch(GROUP, COLLECTION, "full", patch).properties
            equal((made.action.request.uri, made.action.request.authentication.username,
                   made.action.retry_policy.retry_count, made.state.lower(),
                   made.recurrence.frequency.lower()),
                  ("https://127.0.0.1:1/other", "u", 3, "disabled", "day"))
        with self.suite.case("patch of the state"):
            for state in ("Enabled", "Disabled"):
                made = self.jobs.patch(GROUP, COLLECTION, "full", m.JobDefinition(
                    properties=m.JobProperties(state=state)))
                equal(made.properties.state.lower(), state.lower())
        with self.suite.case("run"):
            self.put("runs", http_job())
            equal(self.jobs.run(GROUP, COLLECTION, "runs"), None)
        with self.suite.case("delete, twice"):
            for _ in range(2):
                equal(self.jobs.delete(GROUP, COLLECTION, "runs"), None)
            fails(ResourceNotFoundError, 404, "NotFound", lambda: self.get("runs"))

    def lists(self):
        with self.suite.case("list with top, skip and filter"):
            names = [job.name for job in self.jobs.list(GROUP, COLLECTION)]
            equal(names, sorted(names, key=str.lower))
            holds(len(names) >= 10 and f"{COLLECTION}/full" in names, names)

            def some(**options):
                return [job.name for job in self.jobs.list(GROUP, COLLECTION, **options)]
            equal(some(top=3), names[:3])
            equal(some(skip=2), names[2:])
            equal(some(top=3, skip=2), names[2:5])
            equal(some(filter="state eq Disabled"), [f"{COLLECTION}/full"])
            enabled = [name for name in names if name != f"{COLLECTION}/full"]
            equal(some(filter="state eq Enabled", top=2, skip=1), enabled[1:3])
            equal(some(filter="state eq Completed"), [])

    def errors(self):
        no_such = "The Resource 'Microsoft.Scheduler/jobcollections/nope' under resource group " \
                  "'group' was not found."
        with self.suite.case("what is not there: 404 with ARM's words"):
            equal(fails(ResourceNotFoundError, 404, "ResourceNotFound",
                        lambda: self.collections.get(GROUP, "nope")), no_such)
            equal(fails(ResourceNotFoundError, 404, "NotFound", lambda: self.get("nope")),
                  "Job 'nope' cannot be found.")
            fails(ResourceNotFoundError, 404, "ParentResourceNotFound",
                  lambda: self.jobs.create_or_update(GROUP, "nope", "job", http_job()))
            fails(ResourceNotFoundError, 404, "ResourceNotFound",
                  lambda: self.collections.begin_enable(GROUP, "nope"))
        with self.suite.case("a malformed job: 400 with the path and the reason"):
            broken = http_job(recurrence=m.JobRecurrence(
                frequency="Week", schedule=m.JobRecurrenceSchedule(month_days=[1])))
            message = fails(HttpResponseError, 400, "BadRequest",
                            lambda: self.put("broken", broken))
            for part in ("Malformed Job Object", "properties.recurrence.schedule.monthDays",
                         "Cannot set days of month with recurrence unit 'Week'."):
                holds(part in message, message)
        with self.suite.case("a job beyond the quota: 409"):
            often = http_job(recurrence=m.JobRecurrence(frequency="Minute"))
            fails(ResourceExistsError, 409, "Conflict", lambda: self.put("often", often))
        with self.suite.case("run of a disabled job: 409"):
            fails(ResourceExistsError, 409, "Conflict",
                  lambda: self.jobs.run(GROUP, COLLECTION, "full"))
        with self.suite.case("a filter that means nothing: 400"):
            fails(HttpResponseError, 400, "BadRequest",
                  lambda: list(self.jobs.list(GROUP, COLLECTION, filter="name eq x")))


    def being_tried(self):
        """Its status has a member that this client does not know."""
        with self.suite.case("a job that waits for its retry can be read, and put back"):
            self.put("trying", http_job(start_time=None))
            while self.get("trying").properties.status.failure_count == 0:
                pass  # its target, a port where nobody listens, fails it at once
            read = self.get("trying")
            equal((read.properties.state.lower(), read.properties.status.execution_count),
                  ("enabled", 1))
            equal(self.put("trying", read).name, f"{COLLECTION}/trying")
            self.jobs.delete(GROUP, COLLECTION, "trying")


def history(suite, client, rows):
    def some(**options):
        return list(client.jobs.list_job_history(GROUP, COLLECTION, "full", **options))
    with suite.case("list_job_history follows nextLink to the last row"):
        equal([row.properties.repeat_count for row in some()], [r.number for r in rows])
    with suite.case("list_job_history with top and skip: strictly older rows"):
        first, second = some(top=5), some(top=5, skip=5)
        equal([row.id for row in first + second], [row.id for row in some(top=10)])
        holds(max(row.properties.start_time for row in second) <
              min(row.properties.start_time for row in first), "older")
    with suite.case("list_job_history filtered: Completed has no status, Failed has"):
        equal({row.properties.status for row in some(filter="status eq Completed")}, {None})
        equal({row.properties.status.lower() for row in some(filter="status eq Failed")},
              {"failed"})
    with suite.case("a row of the history"):
        row = some(top=1)[0]
        properties = row.properties
        holds(row.id.endswith(row.name.split("/")[2]), row.id)
        equal(row.type, "Microsoft.Scheduler/jobCollections/jobs/history")
        holds(properties.expected_execution_time < properties.start_time < properties.end_time,
              properties)
        equal((properties.retry_count, properties.action_name, properties.message),
              (0, "MainAction", f"row {HISTORY_ROWS}"))


def paging(suite, server):
    group = Group("many")
    raw = Client(server.port, server.token)
    for i in range(PAGE + 1):
        raw.put(group.collection(f"c{i:04}"), collection_body("P10Premium"))
    client = connect(server, "many")
    with suite.case(f"the lists of {PAGE + 1} collections go over a page"):
        expected = [f"c{i:04}" for i in range(PAGE + 1)]
        equal([c.name for c in client.job_collections.list_by_subscription()], expected)
        equal([c.name for c in client.job_collections.list_by_resource_group(group.name)],
              expected)


def main():
    suite = Suite()
    with Server(binary_of(sys.argv), *sys.argv[2:]) as server:
        tour = Tour(suite, connect(server))
        tour.collection_operations()
        tour.http_actions()
        tour.sealed_headers()
        tour.message_actions()
        tour.recurrences()
        tour.patch_run_delete()
        tour.lists()
        tour.errors()
        tour.being_tried()
        paging(suite, server)
        server.stop()
        rows = add_rows(server.store, "full", HISTORY_ROWS)
        server.start()
        history(suite, connect(server), rows)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
