#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the server tells the service manager, heard at a real datagram socket.

    tests/e2e/notify.py BINARY

The watchdog's beats must come from the engine: strace holds the engine's commit up, everything
else goes on, and the beats must cease. /readyz sees it too, and where no service manager watches
the server ends by itself, after a minute: for so long this takes.
"""
import contextlib
import http.client
import pathlib
import re
import select
import socket
import sys
import tempfile
import threading
import time

from rest import Client, Group, collection_body
from server import Server
from suite import Suite, binary_of, equal, holds
from system_calls import injected

PATIENCE_SECONDS = 60
WATCHDOG_SECONDS = 3
SILENCE_SECONDS = 2 * WATCHDOG_SECONDS  # systemd would have lost its patience
READY_SECONDS = 20  # within which /readyz knows of an engine that hangs
ENDED_SECONDS = 100  # within which the server has given up
GIVING_UP = "the engine has not taken a step for a minute: ending"
BEATS_MAX = 12  # that a server may send before it falls silent


class Listener:
    """The service manager's end of the socket."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)

    def hear(self, seconds=PATIENCE_SECONDS):
        """The next words; None if nothing is said for so long."""
        self.socket.settimeout(seconds)
        try:
            return self.socket.recv(4096).decode()
        except TimeoutError:
            return None

    def hear_other_than_beats(self):
        while (words := self.hear()) == "WATCHDOG=1":
            pass
        return words


def commits_held_up(server):
    """Whoever syncs a file waits for two minutes, or until this ends."""
    return injected(server, "fsync,fdatasync", "delay_enter=120000000")


def falls_silent(listener):
    for _ in range(BEATS_MAX):
        if listener.hear(SILENCE_SECONDS) is None:
            return True
    return False


def watched_server(suite, binary, path):
    listener = Listener(path)
    # LeakSanitizer does not work in a process that strace looks into.
    server = Server(binary, "--drain-grace", "PT20S", environment={
        "NOTIFY_SOCKET": path, "WATCHDOG_USEC": str(int(WATCHDOG_SECONDS * 1e6)),
        "ASAN_OPTIONS": "detect_leaks=0"})
    try:
        server.start()
        with suite.case("READY=1 is the first word but beats, and the server accepts connections"):
            equal(listener.hear_other_than_beats(), "READY=1")
            equal(Client(server.port).get("/healthz").status, 200)
        with suite.case("the engine beats the watchdog"):
            equal([listener.hear() for _ in range(3)], ["WATCHDOG=1"] * 3)
        with suite.case("SIGHUP is a reload that ends"):
            server.hang_up()
            equal(listener.hear_other_than_beats(), "RELOADING=1")
            equal(listener.hear_other_than_beats(), "READY=1")
        with suite.case("an engine that hangs beats no more, though the server still answers"):
            with commits_held_up(server):
                writer = threading.Thread(target=put_collection, args=(server.port,))
                writer.start()
                holds(falls_silent(listener), "the watchdog was fed by somebody else")
                equal(Client(server.port).get("/healthz").status, 200)
            writer.join()
            equal(listener.hear(), "WATCHDOG=1", "it beats again")
        with suite.case("a stop is announced, with the time that it may take"):
            server.stop()
            equal(listener.hear_other_than_beats(),
                  "STOPPING=1\nEXTEND_TIMEOUT_USEC=35000000\nWATCHDOG_USEC=35000000")
    finally:
        server.remove()


def put_collection(port):
    Client(port).put(Group().collection(), collection_body())


def comes_true(condition, seconds):
    """What it is when it is something; None if it is nothing for so long."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        if found := condition():
            return found
        select.select([], [], [], 0.5)
    return None


def reasons_not_to_be_ready(client):
    answer = client.get("/readyz", query=None)
    return answer.json["reasons"] if answer.status == 503 else None


@contextlib.contextmanager
def hanging(binary):
    """A server whose engine hangs in a commit until the block ends."""
    server = Server(binary, environment={"ASAN_OPTIONS": "detect_leaks=0"}).start()
    writer = threading.Thread(target=suppressed(put_collection), args=(server.port,))
    with commits_held_up(server):
        writer.start()
        yield server
    writer.join()


def hangs(server):
    reasons = comes_true(lambda: reasons_not_to_be_ready(Client(server.port)), READY_SECONDS)
    holds(reasons and re.fullmatch(r"the engine has not taken a step for \d+ s", reasons[0]),
          reasons)


def gives_up(server):
    holds(comes_true(lambda: GIVING_UP in server.log(), ENDED_SECONDS), server.log())


def servers_without_watchdog(suite, binary):
    with hanging(binary) as server, hanging(binary) as stopped:
        with suite.case("/readyz says so when the engine takes no step"):
            hangs(server)
            hangs(stopped)
        stopped.begin_to_stop()
        with suite.case("a server whose engine hangs for a minute says so"):
            gives_up(server)
        with suite.case("one that is to stop says so too"):
            gives_up(stopped)
    with suite.case("and ends with code 1"):  # out here, for strace keeps what has ended
        equal(server.wait_for_end(ENDED_SECONDS), 1)
    with suite.case("so does the one that is to stop"):
        equal(stopped.wait_for_end(ENDED_SECONDS), 1)
    stopped.remove()
    with server, suite.case("it starts again and serves"):
        client = Client(server.port)
        holds(comes_true(lambda: client.get("/readyz", query=None).status == 200, READY_SECONDS),
              server.log())


def suppressed(work):
    """Without what it complains of when the server is gone."""
    def run(*words):
        with contextlib.suppress(OSError, http.client.HTTPException):
            work(*words)
    return run


def server_without_listener(suite, binary, path):
    with suite.case("a socket that is not there is told of in the log, and the server serves"):
        server = Server(binary, environment={"NOTIFY_SOCKET": path + ".gone"})
        with server:
            equal(Client(server.port).get("/healthz").status, 200)
            holds("the service manager is told nothing" in server.log(), server.log())


def sandbox(suite, binary):
    with suite.case("the kernel holds the server to starting no program"):
        with Server(binary) as server:
            status = pathlib.Path(f"/proc/{server.process_id()}/status").read_text()
            holds(re.search(r"^NoNewPrivs:\s*1$", status, re.M), status)
            holds(re.search(r"^Seccomp:\s*2$", status, re.M), status)


def main():
    binary, suite = binary_of(sys.argv), Suite()
    with tempfile.TemporaryDirectory(prefix="belfry-notify-") as folder:
        path = folder + "/notify"
        watched_server(suite, binary, path)
        server_without_listener(suite, binary, path)
    servers_without_watchdog(suite, binary)
    sandbox(suite, binary)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
