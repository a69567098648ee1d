# SPDX-License-Identifier: MIT
"""Targets for the server to call: one that remembers what it was sent, and ones that misbehave.

All listen on a free port of 127.0.0.1. The misbehaving ones do one thing to every connection
and go on until the test ends.
"""
import base64
import gzip
import http.server
import json
import pathlib
import socket
import ssl
import struct
import subprocess
import threading
import urllib.parse


def echo(request):
    """What it was asked, as targets repeat it: as it is, in JSON, in an address, in base64. Every
    other time it stands where Belfry cuts an answer off."""
    said = " ".join([request["path"], request["headers"].get("Authorization", ""),
                     request["headers"].get("X-Api-Key", ""), request["body"].decode("latin-1")])
    forms = [said, json.dumps({"said": said}), urllib.parse.quote(said, safe=""),
             base64.b64encode(said.encode()).decode()]
    if request["number"] % 2:
        forms.insert(0, "." * (2048 - len(request["path"]) - 25))
    return "\n".join(forms).encode()


class Sink:
    """Answers with a status and a body that may be set per path, and remembers every request. The
    body may be made of the request."""

    def __init__(self):
        self.requests = []
        self.statuses = {}
        self.bodies = {}
        self.body = b"ok"  # where none is set
        sink = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                request = {"method": self.command, "path": self.path, "body": body,
                           "headers": dict(self.headers.items()), "number": len(sink.requests)}
                sink.requests.append(request)
                self.send_response(sink.statuses.get(self.path, 200))
                answer = sink.bodies.get(self.path, sink.body)
                if callable(answer):
                    answer = answer(request)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(answer)

            do_GET = do_PUT = do_POST = do_DELETE = do_PATCH = do_HEAD = do_OPTIONS = handle_any

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def url(self, path="/"):
        return f"http://127.0.0.1:{self.port}{path}"

    def at(self, path):
        return [request for request in self.requests if request["path"] == path]


class Misbehaving:
    """Gives every connection to `behave(connection, ended)`, which may take its time."""

    def __init__(self, behave, context=None):
        self._ended = threading.Event()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self._behave, self._context = behave, context
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            if self._context:
                connection = self._context.wrap_socket(connection, server_side=True)
            self._behave(connection, self._ended)
        except (OSError, ssl.SSLError):
            pass
        finally:
            connection.close()

    def end(self):
        self._ended.set()
        self._listener.close()


def reset(connection, _):
    connection.recv(65536)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def hang(connection, ended):
    connection.recv(65536)
    ended.wait()


def drip(connection, ended):
    """A byte now and then, for ever: every single read succeeds."""
    connection.recv(65536)
    while not ended.wait(0.05):
        connection.sendall(b"H")


def endless_body(connection, ended):
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n")
    while not ended.is_set():
        connection.sendall(b"x" * 65536)


def endless_head(connection, ended):
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\r\n")
    while not ended.is_set():
        connection.sendall(b"x-filler: " + b"y" * 8000 + b"\r\n")


def nonsense(connection, _):
    connection.recv(65536)
    connection.sendall(b"220 mail.example.test ESMTP\r\n\r\n")


BOMB = gzip.compress(b"\0" * 50_000_000)  # made beforehand: a call has little time


def gzip_bomb(connection, _):
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
                       % len(BOMB) + BOMB)


def answer_ok(connection, _):
    connection.recv(65536)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


def slow_ok(connection, ended):
    """Answers after longer than a second."""
    connection.recv(65536)
    ended.wait(1.5)
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


def certificate(folder, name, host, days):
    """A self-signed certificate in PEM, made with openssl; `days` may be in the past."""
    folder = pathlib.Path(folder)
    key, pem = folder / f"{name}.key", folder / f"{name}.pem"
    dates = (["-not_before", "20200101000000Z", "-not_after", "20200201000000Z"]
             if days < 0 else ["-days", str(days)])
    base = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
            "-nodes", "-keyout", key, "-out", pem, "-subj", f"/CN={host}",
            "-addext", f"subjectAltName={host_name(host)}"]
    if days < 0:
        return expired_certificate(folder, name, host)
    subprocess.run(base + dates, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, key)
    return context


def expired_certificate(folder, name, host):
    """`openssl req` cannot date back; `openssl ca` can."""
    key, pem, request = (folder / f"{name}.{end}" for end in ("key", "pem", "csr"))
    (folder / "index.txt").write_text("")
    (folder / "serial").write_text("01\n")
    (folder / "ca.cnf").write_text(
        "[ca]\ndefault_ca=me\n[me]\ndatabase=index.txt\nserial=serial\nnew_certs_dir=.\n"
        "default_md=sha256\npolicy=any\n[any]\ncommonName=supplied\n"
        f"[ext]\nsubjectAltName={host_name(host)}\n")
    run = {"check": True, "capture_output": True, "cwd": folder}
    subprocess.run(["openssl", "req", "-new", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-keyout", key, "-out", request,
                    "-subj", f"/CN={host}"], **run)
    subprocess.run(["openssl", "ca", "-batch", "-selfsign", "-config", "ca.cnf", "-keyfile", key,
                    "-in", request, "-out", pem, "-extensions", "ext",
                    "-startdate", "20200101000000Z", "-enddate", "20200201000000Z"], **run)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pem, key)
    return context


def host_name(host):
    return f"IP:{host}" if host[0].isdigit() else f"DNS:{host}"
