# SPDX-License-Identifier: MIT
"""The real server on a free port, with a store of its own in a temporary directory.

    with Server(binary) as server:
        ...server.port...

Leaving the block stops it with SIGTERM and expects exit code 0 and no complaint of a
sanitizer in its log.
"""
import json
import os
import pathlib
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile

ADDRESS = re.compile(r"Serving on https?://[\d.]+:(\d+)\b")
TOKEN = re.compile(r"\bbelfry_[0-9a-f]{16}_[0-9a-f]{64}\b")
SANITIZER = re.compile(r"ERROR: \w+Sanitizer|runtime error:|SUMMARY: \w+Sanitizer")


class Server:
    def __init__(self, binary, *flags, environment=None, log_level="debug", host="127.0.0.1",
                 files_max=None):
        self.home = pathlib.Path(tempfile.mkdtemp(prefix="belfry-e2e-"))
        self.store = self.home / "store"
        self.log_path = self.home / "log"
        self.port = None
        # The owner's, which the first start with --auth token prints, or one of an issuer's.
        self.token = os.environ.get("ISSUED_TOKEN")
        self.binary = binary
        self._flags = flags
        self._host = host
        self._log_level = log_level
        self.environment = environment or {}  # besides this process's own
        self._files_max = files_max  # that it may have open; None: as many as this process
        self._process = None
        self._greeting = []

    def restart(self, *flags):
        """With other flags."""
        self.stop()
        self._flags = flags
        return self.start()

    def start(self):
        """Returns when the server has printed its address: it then accepts connections. With a log
        for machines it prints none, and the address is in the log."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("BELFRY_")}
        environment |= self.environment
        command = [self.binary, "serve", "--listen", f"{self._host}:0", "--store", str(self.store),
                   "--log-level", self._log_level, *self._flags]
        told = self._notify_socket(environment) if "json" in self._flags else None
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log,
                                             stdin=subprocess.DEVNULL, env=environment, text=True,
                                             preexec_fn=self._limit_files)
        if told:
            self._wait_until_ready(told)
            return self
        for line in self._process.stdout:
            self._greeting.append(line)
            if match := TOKEN.search(line):
                self.token = match.group(0)
            if match := ADDRESS.search(line):
                self.port = int(match.group(1))
                return self
        raise RuntimeError(f"the server ended with {self._process.wait()}:\n{self.log()}")

    def _limit_files(self):
        if self._files_max is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (self._files_max, self._files_max))

    def _notify_socket(self, environment):
        told = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        environment["NOTIFY_SOCKET"] = str(self.home / "notify")
        (self.home / "notify").unlink(missing_ok=True)
        told.bind(environment["NOTIFY_SOCKET"])
        told.settimeout(60)
        return told

    def _wait_until_ready(self, told):
        with told:
            while b"READY=1" not in told.recv(4096):
                pass
        events = map(json.loads, self.log_path.read_text().splitlines())
        self.port = [event["port"] for event in events if event["msg"] == "serving"][-1]

    def read_greeting(self):
        """All that the start tells the person at the terminal."""
        while "Ctrl-C" not in self._greeting[-1]:
            self._greeting.append(self._process.stdout.readline())
        return "".join(self._greeting)

    def greeting(self):
        return "".join(self._greeting)

    def forget_greeting(self):
        self._greeting.clear()

    def begin_to_stop(self):
        self._process.send_signal(signal.SIGTERM)

    def stop(self):
        self.begin_to_stop()
        self._greeting.append(self._process.stdout.read())
        code = self._process.wait()
        if code != 0:
            raise AssertionError(f"SIGTERM ended the server with {code}:\n{self.log()}")
        if SANITIZER.search(self.log()):
            raise AssertionError(f"a sanitizer complained:\n{self.log()}")

    def hang_up(self):
        """SIGHUP: files that may have been replaced are looked at now."""
        self._process.send_signal(signal.SIGHUP)

    def kill(self):
        """As a crash would: nothing is finished, nothing is flushed."""
        self._process.kill()
        self._greeting.append(self._process.stdout.read())
        self._process.wait()

    def process_id(self):
        return self._process.pid

    def wait_for_end(self, seconds):
        """The exit code of a server that ends by itself; None if it has not by then."""
        try:
            code = self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        self._greeting.append(self._process.stdout.read())
        return code

    def log(self):
        """Everything the server ever said, on both outputs."""
        return "".join(self._greeting) + self.log_path.read_text(errors="replace")

    def remove(self):
        shutil.rmtree(self.home, ignore_errors=True)

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, *_):
        try:
            self.kill() if kind else self.stop()
        finally:
            self.remove()
