# SPDX-License-Identifier: MIT
"""HTTP by the byte: sends what no client library would, and reads the answer to it."""
import socket


class RawAnswer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers  # names in lower case
        self.body = body

    def __repr__(self):
        return f"{self.status} {self.headers} {self.body[:600]!r}"


class RawConnection:
    """A connection that is kept for as long as the server keeps it."""

    def __init__(self, port):
        self._port = port
        self._socket = None
        self._pending = b""

    def ask(self, request, head_only=False):
        """Sends the bytes of one request and returns the answer to it."""
        for last_try in (False, True):
            kept = self._socket is not None
            if not kept:
                self._socket = socket.create_connection(("127.0.0.1", self._port), timeout=60)
                self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._pending = b""
            try:
                self._socket.sendall(request)
                return self._read_answer(head_only)
            except (ConnectionError, EOFError):
                self.close()
                # The server may have closed a kept connection just before we sent.
                if last_try or not kept:
                    raise
        raise AssertionError("not reached")

    def close(self):
        if self._socket:
            self._socket.close()
        self._socket = None

    def _read_answer(self, head_only):
        while b"\r\n\r\n" not in self._pending:
            self._receive()
        head, _, self._pending = self._pending.partition(b"\r\n\r\n")
        lines = head.decode("latin-1").split("\r\n")
        status = int(lines[0].split(" ")[1])
        if status == 100:
            return self._read_answer(head_only)
        headers = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        length = 0 if head_only else int(headers.get("content-length", "0"))
        while len(self._pending) < length:
            self._receive()
        body, self._pending = self._pending[:length], self._pending[length:]
        if headers.get("connection", "").lower() == "close":
            self.close()
        return RawAnswer(status, headers, body)

    def _receive(self):
        received = self._socket.recv(65536)
        if not received:
            raise EOFError("the server closed the connection without an answer")
        self._pending += received
