# SPDX-License-Identifier: MIT
"""Secrets go in and never come out: canaries in every secret member are looked for in every
answer, in the log, and in every file of the store."""
import base64
import datetime
import urllib.parse

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs12

from rest import Client, Group, collection_body, http_action, job_body
from suite import equal, holds


class Canaries:
    """Each is a text that occurs nowhere else."""

    def __init__(self):
        self.all = []

    def new(self, what):
        self.all.append(f"canary-{what}-{len(self.all)}-Zq7vXk2mB9")
        return self.all[-1]

    def pfx(self, password):
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "belfry-test")])
        now = datetime.datetime(2026, 1, 1)
        certificate = (x509.CertificateBuilder().subject_name(name).issuer_name(name)
                       .public_key(key.public_key()).serial_number(1).not_valid_before(now)
                       .not_valid_after(now + datetime.timedelta(days=36500))
                       .sign(key, hashes.SHA256()))
        sealed = pkcs12.serialize_key_and_certificates(
            b"test", key, certificate, None,
            serialization.BestAvailableEncryption(password.encode()))
        self.all.append(base64.b64encode(sealed).decode())
        return self.all[-1]

    def forms(self):
        """The canaries as they might lie in a file."""
        for canary in self.all:
            plain = canary.encode()
            yield canary, plain
            for before in range(3):  # in base64 a text looks different behind others
                in_base64 = base64.b64encode(b"x" * before + plain)
                yield canary + " in base64", in_base64[4:-4]
            yield canary + " in hex", plain.hex().encode()
            yield canary + " in UTF-16", canary.encode("utf-16-le")
            yield canary + " in a URL", urllib.parse.quote(canary, safe="").encode()


def actions(canaries, uri="http://127.0.0.1:1/hook"):
    """An action of each kind with canaries in all of its secrets."""
    password = canaries.new("pfx-password")
    return {
        "basic": http_action(uri=uri, authentication={
            "type": "Basic", "username": "u", "password": canaries.new("password")}),
        "headers": http_action(uri=uri, secretHeaders=["X-Mine"], headers={
            "Authorization": canaries.new("authorization"), "Cookie": canaries.new("cookie"),
            "X-Api-Key": canaries.new("api-key"), "X-Mine": canaries.new("mine")}),
        "certificate": http_action(uri=uri, authentication={
            "type": "ClientCertificate", "pfx": canaries.pfx(password), "password": password}),
        "oauth": http_action(uri=uri, authentication={
            "type": "ActiveDirectoryOAuth", "tenant": "t", "audience": "a", "clientId": "c",
            "secret": canaries.new("secret")}),
        "storage": {"type": "StorageQueue", "queueMessage": {
            "storageAccount": "a", "queueName": "q", "message": "m",
            "sasToken": canaries.new("sas-token")}},
        "bus-queue": {"type": "ServiceBusQueue", "serviceBusQueueMessage": {
            "namespace": "n", "queueName": "q", "message": "m", "authentication": {
                "sasKeyName": "k", "sasKey": canaries.new("queue-key")}}},
        "bus-topic": {"type": "ServiceBusTopic", "serviceBusTopicMessage": {
            "namespace": "n", "topicPath": "t", "message": "m", "authentication": {
                "sasKeyName": "k", "sasKey": canaries.new("topic-key")}}},
    }


def wrong_types(canaries):
    """Secrets where a string is expected and something else holds the canary."""
    return {
        "a password in an array": http_action(authentication={
            "type": "Basic", "username": "u", "password": [canaries.new("array")]}),
        "a pfx in an object": http_action(authentication={
            "type": "ClientCertificate", "pfx": {"a": canaries.new("object")}}),
        "a pfx password in an array": http_action(authentication={
            "type": "ClientCertificate", "pfx": "eA==", "password": [canaries.new("array")]}),
        "an OAuth secret in an array": http_action(authentication={
            "type": "ActiveDirectoryOAuth", "tenant": "t", "audience": "a", "clientId": "c",
            "secret": [canaries.new("array")]}),
        "a SAS token in an array": {"type": "StorageQueue", "queueMessage": {
            "storageAccount": "a", "queueName": "q", "sasToken": [canaries.new("array")]}},
        "a SAS key in an array": {"type": "ServiceBusQueue", "serviceBusQueueMessage": {
            "namespace": "n", "queueName": "q", "message": "m", "authentication": {
                "sasKeyName": "k", "sasKey": [canaries.new("array")]}}},
        "a good password beside a wrong method": http_action(method="BREW", authentication={
            "type": "Basic", "username": "u", "password": canaries.new("beside")}),
        "a password of an unknown type": http_action(authentication={
            "type": "Digest", "username": "u", "password": canaries.new("unknown")}),
        "credentials in a text": http_action(authentication=canaries.new("text")),
        "credentials in an array": http_action(authentication=["Basic", canaries.new("array")]),
        "a request in an array": {"type": "Http", "request": [canaries.new("request")]},
        "a password that is too long": http_action(authentication={
            "type": "Basic", "username": "u", "password": canaries.new("long") * 2000}),
    }


def run(suite, server):
    client = Client(server.port)
    group = Group()
    canaries = Canaries()
    client.put(group.collection(), collection_body())
    answers = []
    for kind, action in actions(canaries).items():
        with suite.case(f"{kind}: secrets are taken, and none of the answers shows them"):
            mine = [client.put(group.job(kind), job_body(action)),
                    client.put(group.job(f"{kind}-error"),
                               job_body({**http_action(), "errorAction": action})),
                    client.get(group.job(kind)), client.get(group.job(f"{kind}-error")),
                    client.patch(group.job(kind), {"properties": {"state": "Disabled"}}),
                    client.patch(group.job(kind), {"properties": {"action": action}}),
                    client.put(group.job(kind), job_body(action))]
            equal([answer.status for answer in mine], [201, 201, 200, 200, 200, 200, 200], mine)
            answers += mine
    for what, action in wrong_types(canaries).items():
        with suite.case(f"{what}: refused, without showing it"):
            answer = client.put(group.job("refused"), job_body(action))
            equal(answer.status, 400, answer)
            answers.append(answer)
            for canary in canaries.all:
                holds(canary.encode() not in answer.body, f"{canary} is in {answer!r}")
    answers.append(client.get(group.collection() + "/jobs"))
    with suite.case("no canary in any answer"):
        everything = b"".join(answer.body + str(answer.headers).encode() for answer in answers)
        absent(canaries, everything, "the answers")
    with suite.case("no canary in any file of the running store"):
        absent_from_files(canaries, server)
    with suite.case("no canary in the log"):
        absent(canaries, server.log().encode(), "the log")
    with suite.case("no canary in any file of the store once the server has stopped"):
        server.stop()
        absent_from_files(canaries, server)
    with suite.case("secrets outlive the server: they can be opened after a restart"):
        server.start()
        again = Client(server.port)
        answer = again.patch(group.job("basic"), {"properties": {"action": {"request": {
            "authentication": {"type": "Basic", "username": "v"}}}}})
        equal((answer.status, answer.properties["action"]["request"]["authentication"]),
              (200, {"username": "v", "type": "Basic"}), answer)
        equal(len(again.get(group.collection() + "/jobs").json["value"]), 14)
    with suite.case("the key and the database are nobody else's to read"):
        for path in [server.store, *server.store.iterdir()]:
            equal(oct(path.stat().st_mode & 0o077), "0o0", path)


def absent(canaries, data, where):
    for name, form in canaries.forms():
        holds(form not in data, f"{name} is in {where}")


def absent_from_files(canaries, server):
    files = [path for path in server.store.rglob("*") if path.is_file()]
    holds(any(path.name == "belfry.db" for path in files), files)
    for path in files:
        absent(canaries, path.read_bytes(), path.name)
