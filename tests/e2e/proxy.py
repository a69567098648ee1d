#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Jobs that go through a real proxy (Debian's tinyproxy), and ones that may not."""
import contextlib
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

import targets
from rest import Client, Group, collection_body, http_action
from server import Server
from suite import Suite, binary_of, equal, holds

NOW = "2030-01-01T00:00:00Z"
NO_RETRY = {"retryType": "None"}
PATIENCE_SECONDS = 20
PASSWORD = "open-sesame-7"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def accepts(port):
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


class Proxy:
    """tinyproxy on a free port; it wants a password, and writes down what it carries."""

    def __init__(self, folder):
        self.port = free_port()
        self.log_path = pathlib.Path(folder) / "proxy.log"
        configuration = pathlib.Path(folder) / "proxy.conf"
        configuration.write_text(
            f"Port {self.port}\nListen 127.0.0.1\nTimeout 60\nMaxClients 50\n"
            f"LogFile \"{self.log_path}\"\nLogLevel Connect\nBasicAuth user {PASSWORD}\n")
        self._process = subprocess.Popen(["tinyproxy", "-d", "-c", str(configuration)],
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + PATIENCE_SECONDS
        while not accepts(self.port):
            holds(time.monotonic() < until, "tinyproxy does not listen")

    def carried(self):
        """The request lines that it logged."""
        return [line for line in self.log_path.read_text(errors="replace").splitlines()
                if "Request (file" in line]

    def stop(self):
        if self._process.poll() is None:
            self._process.terminate()
        self._process.wait()


class Bench:
    """A server whose calls go through the proxy, and a collection on it."""

    def __init__(self, server):
        self.server = server
        self.client = Client(server.port)
        self.group = Group()
        equal(self.client.put(self.group.collection(), collection_body("P20Premium")).status, 201)

    def ring(self, name, uri):
        """Makes the job, lets it ring once, and gives the row of its history."""
        answer = self.client.put(self.group.job(name), {"properties": {
            "action": {**http_action(uri=uri), "retryPolicy": NO_RETRY}}})
        equal(answer.status, 201, answer)
        equal(self.client.request("POST", "/clock", {"advance": "PT1S"}).status, 200)
        rows = self.client.get(self.group.job(name) + "/history").json["value"]
        equal(len(rows), 1, rows)
        return rows[0]["properties"]


@contextlib.contextmanager
def bench_with(binary, proxy_port, password, *flags, environment=None):
    user = f"user:{password}@" if password else ""
    environment = {"BELFRY_PROXY": f"http://{user}127.0.0.1:{proxy_port}", **(environment or {})}
    with Server(binary, "--virtual-clock", NOW, *flags, environment=environment) as server:
        yield Bench(server)
        holds(not password or password not in server.log(), "the password is in the log")


def succeeded(row):
    equal(row.get("status"), None, row)


def failed_with(row, words):
    equal(row.get("status"), "failed", row)
    holds(words in row["message"], row["message"])


def through_the_proxy(suite, binary, proxy, folder):
    sink = targets.Sink()
    trusted = targets.certificate(folder, "trusted", "127.0.0.1", 30)
    secure = targets.Misbehaving(targets.answer_ok, trusted)
    strange = targets.Misbehaving(targets.answer_ok,
                                  targets.certificate(folder, "strange", "127.0.0.1", 30))
    environment = {"SSL_CERT_FILE": str(pathlib.Path(folder) / "trusted.pem")}
    with bench_with(binary, proxy.port, PASSWORD, environment=environment) as bench:
        with suite.case("an http target is called through the proxy"):
            succeeded(bench.ring("http", sink.url("/through")))
            headers = sink.at("/through")[0]["headers"]
            holds("Via" in headers, headers)
            holds("Proxy-Authorization" not in headers, headers)
            holds(any(f" http://127.0.0.1:{sink.port}/through " in line
                      for line in proxy.carried()), proxy.carried())
        with suite.case("an https target is called through a tunnel"):
            succeeded(bench.ring("https", f"https://127.0.0.1:{secure.port}/"))
            holds(any(f"CONNECT 127.0.0.1:{secure.port}" in line for line in proxy.carried()),
                  proxy.carried())
        with suite.case("the target's certificate is checked behind the proxy too"):
            failed_with(bench.ring("strange", f"https://127.0.0.1:{strange.port}/"),
                        "TrustFailure")
        with suite.case("what the proxy cannot reach is its failure, and is said so"):
            failed_with(bench.ring("nobody", f"https://127.0.0.1:{free_port()}/"),
                        "RequestProhibitedByProxy The proxy server did not carry the request")
        with suite.case("a forbidden target is not handed to the proxy"):
            before = len(proxy.carried())
            for number, host in enumerate(("10.0.0.1", "169.254.169.254", "[fe80::1]")):
                failed_with(bench.ring(f"no-{number}", f"http://{host}/"),
                            "calling its address is not allowed")
            equal(len(proxy.carried()), before)
    secure.end()
    strange.end()


def wrong_password(suite, binary, proxy):
    """tinyproxy says 407 to nobody and 401 to somebody whom it does not believe."""
    sink = targets.Sink()
    addresses = (("http", sink.url()), ("https", f"https://127.0.0.1:{free_port()}/"))
    with bench_with(binary, proxy.port, None) as bench:
        for name, uri in addresses:
            with suite.case(f"a proxy that wants a password is said to want one ({name})"):
                failed_with(bench.ring(name, uri), "it wants credentials, or other ones (407)")
    with bench_with(binary, proxy.port, "closed-sesame") as bench:
        with suite.case("a wrong password for the proxy fails every call"):
            failed_with(bench.ring("http", addresses[0][1]), "'Unauthorized'")
            failed_with(bench.ring("https", addresses[1][1]), "RequestProhibitedByProxy The proxy "
                        "server did not carry the request (it answered 401)")
            equal(sink.requests, [])


def direct(suite, binary, proxy):
    sink = targets.Sink()
    listed = ("--no-proxy", "intern.test, 127.0.0.0/8")
    with bench_with(binary, proxy.port, PASSWORD, *listed) as bench:
        with suite.case("what no-proxy names is called without it"):
            before = len(proxy.carried())
            succeeded(bench.ring("direct", sink.url()))
            holds("Via" not in sink.requests[0]["headers"], sink.requests)
            equal(len(proxy.carried()), before)


def proxy_down(suite, binary, proxy):
    sink = targets.Sink()
    proxy.stop()
    with bench_with(binary, proxy.port, PASSWORD) as bench:
        for name, uri in (("http", sink.url()), ("https", f"https://127.0.0.1:{sink.port}/")):
            with suite.case(f"a proxy that is down is said to be that, and not named ({name})"):
                row = bench.ring(name, uri)
                failed_with(row, "ConnectFailure Unable to connect to the proxy server "
                                 "(the proxy: Connection refused)")
                holds(str(proxy.port) not in row["message"], row["message"])


def settings(suite, binary):
    with suite.case("belfry config shows the proxy without its password"):
        told = subprocess.run([binary, "config", "--proxy", f"http://user:{PASSWORD}@p.test:1"],
                              check=True, capture_output=True, text=True)
        holds("http://user:***@p.test:1" in told.stdout, told.stdout)
        holds(PASSWORD not in told.stdout + told.stderr, told)


def main():
    suite, binary = Suite(), binary_of(sys.argv)
    with tempfile.TemporaryDirectory(prefix="belfry-proxy-") as folder:
        proxy = Proxy(folder)
        try:
            through_the_proxy(suite, binary, proxy, folder)
            wrong_password(suite, binary, proxy)
            direct(suite, binary, proxy)
            proxy_down(suite, binary, proxy)
        finally:
            proxy.stop()
    settings(suite, binary)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
