# SPDX-License-Identifier: MIT
"""A secret belongs to where it goes. A change that sends it elsewhere must bring it again; a header
that is secret reads "(sealed)", and who sends that back keeps what is stored."""
import targets
from rest import AHEAD, Client, Group, collection_body, http_action, job_body
from suite import equal, holds

SEALED = "(sealed)"
BASIC = {"type": "Basic", "username": "u", "password": "p"}
OAUTH = {"type": "ActiveDirectoryOAuth", "tenant": "t", "audience": "a", "clientId": "c",
         "secret": "s"}
QUEUE = {"type": "StorageQueue", "queueMessage": {
    "storageAccount": "a", "queueName": "q", "sasToken": "s", "message": "m"}}


def bus(kind, entity):
    return {"type": f"ServiceBus{kind}", f"serviceBus{kind}Message": {
        "namespace": "n", entity: "e", "message": "m",
        "authentication": {"sasKeyName": "k", "sasKey": "s"}}}


HTTP = http_action(uri="http://h/x", authentication=BASIC)
HTTP_PASSWORD = "request.authentication.password"
MOVES = [  # an action, a patch that sends it elsewhere, the member that is missing
    ("host", HTTP, {"request": {"uri": "http://evil/x"}}, HTTP_PASSWORD),
    ("port", HTTP, {"request": {"uri": "http://h:81/x"}}, HTTP_PASSWORD),
    ("scheme", HTTP, {"request": {"uri": "https://h/x"}}, HTTP_PASSWORD),
    ("host, in another case of the names", HTTP, {"REQUEST": {"URI": "http://evil/x"}},
     HTTP_PASSWORD),
    ("tenant", http_action(authentication=OAUTH),
     {"request": {"authentication": {"tenant": "mine"}}}, "request.authentication.secret"),
    ("audience", http_action(authentication=OAUTH),
     {"request": {"authentication": {"audience": "mine"}}}, "request.authentication.secret"),
    ("host of a header", http_action(uri="http://h/x", headers={"X-Api-Key": "k"}),
     {"request": {"uri": "http://evil/x"}}, "request.headers.X-Api-Key"),
    ("account", QUEUE, {"queueMessage": {"storageAccount": "b"}}, "queueMessage.sasToken"),
    ("namespace of a queue", bus("Queue", "queueName"),
     {"serviceBusQueueMessage": {"namespace": "b"}},
     "serviceBusQueueMessage.authentication.sasKey"),
    ("namespace of a topic", bus("Topic", "topicPath"),
     {"serviceBusTopicMessage": {"namespace": "b"}},
     "serviceBusTopicMessage.authentication.sasKey"),
]
STAYS = [  # what may change without the secret
    ("path", HTTP, {"request": {"uri": "http://H:80/y?z"}}),
    ("user name", HTTP, {"request": {"authentication": {"username": "v"}}}),
    ("queue", QUEUE, {"queueMessage": {"queueName": "other"}}),
    ("account, in another case", QUEUE, {"queueMessage": {"storageAccount": "A"}}),
    ("entity", bus("Queue", "queueName"), {"serviceBusQueueMessage": {"queueName": "other"}}),
]


def run(suite, server):
    client = Client(server.port)
    group = Group("destinations")
    client.put(group.collection(), collection_body("P20Premium"))
    _moves(suite, client, group)
    _headers(suite, client, group)
    _sealed_without_anything(suite, client, group)
    _sent(suite, client, group)


def _moves(suite, client, group):
    path = group.job("moves")
    for what, action, patch, member in MOVES:
        for role in ("action", "errorAction"):
            inside = action if role == "action" else {**http_action(), "errorAction": action}
            changed = patch if role == "action" else {"errorAction": patch}
            target = "properties.action." + ("" if role == "action" else "errorAction.") + member
            with suite.case(f"another {what} of the {role} without its secret is refused by name"):
                equal(client.put(path, job_body(inside)).status in (200, 201), True)
                before = client.get(path).body
                answer = client.patch(path, {"properties": {"action": changed}})
                equal((answer.status, answer.error["target"]), (400, target), answer)
                holds("must be sent again" in answer.error["message"], answer)
                equal(client.get(path).body, before)
    for what, action, patch in STAYS:
        with suite.case(f"another {what} keeps the secret"):
            client.put(path, job_body(action))
            answer = client.patch(path, {"properties": {"action": patch}})
            equal(answer.status, 200, answer)
    with suite.case("who moves an action and brings its secret is welcome"):
        client.put(path, job_body(HTTP))
        answer = client.patch(path, {"properties": {"action": {"request": {
            "uri": "http://other/", "authentication": {"password": "again"}}}}})
        equal(answer.status, 200, answer)
    with suite.case("an error action never takes over the main action's secrets"):
        client.put(path, job_body({**HTTP, "request": {
            **HTTP["request"], "headers": {"X-Api-Key": "k"}}}))
        answer = client.patch(path, {"properties": {"action": {"errorAction": http_action(
            uri="http://h/x", headers={"X-Api-Key": SEALED})}}})
        equal((answer.status, answer.error["target"]),
              (400, "properties.action.errorAction.request.headers.X-Api-Key"), answer)


def shown_headers(answer):
    return answer.properties["action"]["request"].get("headers")


def _headers(suite, client, group):
    path = group.job("headers")
    headers = {"Accept": "a", "authorization": "Bearer b", "Cookie": "c=d", "X-API-KEY": "e",
               "X-Mine": "f"}
    masked = {"Accept": "a", "authorization": SEALED, "Cookie": SEALED, "X-API-KEY": SEALED,
              "X-Mine": SEALED}
    request = {"headers": headers, "secretHeaders": ["x-mine"]}
    with suite.case("secret headers read (sealed), by their names or because the job names them"):
        answer = client.put(path, job_body(http_action(**request)))
        equal((answer.status, shown_headers(answer)), (201, masked), answer)
        equal(answer.properties["action"]["request"]["secretHeaders"], ["x-mine"])
        equal(answer.headers.get("x-belfry-ignored"), None)
        equal(shown_headers(client.get(path)), masked)
    with suite.case("PUT of what GET showed keeps them"):
        answer = client.put(path, client.get(path).json)
        equal((answer.status, shown_headers(answer)), (200, masked), answer)
    with suite.case("a client that drops secretHeaders keeps them too, and they stay secret"):
        body = client.get(path).json
        del body["properties"]["action"]["request"]["secretHeaders"]
        for _ in range(2):
            answer = client.put(path, body)
            equal((answer.status, shown_headers(answer)), (200, masked), answer)
            holds("secretHeaders" not in answer.properties["action"]["request"], answer)
    with suite.case("PUT and PATCH of headers that are sealed, to another host, are refused"):
        body = client.get(path).json
        body["properties"]["action"]["request"]["uri"] = "http://evil/"
        for answer in (client.put(path, body), client.patch(path, body)):
            equal(answer.status, 400, answer)
            holds(answer.error["target"].startswith("properties.action.request.headers."), answer)
    with suite.case("a secret header that changes is the new one"):
        answer = client.patch(path, {"properties": {"action": {"request": {
            "headers": {"Authorization": "new", "X-Mine": SEALED}}}}})
        equal((answer.status, shown_headers(answer)),
              (200, {"Authorization": SEALED, "X-Mine": SEALED}), answer)
    with suite.case("secretHeaders must be an array of header names, of a bounded number"):
        for bad in (["a b"], [5], [f"h{i}" for i in range(51)], {"a": 1}):
            answer = client.put(path, job_body(http_action(secretHeaders=bad)))
            equal(answer.status, 400, answer)
            holds(answer.error["target"].startswith("properties.action.request.secretHeaders"),
                  answer)


def _sealed_without_anything(suite, client, group):
    with suite.case("(sealed) where nothing is stored is refused by name"):
        body = job_body(http_action(headers={"X-Api-Key": SEALED}))
        for path in (group.job("never"), group.job("plain")):
            client.put(group.job("plain"), job_body(http_action()))
            answer = client.put(path, body)
            equal((answer.status, answer.error["target"]),
                  (400, "properties.action.request.headers.X-Api-Key"), answer)
            holds("nothing is stored" in answer.error["message"], answer)
        equal(client.get(group.job("never")).status, 404)


def _sent(suite, client, group):
    sink = targets.Sink()
    path = group.job("sent")
    request = {"uri": sink.url("/sent"), "secretHeaders": ["X-Mine"],
               "headers": {"Authorization": "Bearer canary-1", "X-Mine": "canary-2"}}
    with suite.case("after PUT of what GET showed, and a PATCH of the path, the target gets them"):
        body = {"properties": {"startTime": AHEAD, "action": http_action(**request)}}
        equal(client.put(path, body).status, 201)
        equal(client.put(path, client.get(path).json).status, 200)
        equal(client.patch(path, {"properties": {"action": {"request": {
            "uri": sink.url("/moved")}}}}).status, 200)
        shown = client.post(path + "/preflight").json
        masked = shown["action"]["request"]["headers"]
        equal((masked["Authorization"], masked["X-Mine"]), ("***", "***"))
        equal(client.post(path + "/run").status, 200)
        while not sink.at("/moved"):
            client.get(path)
        sent = sink.at("/moved")[0]["headers"]
        equal((sent["Authorization"], sent["X-Mine"]), ("Bearer canary-1", "canary-2"))
