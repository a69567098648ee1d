# SPDX-License-Identifier: MIT
"""What clients may write, and the one spelling that comes back."""
from rest import Client, Group, collection_body, http_action, job_body
from suite import equal, holds

INSTANTS = {  # startTime as it is sent, and as it comes back
    "2099-01-02": "2099-01-02T00:00:00Z",
    "2099-01-02T03:04Z": "2099-01-02T03:04:00Z",
    "2099-01-02T03:04:05": "2099-01-02T03:04:05Z",
    "2099-01-02T03:04:05z": "2099-01-02T03:04:05Z",
    "2099-01-02T03:04:05.000Z": "2099-01-02T03:04:05Z",
    "2099-01-02T03:04:45.216Z": "2099-01-02T03:04:45.216Z",
    "2099-01-02T03:04:05.1234567Z": "2099-01-02T03:04:05.1234567Z",
    "2099-01-02T03:04:05.1200000Z": "2099-01-02T03:04:05.12Z",
    "2099-07-07T07:07:07.123456789-07:00": "2099-07-07T14:07:07.1234567Z",
    "2099-07-07T07:07:07-07:00": "2099-07-07T14:07:07Z",
    "2099-01-01T00:30+01:00": "2098-12-31T23:30:00Z",
    "2096-02-29T00:00Z": "2096-02-29T00:00:00Z",
}
NO_INSTANTS = ["", "now", "2099", "2099-13-01", "2099-02-29", "2099-01-01T25:00Z",
               "2099-01-01T00:60Z", "2099-01-01T00:00:61Z", "01/02/2099", "2099-01-01T00:00Zx",
               "2099-01-01T00:00+99:00", "99999-01-01", "0000-01-01", "2099-01-01T"]
INTERVALS = {  # retryInterval likewise
    "PT15S": "00:00:15", "PT30S": "00:00:30", "PT1M": "00:01:00", "00:01:30": "00:01:30",
    "PT1H30M": "01:30:00", "PT90M": "01:30:00", "P1D": "1.00:00:00", "PT1D": "1.00:00:00",
    "P1DT2H3M4S": "1.02:03:04", "1.02:03:04": "1.02:03:04", "24:00:00": None,
    "P1M": "30.00:00:00", "P18M": "540.00:00:00", "P548D": "548.00:00:00", "P1W": "7.00:00:00",
}
TIMEOUTS = {  # of an action; ours
    "PT1S": "00:00:01", "00:00:30": "00:00:30", "PT30M": "00:30:00", "PT0.5S": None,
    "PT30M1S": None, "soon": None, "": None, "-PT5S": None,
}
RECURRENCES = [  # as sent, as shown
    ({"frequency": "MINUTE"}, {"frequency": "minute", "interval": 1}),
    ({"frequency": "Year", "schedule": {"months": [1, 12], "monthDays": [1]}},
     {"frequency": "year", "interval": 1, "schedule": {"monthDays": [1], "months": [1, 12]}}),
    ({"frequency": "Month", "interval": 1000}, {"frequency": "month", "interval": 1000}),
    ({"frequency": "Day", "count": 0}, {"frequency": "day", "interval": 1}),
    ({"frequency": "Day", "count": 2147483647},
     {"frequency": "day", "count": 2147483647, "interval": 1}),
    ({"frequency": "Day", "schedule": {}}, {"frequency": "day", "interval": 1}),
    ({"frequency": "Day", "schedule": {"hours": [], "minutes": []}},
     {"frequency": "day", "interval": 1}),
    ({"frequency": "Day", "schedule": {"hours": 5, "minutes": 15}},
     {"frequency": "day", "interval": 1, "schedule": {"minutes": [15], "hours": [5]}}),
    ({"frequency": "Day", "schedule": {"hours": [24, 12, 12, 0]}},
     {"frequency": "day", "interval": 1, "schedule": {"hours": [0, 12]}}),
    ({"frequency": "Week", "schedule": {"weekDays": ["FRIDAY", "monday", "Friday"]}},
     {"frequency": "week", "interval": 1, "schedule": {"weekDays": ["monday", "friday"]}}),
    ({"frequency": "Week", "schedule": {"weekDays": "Sunday"}},
     {"frequency": "week", "interval": 1, "schedule": {"weekDays": ["sunday"]}}),
    ({"frequency": "Month", "schedule": {"monthDays": [-1, 15, 1]}},
     {"frequency": "month", "interval": 1, "schedule": {"monthDays": [1, 15, -1]}}),
    ({"frequency": "Month", "schedule": {"monthlyOccurrences": [
        {"day": "Friday", "occurrence": -1}, {"day": "Monday", "Occurrence": 1},
        {"day": "Sunday"}]}},
     {"frequency": "month", "interval": 1, "schedule": {"monthlyOccurrences": [
         {"day": "friday", "Occurrence": -1}, {"day": "monday", "Occurrence": 1},
         {"day": "sunday"}]}}),
    ({"frequency": "Day", "endTime": "2099-12-31", "count": 5},
     {"frequency": "day", "count": 5, "endTime": "2099-12-31T00:00:00Z", "interval": 1}),
    ({"frequency": "Hour", "schedule": {"minutes": [0, 30]}},
     {"frequency": "hour", "interval": 1, "schedule": {"minutes": [0, 30]}}),
]
NO_RECURRENCES = [  # and a part of why
    ({"frequency": "Second"}, "frequency"),
    ({"frequency": "Day", "interval": 0}, "1 to 1000"),
    ({"frequency": "Day", "interval": 1001}, "1 to 1000"),
    ({"frequency": "Day", "interval": "2"}, "interval"),
    ({"frequency": "Day", "interval": 1.5}, "interval"),
    ({"frequency": "Day", "count": -1}, "count"),
    ({"frequency": "Day", "count": 2147483648}, "count"),
    ({"frequency": "Day", "endTime": "2001-01-01"}, "future"),
    ({"frequency": "Day", "endTime": "2098-12-31"}, "never run"),
    ({"frequency": "Day", "schedule": {"minutes": [60]}}, "minutes[0]"),
    ({"frequency": "Day", "schedule": {"minutes": [-1]}}, "0 to 59"),
    ({"frequency": "Day", "schedule": {"hours": [25]}}, "hours[0]"),
    ({"frequency": "Day", "schedule": {"hours": ["five"]}}, "hours[0]"),
    ({"frequency": "Week", "schedule": {"weekDays": ["Monday", "Funday"]}}, "weekDays[1]"),
    ({"frequency": "Month", "schedule": {"monthDays": [0]}}, "monthDays"),
    ({"frequency": "Month", "schedule": {"monthDays": [32]}}, "monthDays[0]"),
    ({"frequency": "Month", "schedule": {"monthDays": [-32]}}, "monthDays[0]"),
    ({"frequency": "Month", "schedule": {"months": [13]}}, "months[0]"),
    ({"frequency": "Month", "schedule": {"monthlyOccurrences": [{"Occurrence": 1}]}}, "day"),
    ({"frequency": "Month", "schedule": {"monthlyOccurrences": [
        {"day": "monday", "Occurrence": 0}]}}, "1 to 5"),
    ({"frequency": "Month", "schedule": {"monthlyOccurrences": [
        {"day": "monday", "Occurrence": 6}]}}, "Occurrence"),
    ({"frequency": "Week", "schedule": {"monthDays": [1]}},
     "Cannot set days of month with recurrence unit 'Week'."),
    ({"frequency": "Day", "schedule": {"weekDays": ["monday"]}},
     "Cannot set days of week with recurrence unit 'Day'."),
    ({"frequency": "Minute", "schedule": {"hours": [5]}},
     "Cannot set hours with recurrence unit 'Minute'."),
    ({"frequency": "Month", "schedule": {"monthDays": [31], "months": [2, 4]}}, "never fires"),
    ({"frequency": "Month", "schedule": {"monthDays": [30], "monthlyOccurrences": [
        {"day": "friday", "Occurrence": 1}]}}, "never fires"),
]
REQUESTS = [  # what stands in a request comes back as it was sent
    {"uri": "http://h", "method": "get"},
    {"uri": "https://EXAMPLE.com:443/a%2db?q=%C3%A9&x=a+b#f", "method": "Put"},
    {"uri": "http://[::1]:8080/", "method": "OPTIONS"},
    {"uri": "http://h/", "method": "POST", "headers": {"ConTent-tYPe": "a/b", "x-empty": ""}},
    {"uri": "http://h/", "method": "POST", "body": ""},
    {"uri": "http://h/", "method": "POST", "body": "a\u0000b\n\"\\\u20ac\U0001F514</script>"},
]
ACTION_TYPES = {"http": "Http", "HTTP": "Http", "https": "Https", "HTTPS": "Https"}
TRANSPORTS = {None: "netMessaging", "NetMessaging": "netMessaging", "AMQP": "amqp",
              "amqp": "amqp", "NotSpecified": "notSpecified"}


def run(suite, server):
    client = Client(server.port)
    group = Group()
    client.put(group.collection(), collection_body("P20Premium"))
    job = group.job()
    client.put(job, job_body())
    _instants(suite, client, job)
    _intervals(suite, client, job)
    _recurrences(suite, client, job)
    _actions(suite, client, job)
    _service_bus(suite, client, job)


def _instants(suite, client, job):
    for sent, shown in INSTANTS.items():
        with suite.case(f"startTime {sent} comes back as {shown}"):
            equal(client.put(job, job_body(startTime=sent)).properties["startTime"], shown)
    for sent in NO_INSTANTS:
        with suite.case(f"startTime {sent!r} is refused"):
            answer = client.put(job, job_body(startTime=sent))
            equal((answer.status, answer.error["target"]), (400, "properties.startTime"), answer)
    with suite.case("startTime in the past is kept as it is"):
        answer = client.put(job, job_body(startTime="2001-01-01", recurrence={
            "frequency": "Year"}))
        equal(answer.properties["startTime"], "2001-01-01T00:00:00Z")
    with suite.case("a job without startTime shows none"):
        holds("startTime" not in client.put(job, job_body(startTime=None)).properties, "none")


def _intervals(suite, client, job):
    for sent, shown in INTERVALS.items():
        policy = {"retryType": "fixed", "retryInterval": sent}
        with suite.case(f"retryInterval {sent} comes back as {shown}"):
            answer = client.put(job, job_body({**http_action(), "retryPolicy": policy}))
            if shown is None:
                equal(answer.status, 400, answer)
            else:
                equal(answer.properties["action"]["retryPolicy"],
                      {"retryType": "fixed", "retryInterval": shown})
    for sent, shown in TIMEOUTS.items():
        with suite.case(f"timeout {sent} of an action comes back as {shown}"):
            answer = client.put(job, job_body({**http_action(), "timeout": sent}))
            if shown is None:
                equal((answer.status, answer.error["target"]), (400, "properties.action.timeout"))
            else:
                equal(answer.properties["action"]["timeout"], shown)
    with suite.case("an action without a timeout is answered without one"):
        holds("timeout" not in client.put(job, job_body(http_action())).properties["action"], "")
    for policy in ({"retryType": "NONE"},
                   {"retryType": "None", "retryInterval": "PT1M", "retryCount": 3}):
        with suite.case(f"retryPolicy {policy} comes back as just none"):
            answer = client.put(job, job_body({**http_action(), "retryPolicy": policy}))
            equal(answer.properties["action"]["retryPolicy"], {"retryType": "none"})
    with suite.case("Azure's Python client, which reads nothing else, is told ISO 8601"):
        for policy, shown in [("1.02:03:04", "P1DT2H3M4S"), ("PT90S", "PT1M30S"),
                              ("PT1D", "P1D")]:
            action = {**http_action(), "retryPolicy": {"retryType": "fixed",
                                                       "retryInterval": policy}}
            action["errorAction"] = {**http_action(), "retryPolicy": action["retryPolicy"]}
            python = {"User-Agent": "azsdk-python-mgmt-scheduler/7.0.0b1 Python/3.11.2"}
            client.put(job, job_body(action))
            for answer in (client.get(job, headers=python),
                           client.put(job, job_body(action), headers=python),
                           client.patch(job, {}, headers=python)):
                found = answer.properties["action"]
                equal((found["retryPolicy"]["retryInterval"],
                       found["errorAction"]["retryPolicy"]["retryInterval"]), (shown, shown))
    with suite.case("no retryPolicy is sent, none is returned"):
        holds("retryPolicy" not in client.put(job, job_body()).properties["action"], "none")


def _recurrences(suite, client, job):
    for sent, shown in RECURRENCES:
        with suite.case(f"recurrence {sent} comes back as {shown}"):
            answer = client.put(job, job_body(recurrence=sent))
            equal(answer.properties["recurrence"], shown)
            equal(list(answer.properties["recurrence"]), list(shown), "the order of members")
    for frequency in ("Minute", "Hour", "Day", "Week", "Month", "Year"):
        with suite.case(f"every 1000th {frequency} is allowed"):
            answer = client.put(job, job_body(recurrence={"frequency": frequency,
                                                          "interval": 1000}))
            equal(answer.properties["recurrence"]["interval"], 1000)
    before = client.get(job).body
    for sent, part in NO_RECURRENCES:
        with suite.case(f"recurrence {sent} is refused: {part}"):
            answer = client.put(job, job_body(recurrence=sent))
            equal((answer.status, answer.error["code"]), (400, "BadRequest"), answer)
            holds(part in answer.error["message"], answer)
            holds("properties.recurrence" in answer.error["message"], answer)
    with suite.case("none of these changed the job"):
        equal(client.get(job).body, before)


def _actions(suite, client, job):
    for request in REQUESTS:
        with suite.case(f"the request {request} comes back as it was sent"):
            answer = client.put(job, job_body({"type": "Http", "request": request}))
            equal(answer.properties["action"]["request"], request)
    for sent, shown in ACTION_TYPES.items():
        with suite.case(f"the type {sent} comes back as {shown}, whatever the scheme"):
            for uri in ("http://h/", "https://h/"):
                answer = client.put(job, job_body({**http_action(uri=uri), "type": sent}))
                equal(answer.properties["action"]["type"], shown)
    with suite.case("empty headers are left out, and payloads of other types are not kept"):
        answer = client.put(job, job_body({**http_action(headers={}),
                                           "queueMessage": {"storageAccount": "a"}}))
        equal(answer.properties["action"], {"request": {"uri": "http://127.0.0.1:1/hook",
                                                        "method": "POST"}, "type": "Http"})


def _service_bus(suite, client, job):
    def put(**more):
        message = {"namespace": "n", "queueName": "q/sub", "message": "",
                   "authentication": {"type": "SHAREDACCESSKEY", "sasKeyName": "k",
                                      "sasKey": "s"}, **more}
        return client.put(job, job_body({"type": "SERVICEBUSQUEUE",
                                         "serviceBusQueueMessage": message}))

    for sent, shown in TRANSPORTS.items():
        with suite.case(f"transportType {sent} comes back as {shown}"):
            answer = put(transportType=sent)
            equal(answer.properties["action"]["serviceBusQueueMessage"]["transportType"], shown)
    with suite.case("brokered properties come back, all thirteen of them"):
        brokered = {"contentType": "a/b", "correlationId": "c", "label": "l", "messageId": "m",
                    "partitionKey": "p", "replyTo": "r", "replyToSessionId": "rs",
                    "sessionId": "s", "to": "t", "viaPartitionKey": "v",
                    "forcePersistence": True, "scheduledEnqueueTimeUtc": "2099-01-01T00:00Z",
                    "timeToLive": "PT1M"}
        answer = put(brokeredMessageProperties=brokered)
        equal(answer.properties["action"]["serviceBusQueueMessage"]["brokeredMessageProperties"],
              {**brokered, "scheduledEnqueueTimeUtc": "2099-01-01T00:00:00Z",
               "timeToLive": "00:01:00"})
    with suite.case("custom properties keep their types"):
        custom = {"text": "a", "number": 5, "real": 0.5, "yes": True}
        answer = put(customMessageProperties=custom)
        equal(answer.properties["action"]["serviceBusQueueMessage"]["customMessageProperties"],
              custom)
    for more, target in [({"customMessageProperties": {"a": [1]}}, "customMessageProperties.a"),
                         ({"namespace": "a/b"}, "namespace"), ({"queueName": ""}, "queueName"),
                         ({"queueName": "../q"}, "queueName"),
                         ({"authentication": None}, "authentication"),
                         ({"transportType": "carrier pigeon"}, "transportType"),
                         ({"brokeredMessageProperties": {"timeToLive": "x"}},
                          "brokeredMessageProperties.timeToLive")]:
        with suite.case(f"Service Bus: {more} is refused"):
            answer = put(**more)
            equal((answer.status, answer.error["target"]),
                  (400, f"properties.action.serviceBusQueueMessage.{target}"), answer)
