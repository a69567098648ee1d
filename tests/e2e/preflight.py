#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""POST …/jobs/{job}/preflight says what a job would send and what would stop it; it sends nothing.

    preflight.py PATH_OF_BELFRY
"""
import sys
import tempfile

import targets
from ringing import NOW, Bench, http_action
from server import Server
from suite import Suite, binary_of, equal, holds

LATER = "2040-01-01T00:00:00Z"


def checks(report):
    return [(check["check"], check["passed"]) for check in report["checks"]]


class Preflights:
    def __init__(self, suite, bench):
        self.suite = suite
        self.bench = bench

    def of(self, name, action):
        self.bench.put(name, action, startTime=LATER)
        answer = self.bench.client.post(self.bench.group.job(name) + "/preflight")
        equal(answer.status, 200, answer.json)
        return answer.json

    def good(self):
        sink = self.bench.sink
        report = self.of("good", http_action(uri=sink.url("/good?a=b"), method="PUT", body="ding",
                                             authentication={"type": "Basic", "username": "u",
                                                             "password": "canary-password"}))
        with self.suite.case("a job that would ring passes every check, and nothing is sent"):
            equal(report["passed"], True, report)
            equal(checks(report["action"]), [("request", True), ("resolve", True),
                                             ("address", True), ("connect", True)])
            equal(sink.at("/good?a=b"), [])
        with self.suite.case("the request is shown as it would be sent, its secrets masked"):
            request = report["action"]["request"]
            equal((request["method"], request["uri"], request["body"]),
                  ("PUT", sink.url("/good?a=b"), "ding"))
            equal(request["headers"]["Authorization"], "Basic ***")
            equal(request["headers"]["x-ms-scheduler-jobid"], "good")
            holds("canary-password" not in str(report), report)

    def bad(self):
        cases = [
            ("refused", "http://127.0.0.1:1/", "connect"),
            ("private", "http://10.0.0.1/", "address"),
            ("metadata", "http://169.254.169.254/latest", "address"),
            ("unknown", "http://nowhere.invalid/", "resolve"),
            ("number", "http://2130706433/", "resolve"),
        ]
        for name, uri, failed in cases:
            with self.suite.case(f"what would stop it is named: {name}"):
                report = self.of(name, http_action(uri=uri))
                equal(report["passed"], False)
                last = report["action"]["checks"][-1]
                equal((last["check"], last["passed"]), (failed, False), report)
                holds(last["detail"], "there is a reason for people")

    def tls(self, folder):
        for name, host, days in [("expired", "127.0.0.1", -1), ("wronghost", "x.example.test", 30)]:
            context = targets.certificate(folder, name, host, days)
            target = targets.Misbehaving(targets.answer_ok, context)
            with self.suite.case(f"a certificate that is not trusted is named: {name}"):
                report = self.of(name, http_action(uri=f"https://127.0.0.1:{target.port}/"))
                equal(checks(report["action"])[-1], ("tls", False), report)
            target.end()

    def queue(self):
        action = {"type": "storageQueue", "queueMessage": {
            "storageAccount": "acc", "queueName": "q", "message": "m",
            "sasToken": "?sv=1&sig=canary-signature"}}
        report = self.of("queue", action)
        with self.suite.case("a queue's message is shown without its token"):
            holds("/q/messages?" in report["action"]["request"]["uri"], report)
            holds("canary-signature" not in str(report), report)
        bus = {"type": "serviceBusQueue", "serviceBusQueueMessage": {
            "namespace": "ns", "queueName": "q", "message": "m",
            "authentication": {"sasKeyName": "k"}}}
        bus["serviceBusQueueMessage"]["transportType"] = "AMQP"
        with self.suite.case("a message for a broker is shown too"):
            keyed = {"sasKeyName": "k", "sasKey": "canary-key"}
            message = {**bus["serviceBusQueueMessage"], "authentication": keyed}
            report = self.of("broker", {**bus, "serviceBusQueueMessage": message})
            equal(report["action"]["request"]["uri"],
                  "amqps://ns.servicebus.windows.net:5671/q", report)
            holds("canary-key" not in str(report), report)
        with self.suite.case("a request that cannot be made says why"):
            report = self.of("bus", bus)
            equal(checks(report["action"]), [("request", False)], report)

    def both(self):
        action = http_action(uri=self.bench.sink.url("/main"))
        action["errorAction"] = http_action(uri="http://127.0.0.1:1/")
        report = self.of("both", action)
        with self.suite.case("the error action is looked at too"):
            equal((report["action"]["passed"], report["errorAction"]["passed"], report["passed"]),
                  (True, False, False))

    def missing(self):
        with self.suite.case("a job that is not there is not found"):
            answer = self.bench.client.post(self.bench.group.job("nobody") + "/preflight")
            equal(answer.status, 404)
            equal(self.bench.client.get(self.bench.group.job("good") + "/preflight").status, 405)


def main():
    suite = Suite()
    with Server(binary_of(sys.argv), "--virtual-clock", NOW) as server:
        preflights = Preflights(suite, Bench(server))
        preflights.good()
        preflights.bad()
        preflights.queue()
        preflights.both()
        preflights.missing()
        with tempfile.TemporaryDirectory(prefix="belfry-certificates-") as folder:
            preflights.tls(folder)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
