#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The server over TLS, as Python's ssl and openssl's own program see it.

    tls.py PATH_OF_BELFRY
"""
import http.client
import json
import shutil
import ssl
import subprocess
import sys
import threading
import urllib.parse

from certificates import Authority
from history_rows import add_rows
from rest import VERSION, Group, collection_body, job_body
from server import Server
from suite import Suite, binary_of, equal, holds

RENEWALS = 5
CLIENTS = 4
ROWS_PER_PAGE = 500


def trusting(authority, identity=None):
    context = ssl.create_default_context(cafile=str(authority.certificate))
    if identity:
        context.load_cert_chain(*map(str, identity))
    return context


def connect(server, context):
    return http.client.HTTPSConnection("127.0.0.1", server.port, context=context, timeout=60)


def status(connection):
    connection.request("GET", "/healthz")
    response = connection.getresponse()
    response.read()
    return response.status


def shown_name(server, context):
    """The common name of the certificate that a new connection is shown."""
    connection = connect(server, context)
    connection.connect()
    subject = connection.sock.getpeercert()["subject"]
    connection.close()
    return dict(pair[0] for pair in subject)["commonName"]


def s_client(server, *flags):
    """Whether openssl's own client comes to terms with the server."""
    done = subprocess.run(["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}", "-brief",
                           *flags], input=b"", capture_output=True, timeout=60)
    return b"Protocol version" in done.stderr + done.stdout


class Pair:
    """The files that the server was told of; others take their place by renaming."""

    def __init__(self, authority):
        self.certificate, self.key = authority.home / "live.pem", authority.home / "live.key"

    def put(self, identity):
        self.put_certificate(identity[0])
        self._put(identity[1], self.key)

    def put_certificate(self, certificate):
        self._put(certificate, self.certificate)

    @staticmethod
    def _put(source, target):
        unfinished = target.with_suffix(".new")
        shutil.copy(source, unfinished)
        unfinished.rename(target)

    def flags(self):
        return ["--tls-certificate", str(self.certificate), "--tls-key", str(self.key)]


class Traffic:
    """Clients that ask without a pause, one on a kept connection, the others on new ones."""

    def __init__(self, server, context):
        self.answers = 0
        self.faults = []
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(server, context, i == 0))
                         for i in range(CLIENTS)]

    def _run(self, server, context, keep):
        kept = connect(server, context)
        while not self._stop.is_set():
            connection = kept if keep else connect(server, context)
            try:
                equal(status(connection), 200)
                self.answers += 1
            except Exception as fault:
                self.faults.append(repr(fault))
                return
            if not keep:
                connection.close()

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join()


def show_handshakes(suite, server, authority):
    with suite.case("a client that trusts the authority is served, many times on a connection"):
        connection = connect(server, trusting(authority))
        equal([status(connection) for _ in range(3)], [200] * 3)
    with suite.case("a client that does not trust it goes away"):
        try:
            status(connect(server, ssl.create_default_context()))
            holds(False, "it was served")
        except ssl.SSLCertVerificationError:
            pass
    with suite.case("plain HTTP is not served"):
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        try:
            status(connection)
            holds(False, "it was served")
        except (http.client.HTTPException, OSError):
            pass
    with suite.case("TLS 1.2 and 1.3 are spoken, 1.1 is not"):
        weak = ["-cipher", "DEFAULT@SECLEVEL=0"]
        equal([s_client(server, "-tls1_3"), s_client(server, "-tls1_2"),
               s_client(server, "-tls1_1", *weak)], [True, True, False])


def show_renewal(suite, server, authority, pair):
    context = trusting(authority)
    with suite.case("a renewed certificate is taken up under traffic, and nobody is cut off"):
        with Traffic(server, context) as traffic:
            for number in range(RENEWALS):
                pair.put(authority.issue(f"renewed-{number}"))
                while shown_name(server, context) != f"renewed-{number}":
                    server.hang_up()
        equal(traffic.faults, [])
        holds(traffic.answers > RENEWALS, f"only {traffic.answers} answers")
    with suite.case("a certificate without its key is not taken up, and the log says so"):
        pair.put_certificate(authority.issue("half")[0])
        server.hang_up()
        while "the old one stays" not in server.log():
            equal(shown_name(server, context), f"renewed-{RENEWALS - 1}")
        equal(shown_name(server, context), f"renewed-{RENEWALS - 1}")


def show_client_certificates(suite, binary, authority, pair):
    flags = [*pair.flags(), "--tls-client-ca", str(authority.certificate)]
    with Server(binary, *flags) as server, Authority() as stranger:
        with suite.case("where clients must show a certificate, one of the authority is served"):
            equal(status(connect(server, trusting(authority, authority.issue("client")))), 200)
        for who, identity in [("none", None), ("a stranger's", stranger.issue("client"))]:
            with suite.case(f"a client with {who} is refused"):
                try:
                    status(connect(server, trusting(authority, identity)))
                    holds(False, "it was served")
                except (ssl.SSLError, http.client.HTTPException, OSError):
                    pass


def show_refusals(suite, binary, home):
    def refusal(*flags):
        done = subprocess.run([binary, "serve", "--store", str(home / "none"), *flags],
                              capture_output=True, text=True, timeout=60)
        equal(done.returncode, 2)
        return done.stderr

    with suite.case("off loopback without TLS the server does not start"):
        holds("without TLS" in refusal("--listen", "0.0.0.0:0"), "it does not say why")
    with suite.case("behind a proxy it would, but not without authentication"):
        said = refusal("--listen", "0.0.0.0:0", "--behind-proxy", "--auth", "none")
        holds("while auth is none" in said, said)


def show_off_loopback(suite, binary, authority, pair):
    """Where it may serve others, it asks them who they are."""
    def statuses(connection):
        out = []
        for path in ("/healthz", "/subscriptions/s/providers/Microsoft.Scheduler"):
            connection.request("GET", path)
            response = connection.getresponse()
            response.read()
            out.append(response.status)
        return out

    with suite.case("behind a proxy it serves plain http off loopback, and wants a token"):
        with Server(binary, "--behind-proxy", "--auth", "token", host="0.0.0.0") as server:
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
            equal(statuses(connection), [200, 401])
    with suite.case("with TLS it serves off loopback, and wants a token"):
        with Server(binary, *pair.flags(), "--auth", "token", host="0.0.0.0") as server:
            equal(statuses(connect(server, trusting(authority))), [200, 401])


def asked(connection, method, target, body=None, headers=None):
    connection.request(method, target, body and json.dumps(body), headers or {})
    response = connection.getresponse()
    text = response.read()
    holds(response.status in (200, 201), text)
    return json.loads(text)


def long_history(server, open_connection):
    """A job with more history than fits on a page; where that history is."""
    group = Group()
    connection = open_connection()
    asked(connection, "PUT", f"{group.collection()}?api-version={VERSION}", collection_body())
    asked(connection, "PUT", f"{group.job()}?api-version={VERSION}", job_body())
    server.stop()
    add_rows(server.store, "job", ROWS_PER_PAGE + 1)
    server.start()
    return f"{group.job()}/history?api-version={VERSION}"


def show_links(suite, binary, authority, pair):
    """A link to the next page can be followed by whoever got it."""
    with Server(binary, *pair.flags()) as server:
        secure = lambda: connect(server, trusting(authority))
        history = long_history(server, secure)
        with suite.case("over TLS nextLink is https, and leads on"):
            link = urllib.parse.urlsplit(asked(secure(), "GET", history)["nextLink"])
            equal((link.scheme, link.netloc), ("https", f"127.0.0.1:{server.port}"))
            page = asked(secure(), "GET", f"{link.path}?{link.query}")
            equal((len(page["value"]), page["nextLink"]), (1, None))
    with Server(binary, "--behind-proxy") as server:
        plain = lambda: http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
        history = long_history(server, plain)
        with suite.case("behind a proxy nextLink has the scheme that the client spoke"):
            for headers, scheme in (({}, "https"), ({"X-Forwarded-Proto": "http"}, "http"),
                                    ({"X-Forwarded-Proto": "https"}, "https")):
                page = asked(plain(), "GET", history, headers=headers)
                equal(urllib.parse.urlsplit(page["nextLink"]).scheme, scheme)


def main():
    binary = binary_of(sys.argv)
    suite = Suite()
    with Authority() as authority:
        pair = Pair(authority)
        pair.put(authority.issue("first"))
        with Server(binary, *pair.flags()) as server:
            show_handshakes(suite, server, authority)
            show_renewal(suite, server, authority, pair)
        pair.put(authority.issue("again"))
        show_client_certificates(suite, binary, authority, pair)
        show_off_loopback(suite, binary, authority, pair)
        show_links(suite, binary, authority, pair)
        show_refusals(suite, binary, authority.home)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
