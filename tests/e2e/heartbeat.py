#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The heartbeat reaches a monitor, and its address is told to nobody.

    heartbeat.py PATH_OF_BELFRY
"""
import pathlib
import subprocess
import sys
import tempfile

import targets
from rest import Client
from server import Server
from suite import Suite, binary_of, equal, holds

SECRET = "s3same-of-the-monitor"
PATH = f"/ping/{SECRET}"
NOW = "2030-01-01T00:00:00Z"


def wait_for(server, seen):
    """SIGHUP has the server look at once what there is to do; the answer gives it time to."""
    client = Client(server.port)
    while not seen():
        server.hang_up()
        client.get("/readyz", query=None)


def show_arrival(suite, binary, folder):
    file = folder / "url"
    ways = {"a flag": lambda url: (["--heartbeat-url", url], {}),
            "a variable": lambda url: ([], {"BELFRY_HEARTBEAT_URL": url}),
            "a file": lambda url: (["--heartbeat-url-file", str(file)], {}),
            "a variable that names a file": lambda url: (
                [], {"BELFRY_HEARTBEAT_URL_FILE": str(file)})}
    for way, given in ways.items():
        monitor = targets.Sink()
        file.write_text(monitor.url(PATH) + "\n")
        flags, environment = given(monitor.url(PATH))
        # Jobs may not call loopback here; the operator's own address may.
        with Server(binary, "--auth", "token", *flags, environment=environment) as server:
            with suite.case(f"named by {way}: a plain GET arrives"):
                wait_for(server, lambda: monitor.requests)
                one = monitor.requests[0]
                equal((one["method"], one["path"], one["body"]), ("GET", PATH, b""))
                holds(one["headers"]["User-Agent"].startswith("Belfry/"), one)
            with suite.case(f"named by {way}: nothing that the server says has it"):
                holds(SECRET not in server.log(), server.log())
            with suite.case(f"named by {way}: nor has `belfry config`"):
                done = subprocess.run([binary, "config", *flags], capture_output=True, text=True,
                                      env=environment)
                equal(done.returncode, 0, done)
                holds(SECRET not in done.stdout + done.stderr, done)


def show_faults(suite, binary):
    monitor = targets.Sink()
    monitor.statuses[PATH] = 500
    with Server(binary, "--heartbeat-url", monitor.url(PATH)) as server:
        with suite.case("one that does not arrive is a warning, without the address"):
            told = 'the heartbeat did not arrive reason="it was answered 500"'
            wait_for(server, lambda: told in server.log())
            holds(SECRET not in server.log(), server.log())
    with Server(binary, "--heartbeat-url", f"http://127.0.0.1:1{PATH}") as server:
        with suite.case("one that nobody takes is one too, and the server is ready"):
            wait_for(server, lambda: "the heartbeat did not arrive" in server.log())
            holds('reason="***: Connection refused"' in server.log(), server.log())
            equal(Client(server.port).get("/readyz", query=None).status, 200)


def show_proxy(suite, binary):
    proxy = targets.Sink()
    with Server(binary, "--proxy", f"http://127.0.0.1:{proxy.port}",
                "--heartbeat-url", f"http://monitor.test{PATH}") as server:
        with suite.case("it goes through the proxy as other calls do"):
            wait_for(server, lambda: proxy.requests)
            equal(proxy.requests[0]["path"], f"http://monitor.test{PATH}")
            holds(SECRET not in server.log(), server.log())


def show_silence(suite, binary):
    """A copy must not speak for the server that it is a copy of."""
    for flags in (["--held"], ["--virtual-clock", NOW]):
        monitor = targets.Sink()
        with Server(binary, "--heartbeat-url", monitor.url(PATH), *flags) as server:
            with suite.case(f"there is none with {flags[0]}, and the log says so"):
                said = "there is no heartbeat while held, or under a virtual clock"
                wait_for(server, lambda: said in server.log())
                equal(monitor.requests, [])


def show_refusals(suite, binary):
    cases = [(["--heartbeat-url", f"monitor.test{PATH}"], "setting 'heartbeat-url' (from flag"),
             (["--heartbeat-url", f"https://a:b@monitor.test{PATH}"], "http or https address"),
             (["--heartbeat-url-file", "/nowhere"], "cannot read '/nowhere'")]
    for flags, told in cases:
        with suite.case(f"{flags} is refused without being repeated"):
            done = subprocess.run([binary, "serve", *flags], capture_output=True, text=True)
            equal(done.returncode, 2, done)
            holds(told in done.stderr and SECRET not in done.stderr, done)


def main():
    suite = Suite()
    binary = binary_of(sys.argv)
    with tempfile.TemporaryDirectory(prefix="belfry-heartbeat-") as folder:
        show_arrival(suite, binary, pathlib.Path(folder))
    show_faults(suite, binary)
    show_proxy(suite, binary)
    show_silence(suite, binary)
    show_refusals(suite, binary)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
