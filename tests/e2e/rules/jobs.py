# SPDX-License-Identifier: MIT
"""Jobs: create, replace, delete, run, state and status."""
from rest import AHEAD, Client, Group, collection_body, http_action, job_body
from suite import equal, holds

# A PFX of 764 bytes that wants scrypt 15,000 times over: a quarter of an hour, and 16 MB.
PFX_WITH_SCRYPT = (
    "MIIC+AIBAzCCAq4GCSqGSIb3DQEHAaCCAp8EggKbMIIClzCCAX8GCSqGSIb3DQEHAaCCAXAEggFsMIIBaDCCAWQG"
    "CyqGSIb3DQEMCgEDoIIBUzCCAU8GCiqGSIb3DQEJFgGgggE/BIIBOzCCATcwgd6gAwIBAgIBATAKBggqhkjOPQQD"
    "AjARMQ8wDQYDVQQDDAZ0YXJnZXQwIBcNMjYxMTE5MjExODU4WhgPMjEyNjEwMjYyMjE4NThaMBExDzANBgNVBAMM"
    "BnRhcmdldDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABE/c5soU17/2nMxZEi7AcseXDkWiH9KmkeHeVzel7408"
    "jpeXtbhqiiaEUbo4BDWhdWPWaMketWzFbSCrnsxLQdSjJTAjMAkGA1UdEwQCMAAwFgYDVR0RBA8wDYILdGFyZ2V0"
    "LnRlc3QwCgYIKoZIzj0EAwIDSAAwRQIhALYrb78T7ke69TuNdZZWw/xppolu0MtnfLQJBQcEGFRfAiBDfvuEux/1"
    "iZ/LQ+v3VREIuljb7K7sHRtv0K9PE4LwBDCCARAGCSqGSIb3DQEHAaCCAQEEgf4wgfswgfgGCyqGSIb3DQEMCgEC"
    "oIHoMIHlMFAGCSqGSIb3DQEFDTBDMCIGCSsGAQQB2kcECzAVBAgnwmDCkObQ/wICQAACAQgCAjqYMB0GCWCGSAFl"
    "AwQBKgQQI82GPA+MOMvrLMZ++acqvQSBkOjWujUGpVZ0mqI3Pz9sTS+W1B646Uva+3QYQLL/mSWI8UPhV54jeJ9H"
    "kK6rx9Y4xG7zt2X+PevJnwCWr4GXLGAFd8Uhh+m5f5M4kHyhK42BSXJpXo21aUJywifgxD4a7LjQNsJrK6ZuiJdw"
    "eGSsv/tFxOp1roE/Ohvo9yw/oOX+7QSAthCYoQR9HyVyvIFb7zBBMDEwDQYJYIZIAWUDBAIBBQAEIJ5Rm6dv8yNs"
    "P1N4ZqYRYOnXXrMRwGMUc7CDeOAfBvxzBAgBOzddhXIQ3gICCAA=")

ONCE = {"retryType": "Fixed", "retryInterval": "PT1M", "retryCount": 1}
REFUSED = [  # properties, and the member that the refusal names first
    ({}, "action"),
    ({"action": None}, "action"),
    ({"action": "Http"}, "action"),
    ({"action": {}}, "action.type"),
    ({"action": {"type": "Fax"}}, "action.type"),
    ({"action": {"type": "Http"}}, "action.request"),
    ({"action": {"type": "Http", "queueMessage": {}}}, "action.request"),
    ({"action": {"type": "StorageQueue"}}, "action.queueMessage"),
    ({"action": {"type": "ServiceBusQueue"}}, "action.serviceBusQueueMessage"),
    ({"action": {"type": "ServiceBusTopic"}}, "action.serviceBusTopicMessage"),
    ({"action": {"type": "Http", "request": {"method": "GET"}}}, "action.request.uri"),
    ({"action": {"type": "Http", "request": {"uri": "http://h/"}}}, "action.request.method"),
    ({"action": http_action(uri="")}, "action.request.uri"),
    ({"action": http_action(uri="/relative")}, "action.request.uri"),
    ({"action": http_action(uri="ftp://h/")}, "action.request.uri"),
    ({"action": http_action(uri="file:///etc/passwd")}, "action.request.uri"),
    ({"action": http_action(uri="http://user:pass@h/")}, "action.request.uri"),
    ({"action": http_action(uri="http://h:0/")}, "action.request.uri"),
    ({"action": http_action(uri="http://h:99999/")}, "action.request.uri"),
    ({"action": http_action(uri="http:///path")}, "action.request.uri"),
    ({"action": http_action(uri="http://h/a b")}, "action.request.uri"),
    ({"action": http_action(uri="http://h/\r\nX: y")}, "action.request.uri"),
    ({"action": http_action(method="BREW")}, "action.request.method"),
    ({"action": http_action(method="GET /")}, "action.request.method"),
    ({"action": http_action(method=5)}, "action.request.method"),
    ({"action": http_action(headers=["a"])}, "action.request.headers"),
    ({"action": http_action(headers={"a": 5})}, "action.request.headers.a"),
    ({"action": http_action(headers={"a": "b\r\nc: d"})}, "action.request.headers.a"),
    ({"action": http_action(headers={"a b": "c"})}, "action.request.headers.a b"),
    ({"action": http_action(headers={"Host": "h"})}, "action.request.headers.Host"),
    ({"action": http_action(headers={"content-length": "5"})},
     "action.request.headers.content-length"),
    ({"action": http_action(headers={"Transfer-Encoding": "chunked"})},
     "action.request.headers.Transfer-Encoding"),
    ({"action": http_action(body={"a": "b"})}, "action.request.body"),
    ({"action": http_action(authentication={})}, "action.request.authentication.type"),
    ({"action": http_action(authentication={"type": "Digest"})},
     "action.request.authentication.type"),
    ({"action": http_action(authentication={"type": "Basic", "username": "u"})},
     "action.request.authentication.password"),
    ({"action": http_action(authentication={"type": "Basic", "password": "p"})},
     "action.request.authentication.username"),
    ({"action": http_action(authentication={"type": "ClientCertificate", "password": "p"})},
     "action.request.authentication.pfx"),
    ({"action": http_action(authentication={"type": "ClientCertificate", "password": "x",
                                            "pfx": PFX_WITH_SCRYPT})},
     "action.request.authentication.pfx"),
    ({"action": http_action(authentication={"type": "ActiveDirectoryOAuth", "tenant": "t",
                                            "clientId": "c", "secret": "s"})},
     "action.request.authentication.audience"),
    ({"action": {"type": "StorageQueue", "queueMessage": {"queueName": "q", "sasToken": "s"}}},
     "action.queueMessage.storageAccount"),
    ({"action": {"type": "StorageQueue", "queueMessage": {
        "storageAccount": "a", "queueName": "q", "message": "m"}}},
     "action.queueMessage.sasToken"),
    ({"action": {"type": "StorageQueue", "queueMessage": {
        "storageAccount": "evil.example/", "queueName": "q", "sasToken": "s"}}},
     "action.queueMessage.storageAccount"),
    ({"action": {**http_action(), "errorAction": {"type": "Http"}}},
     "action.errorAction.request"),
    ({"action": {**http_action(), "retryPolicy": {}}}, "action.retryPolicy.retryType"),
    ({"action": {**http_action(), "retryPolicy": {"retryType": "Often"}}},
     "action.retryPolicy.retryType"),
    ({"action": {**http_action(), "retryPolicy": {"retryType": "Fixed", "retryCount": 21}}},
     "action.retryPolicy.retryCount"),
    ({"action": {**http_action(), "retryPolicy": {"retryType": "Fixed", "retryCount": -1}}},
     "action.retryPolicy.retryCount"),
    ({"action": {**http_action(), "retryPolicy": {"retryType": "Fixed",
                                                  "retryInterval": "PT14S"}}},
     "action.retryPolicy.retryInterval"),
    ({"action": {**http_action(), "retryPolicy": {"retryType": "Fixed",
                                                  "retryInterval": "P549D"}}},
     "action.retryPolicy.retryInterval"),
    ({"action": {**http_action(), "retryPolicy": {"retryType": "Fixed",
                                                  "retryInterval": "soon"}}},
     "action.retryPolicy.retryInterval"),
    ({"action": http_action(), "state": "Completed"}, "state"),
    ({"action": http_action(), "state": "Faulted"}, "state"),
    ({"action": http_action(), "state": "Asleep"}, "state"),
    ({"action": http_action(), "startTime": "tomorrow"}, "startTime"),
    ({"action": http_action(), "startTime": 5}, "startTime"),
    ({"action": http_action(), "recurrence": {}}, "recurrence.frequency"),
    ({"action": http_action(), "recurrence": []}, "recurrence"),
]


def run(suite, server):
    client = Client(server.port)
    group = Group()
    client.put(group.collection(), collection_body())
    _life(suite, client, group)
    _status(suite, client, group)
    _run(suite, client, group)
    _refusals(suite, client, group)
    _ignored(suite, client, group)
    _missing(suite, client, group)


def _life(suite, client, group):
    full = {
        "startTime": AHEAD,
        "action": {**http_action(headers={"a": "b"}, body="text", authentication={
            "type": "Basic", "username": "u", "password": "p"}),
            "retryPolicy": {"retryType": "Fixed", "retryInterval": "PT1M", "retryCount": 2},
            "errorAction": http_action()},
        "recurrence": {"frequency": "Day", "count": 3}, "state": "Disabled"}
    with suite.case("PUT of a new job answers 201, of one that is there 200"):
        equal(client.put(group.job(), {"properties": full}).status, 201)
        equal(client.put(group.job(), {"properties": full}).status, 200)
    with suite.case("GET and the list show what PUT answered, byte for byte"):
        answer = client.put(group.job(), {"properties": full})
        equal(client.get(group.job()).body, answer.body)
        equal(client.get(group.collection() + "/jobs").json["value"], [answer.json])
    with suite.case("PUT replaces: what is not sent is gone"):
        answer = client.put(group.job(), job_body())
        properties = answer.properties
        properties.pop("status")
        equal(properties, {
            "startTime": AHEAD, "state": "enabled",
            "action": {"request": {"uri": "http://127.0.0.1:1/hook", "method": "POST"},
                       "type": "Http"}})
    with suite.case("what GET answered may be PUT back"):
        shown = client.put(group.job(), job_body()).json
        answer = client.put(group.job(), shown)
        equal((answer.status, answer.json), (200, shown))
        equal(answer.headers["x-belfry-ignored"], None)
    with suite.case("DELETE answers an empty 200, also when there is nothing to delete"):
        for _ in range(2):
            answer = client.delete(group.job())
            equal((answer.status, answer.body), (200, b""))
        answer = client.get(group.job())
        equal((answer.status, answer.error),
              (404, {"code": "NotFound", "message": "Job 'job' cannot be found."}))


def _status(suite, client, group):
    counts = {"executionCount": 0, "failureCount": 0, "faultedCount": 0}
    cases = [  # properties, status
        ({"startTime": AHEAD}, {"nextExecutionTime": AHEAD, **counts}),
        ({"startTime": AHEAD, "state": "disabled"}, None),
        ({"startTime": "2098-12-31T23:00:00-01:00", "recurrence": {"frequency": "Month"}},
         {"nextExecutionTime": AHEAD, **counts}),
        ({"startTime": AHEAD, "recurrence": {
            "frequency": "Week", "schedule": {"weekDays": ["saturday"], "hours": [4],
                                              "minutes": [30]}}},
         {"nextExecutionTime": "2099-01-03T04:30:00Z", **counts}),
        ({"startTime": AHEAD, "recurrence": {
            "frequency": "Month", "schedule": {"monthDays": [-1]}}},
         {"nextExecutionTime": "2099-01-31T00:00:00Z", **counts}),
        ({"startTime": AHEAD, "recurrence": {"frequency": "Month", "schedule": {
            "monthlyOccurrences": [{"day": "friday", "Occurrence": -1}]}}},
         {"nextExecutionTime": "2099-01-30T00:00:00Z", **counts}),
    ]
    for number, (properties, status) in enumerate(cases):
        with suite.case(f"status of a new job with {properties}"):
            answer = client.put(group.job(f"status{number}"), job_body(**properties))
            equal(answer.properties.get("status"), status)
    with suite.case("disabled by PATCH the status goes, enabled it is back"):
        path = group.job("status0")
        off = client.patch(path, {"properties": {"state": "Disabled"}}).properties
        equal((off["state"], off.get("status")), ("disabled", None))
        on = client.patch(path, {"properties": {"state": "Enabled"}}).properties
        equal((on["state"], on["status"]["nextExecutionTime"]), ("enabled", AHEAD))
    with suite.case("disabled and enabled by PUT likewise"):
        for state, present in [("Disabled", False), ("Enabled", True)]:
            answer = client.put(group.job("status0"), job_body(state=state))
            equal("status" in answer.properties, present)
    with suite.case("disabled and enabled by POST likewise, with an empty 200, once or twice"):
        for verb, present in [("disable", False), ("disable", False), ("enable", True)]:
            answer = client.post(f"{group.job('status0')}/{verb}")
            equal((answer.status, answer.body), (200, b""))
            equal("status" in client.get(group.job("status0")).properties, present)
    with suite.case("PATCH of the recurrence computes the next execution anew"):
        path = group.job("status2")
        answer = client.patch(path, {"properties": {"startTime": "2099-02-03T00:00:00Z"}})
        equal(answer.properties["status"]["nextExecutionTime"], "2099-02-03T00:00:00Z")


def _run(suite, client, group):
    path = group.job("runs")
    with suite.case("POST run answers an empty 200 and leaves the definition alone"):
        before = client.put(path, job_body()).properties
        answer = client.post(path + "/run")
        equal((answer.status, answer.body), (200, b""))
        after = client.get(path).properties
        equal(after["action"], before["action"])
        equal(after["startTime"], before["startTime"])
    with suite.case("POST run of a disabled job is a conflict"):
        client.put(path, job_body(state="Disabled"))
        answer = client.post(path + "/run")
        equal((answer.status, answer.error["code"]), (409, "Conflict"))
        holds("disabled" in answer.error["message"], answer)
    with suite.case("POST run of what is not there answers 404"):
        equal(client.post(group.job("none") + "/run").error["code"], "NotFound")
        equal(client.post(group.job("x", "none") + "/run").error["code"], "ResourceNotFound")


def _refusals(suite, client, group):
    path = group.job("refused")
    for properties, target in REFUSED:
        with suite.case(f"refused: {target} in {properties}"):
            for body, where in [({"properties": properties}, f"properties.{target}"),
                                (properties, target)]:
                answer = client.put(path, body)
                equal((answer.status, answer.error["code"]), (400, "BadRequest"), answer)
                equal(answer.error["target"], where)
                message = answer.error["message"]
                holds(message.startswith("Malformed Job Object"), message)
                holds(where in message, message)
    with suite.case("nothing of it was stored"):
        equal(client.get(path).status, 404)
    with suite.case("a refused PUT of a job that is there changes nothing"):
        before = client.put(path, job_body()).body
        for properties, _ in REFUSED:
            equal(client.put(path, {"properties": properties}).status, 400)
        equal(client.get(path).body, before)
    with suite.case("all that is wrong is said at once"):
        answer = client.put(path, job_body(
            http_action(uri="x", method="y"), startTime="z", state="completed"))
        equal({detail["target"] for detail in answer.error["details"]},
              {"properties.action.request.uri", "properties.action.request.method",
               "properties.startTime", "properties.state"})


def _ignored(suite, client, group):
    cases = [  # a body, and what x-belfry-ignored names
        (job_body(), None),
        ({**job_body(), "location": "x"}, "location"),
        (job_body(startTme=AHEAD), "properties.startTme"),
        (job_body({**http_action(), "retrypolicies": {}}), "properties.action.retrypolicies"),
        (job_body(http_action(httpAuthentication={"a": 1})),
         "properties.action.request.httpAuthentication"),
        (job_body(recurrence={"frequency": "Day", "schedule": {"our": [5]}}),
         "properties.recurrence.schedule.our"),
        ({"id": "i", "type": "t", "name": "n", **job_body(status={"x": 1})}, None),
        # Known, but of no use where they stand; null is nothing there either.
        (job_body({**http_action(),
                   "errorAction": {**http_action(), "errorAction": http_action()}}),
         "properties.action.errorAction.errorAction"),
        (job_body({**http_action(), "queueMessage": {"message": "m"},
                   "serviceBusTopicMessage": None}), "properties.action.queueMessage"),
        (job_body({**http_action(retryPolicy=ONCE), "retryPolicy": ONCE}, retryPolicy=ONCE),
         "properties.action.request.retryPolicy, properties.retryPolicy"),
        (job_body({**http_action(timeout="PT1S"), "timeout": "PT1S"}),
         "properties.action.request.timeout"),
        (job_body({**http_action(), "errorAction": http_action()}, errorAction=http_action()),
         "properties.errorAction"),
        (job_body({**http_action(retryPolicy=None), "retryPolicy": ONCE,
                   "errorAction": {**http_action(), "errorAction": None}}, retryPolicy=None), None),
        (job_body(**{"sta te": 1, "naïve": 2, "fine": 3}), "properties.fine"),
    ]
    for number, (body, named) in enumerate(cases):
        with suite.case(f"x-belfry-ignored is {named}"):
            answer = client.put(group.job(f"ignored{number}"), body)
            equal((answer.status, answer.headers["x-belfry-ignored"]), (201, named), answer)
    with suite.case("PATCH names them too, and stores nothing of them"):
        answer = client.patch(group.job("ignored0"), {"properties": {"starttim": 1}})
        equal((answer.status, answer.headers["x-belfry-ignored"]), (200, "properties.starttim"))
        holds(b"starttim\"" not in client.get(group.job("ignored0")).body, "not stored")
    with suite.case("PATCH names the one of two places that it did not take"):
        answer = client.patch(group.job("ignored0"), {"properties": {
            "action": {"retryPolicy": ONCE}, "retryPolicy": {"retryType": "None"}}})
        equal((answer.status, answer.headers["x-belfry-ignored"]),
              (200, "properties.retryPolicy"))
        equal(answer.properties["action"]["retryPolicy"]["retryType"], "fixed")


def _missing(suite, client, group):
    with suite.case("PUT under a collection that is not there answers 404"):
        answer = client.put(group.job("job", "none"), job_body())
        equal((answer.status, answer.error["code"]), (404, "ParentResourceNotFound"))
        holds("none" in answer.error["message"], answer)
        equal(client.get(group.collection("none")).status, 404, "and makes none")
    for name, ask in [("GET", client.get), ("PATCH", lambda p: client.patch(p, {}))]:
        with suite.case(f"{name} says whether the job or its collection is missing"):
            equal(ask(group.job("none")).error["code"], "NotFound")
            equal(ask(group.job("job", "none")).error["code"], "ResourceNotFound")
    with suite.case("lists of what is not there answer 404"):
        equal(client.get(group.collection("none") + "/jobs").error["code"], "ResourceNotFound")
        equal(client.get(group.job("none") + "/history").error["code"], "NotFound")
        equal(client.get(group.job("x", "none") + "/history").error["code"], "ResourceNotFound")
    with suite.case("DELETE of a job of a collection that is not there answers 200"):
        equal(client.delete(group.job("job", "none")).status, 200)
