#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Who may do what: every cell of the tables in docs/access.md, asked of the real server; what
tenants see of one another; credentials that are none; tokens that end.

    access.py PATH_OF_BELFRY
"""
import http.client
import itertools
import pathlib
import socket
import subprocess
import sys

from principals import Owner, scope_of
from rest import AHEAD, Client, Group, collection_body, job_body
from server import Server
from suite import Suite, binary_of, equal, holds

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "access.md"
NOW = "2030-01-01T00:00:00Z"
HIDDEN = 404
FORBIDDEN = 403
STATE = {"properties": {"state": "Enabled"}}


def table(first_header):
    """The table of docs/access.md whose first column has this header: {row: {column: cell}}."""
    lines = iter(PAGE.read_text().splitlines())
    header = next(line for line in lines if line.startswith(f"| {first_header} |"))
    columns = [cell.strip() for cell in header.strip("|").split("|")]
    next(lines)
    rows = {}
    for line in itertools.takewhile(lambda one: one.startswith("|"), lines):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        rows[cells[0]] = dict(zip(columns[1:], cells[1:], strict=True))
    return rows


class Place:
    """A collection with a job, at the end of a path of scopes."""

    def __init__(self, subscription, group, collection):
        self.group = Group(subscription, group)
        self.name = collection
        self.path = self.group.collection(collection)
        self.job = self.group.job("job", collection)
        self.scope = scope_of(subscription, group, collection)


PLACES = {
    "the collection": Place("Sub", "Group", "Jobs"),
    "another collection": Place("Sub", "Group", "Jobs2"),
    "another group": Place("Sub", "Group2", "Jobs"),
    "another subscription": Place("Sub2", "Group", "Jobs"),
}
GIVEN_OVER = {  # in another spelling than the places: names are compared without regard to case
    "everything": scope_of(),
    "the subscription": scope_of("sUB"),
    "the group": scope_of("sub", "GROUP"),
    "the collection": scope_of("SUB", "group", "jOBS"),
}


class Matrix:
    def __init__(self, suite, owner):
        self.suite = suite
        self.owner = owner
        self.cells = 0
        for place in PLACES.values():
            self.furnish(place)

    def furnish(self, place):
        for path, body in ((place.path, collection_body()), (place.job, job_body())):
            answer = self.owner.client.put(path, body)
            holds(answer.status in (200, 201), answer)

    # Each gives the answer, and whether it shows that the operation was done.
    def operations(self):
        def plain(method, path_of, body=None):
            def ask(client, place):
                answer = client.request(method, path_of(place), body)
                return answer, answer.status < 400 or answer.status == 409
            return ask

        def at_job(suffix=""):
            return lambda place: place.job + suffix

        def at_collection(suffix=""):
            return lambda place: place.path + suffix

        return {
            "list collections": self.list_collections,
            "read a collection": plain("GET", at_collection()),
            "list jobs": plain("GET", at_collection("/jobs")),
            "read a job": plain("GET", at_job()),
            "read a history": plain("GET", at_job("/history")),
            "read the audit log": self.read_audit,
            "run a job": plain("POST", at_job("/run")),
            "preflight a job": plain("POST", at_job("/preflight")),
            "enable a job": plain("POST", at_job("/enable")),
            "disable a job": plain("POST", at_job("/disable")),
            "enable a collection": plain("POST", at_collection("/enable")),
            "disable a collection": plain("POST", at_collection("/disable")),
            "set a collection's state": plain("PATCH", at_collection(), STATE),
            "set a job's state": plain("PATCH", at_job(), STATE),
            "put a collection": plain("PUT", at_collection(), collection_body()),
            "patch a collection": plain("PATCH", at_collection(), {"tags": {"a": "b"}}),
            "delete a collection": plain("DELETE", at_collection()),
            "create a job": plain("PUT", at_job("2"), job_body()),
            "replace a job": plain("PUT", at_job(), job_body()),
            "patch a job": plain("PATCH", at_job(), {"properties": {"startTime": AHEAD}}),
            "delete a job": plain("DELETE", at_job()),
            "make a token": self.make_token,
            "revoke a token": self.revoke_token,
        }

    @staticmethod
    def list_collections(client, place):
        answer = client.get(place.group.collections())
        return answer, place.name in [one["name"] for one in answer.json["value"]]

    @staticmethod
    def read_audit(client, place):
        query = f"$filter=scope%20eq%20'{place.scope}'"
        answer = client.get("/belfry/audit", query=query)
        rows = answer.json["value"]
        if not all(row["resource"].startswith((place.path, "/belfry/tokens/")) for row in rows):
            raise AssertionError("rows of another scope")
        return answer, bool(rows)

    @staticmethod
    def make_token(client, place):
        body = {"name": "x", "assignments": [{"role": "Reader", "scope": place.scope}]}
        answer = client.request("POST", "/belfry/tokens", body, query=None)
        return answer, answer.status == 201

    def revoke_token(self, client, place):
        token = self.owner.token(("Reader", place.scope))
        answer = client.delete(f"/belfry/tokens/{token['id']}", query=None)
        return answer, answer.status == 200

    @staticmethod
    def refusals(operation, inside, role):
        """The statuses with which what is not allowed may be answered."""
        if operation in ("list collections", "read the audit log"):
            return [200]  # with nothing in it
        if operation in ("make a token", "revoke a token"):
            return [HIDDEN] if role == "Owner" else [FORBIDDEN]
        return [FORBIDDEN] if inside else [HIDDEN]

    def check(self):
        roles, scopes = table("operation"), table("given over")
        operations = self.operations()
        with self.suite.case("the page and this suite know the same operations and scopes"):
            equal(list(roles), list(operations))
            equal(list(scopes), list(GIVEN_OVER))
        for role in ("Reader", "Operator", "Contributor", "Owner"):
            for given, over in GIVEN_OVER.items():
                client = self.owner.caller((role, over), name=f"{role} over {given}")
                for place_name, name in itertools.product(PLACES, operations):
                    inside = scopes[given][place_name] == "yes"
                    allowed = inside and roles[name][role] == "yes"
                    self.cell(client, PLACES[place_name], (role, given, place_name, name),
                              operations[name], allowed, inside)
        with self.suite.case("at least 500 cells were asked"):
            holds(self.cells >= 500, self.cells)
        print(f"{self.cells} cells of docs/access.md", flush=True)

    def cell(self, client, place, names, ask, allowed, inside):
        self.cells += 1
        role, _, _, operation = names
        with self.suite.case(" / ".join(names)):
            answer, done = ask(client, place)
            equal(done, allowed, answer)
            if not allowed:
                holds(answer.status in self.refusals(operation, inside, role), answer)
            if answer.status == FORBIDDEN:
                equal(answer.error["code"], "AuthorizationFailed")
                needed = next(one for one, cell in table("operation")[operation].items()
                              if cell == "yes")
                holds(f"the role {needed}" in answer.error["message"], answer)
        if operation.startswith("delete") and allowed:
            self.furnish(place)


def tenants(suite, owner):
    """What B sees of A is what it sees of nothing."""
    ours, theirs = Group("tenant-a", "g"), Group("tenant-b", "g")
    a = owner.caller(("Owner", scope_of("tenant-a")), name="a")
    b = owner.caller(("Owner", scope_of("tenant-b")), name="b")
    for client, group in ((a, ours), (b, theirs)):
        equal(client.put(group.collection(), collection_body()).status, 201)
        equal(client.put(group.job(), job_body()).status, 201)
    paths = [ours.collection(), ours.collection() + "/enable", ours.collection() + "/disable",
             ours.collection() + "/jobs", ours.job(), ours.job() + "/run",
             ours.job() + "/history", ours.job() + "/preflight"]
    bodies = {"PUT": collection_body(), "PATCH": {"properties": {}}}
    for path, method in itertools.product(paths, ("GET", "PUT", "PATCH", "POST", "DELETE")):
        with suite.case(f"{method} {path} with the token of another tenant"):
            before = a.get(ours.job()).body
            answer = b.request(method, path, bodies.get(method))
            holds(answer.status in (404, 405), answer)
            if answer.status == 404:
                missing = b.request(method, path.replace("/jc", "/nothing"), bodies.get(method))
                equal(answer.body.replace(b"/jc'", b"/nothing'"), missing.body)
            equal(a.get(ours.job()).body, before)
    with suite.case("what is not there in one's own tenant is answered alike"):
        hidden = b.get(ours.collection()).error
        equal(b.get(theirs.collection("nothing")).error["code"], hidden["code"])
        equal(hidden["message"], b.get(theirs.collection("nothing")).error["message"]
              .replace("nothing", "jc"))
    with suite.case("lists of another tenant are empty"):
        for path in (ours.all_collections(), ours.collections()):
            equal(b.get(path).json, {"value": [], "nextLink": None})
    with suite.case("each sees its own tokens and rows of the audit log alone"):
        equal([one["name"] for one in b.get("/belfry/tokens", query=None).json["value"]], ["b"])
        rows = b.get("/belfry/audit", query=None).json["value"]
        holds(rows and "tenant-a" not in str(rows), rows)
    with suite.case("nobody gives away what is not theirs"):
        for scope in (scope_of("tenant-a"), scope_of(), scope_of("tenant-a", "g", "jc")):
            body = {"name": "x", "assignments": [{"role": "Reader", "scope": theirs_scope(theirs)},
                                                 {"role": "Reader", "scope": scope}]}
            equal(b.request("POST", "/belfry/tokens", body, query=None).status, 404)


def theirs_scope(group):
    return scope_of(group.subscription)


def pages(suite, owner):
    """A page that is full of what one may see, and a link that names nothing else."""
    group = Group("many", "g")
    for i in range(1003):
        owner.client.put(group.collection(f"c{i:04}"), collection_body("P10Premium"))
    mine = [f"c{i:04}" for i in (0, 500, 1002)]
    some = owner.caller(*[("Reader", scope_of("many", "g", name)) for name in mine])
    with suite.case("a list passes over what one may not see, however much it is"):
        answer = some.get(group.all_collections()).json
        equal([one["name"] for one in answer["value"]], mine)
        equal(answer["nextLink"], None)
    with suite.case("who may read all of it gets it page by page"):
        answer = owner.caller(("Reader", scope_of("many"))).get(group.collections()).json
        equal(len(answer["value"]), 1000)
        holds("c0999" in answer["nextLink"], answer["nextLink"])


def status_with(port, *headers, path="/belfry/tokens"):
    """The status of a GET with exactly these header lines; None when there was no answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as connection:
        lines = [f"GET {path} HTTP/1.1".encode(), b"Host: 127.0.0.1", b"Connection: close",
                 *headers, b"", b""]
        try:
            connection.sendall(b"\r\n".join(lines))
        except OSError:
            pass  # refused before all of it was read
        response = http.client.HTTPResponse(connection)
        try:
            response.begin()
        except OSError:
            return None, None
        return response.status, response.headers.get("WWW-Authenticate")


def bad_credentials(suite, server, owner):
    good = server.token.encode()
    revoked = owner.token(("Owner", scope_of()))
    equal(owner.revoke(revoked["id"]).status, 200)
    expired = owner.token(("Owner", scope_of()), expires="PT1H")
    holds(Client(server.port, expired["token"]).get("/belfry/tokens", query=None).status == 200,
          "good until it expires")
    equal(owner.client.request("POST", "/clock", {"advance": "PT1H"}, query=None).status, 200)
    bearer = b"Authorization: Bearer "
    other = b"1" if good.endswith(b"0") else b"0"
    cases = {
        "none": [],
        "an empty header": [b"Authorization:"],
        "the scheme alone": [b"Authorization: Bearer"],
        "another scheme": [b"Authorization: Basic " + good],
        "no scheme": [b"Authorization: " + good],
        "a wrong secret": [bearer + good[:-1] + other],
        "a wrong id": [bearer + good.replace(b"belfry_", b"belfry_0")[:24] + good[24:]],
        "an unknown id": [bearer + b"belfry_" + b"0" * 16 + good[23:]],
        "the id alone": [bearer + good[:23]],
        "a revoked one": [bearer + revoked["token"].encode()],
        "an expired one": [bearer + expired["token"].encode()],
        "one character more": [bearer + good + b"0"],
        "upper case": [bearer + good.upper()],
        "two tokens in one header": [bearer + good + b", Bearer " + good],
        "two headers": [bearer + good, bearer + good],
        "two headers, one of them empty": [bearer + good, b"Authorization:"],
        "a tab for a blank": [b"Authorization: Bearer\t" + good],
        "bytes that are no text": [bearer + b"belfry_\xff\xfe"],
        "8 KB": [bearer + b"belfry_" + b"a" * 8000],
        "somebody else's kind": [bearer + b"eyJhbGciOiJub25lIn0.e30."],
        "in another header": [b"X-Authorization: Bearer " + good],
        "as a cookie": [b"Cookie: token=" + good],
    }
    for name, headers in cases.items():
        with suite.case(f"a credential that is none: {name}"):
            equal(status_with(server.port, *headers), (401, "Bearer"))
    with suite.case("what is no HTTP is refused as such: control characters, 100 KB"):
        equal(status_with(server.port, bearer + good + b"\x01")[0], 400)
        equal(status_with(server.port, bearer + b"a" * 100_000)[0], 431)
    with suite.case("the good one is good"):
        equal(status_with(server.port, bearer + good)[0], 200)
        equal(status_with(server.port, b"authorization: bEARER " + good)[0], 200)


def every_route(suite, server):
    group = Group()
    anybody = Client(server.port)
    routes = [group.all_collections(), group.collections(), group.collection(), group.job(),
              group.job() + "/history", group.job() + "/run", group.job() + "/preflight",
              group.collection() + "/jobs", group.collection() + "/enable", "/belfry/tokens",
              "/belfry/tokens/0123456789abcdef", "/belfry/audit", "/clock", "/nothing", "/",
              "/subscriptions/s/providers/Microsoft.Scheduler"]
    for route, method in itertools.product(routes, ("GET", "PUT", "POST", "PATCH", "DELETE")):
        with suite.case(f"{method} {route} without a credential"):
            answer = anybody.request(method, route, {})
            equal((answer.status, answer.error["code"]), (401, "AuthenticationFailed"))
            equal(answer.headers["WWW-Authenticate"], "Bearer")
    with suite.case("health is told to everybody"):
        for path in ("/healthz", "/readyz"):
            equal(anybody.get(path, query=None).status, 200)


def tokens(suite, owner):
    made = owner.token(("Reader", scope_of("s")), ("Owner", scope_of("t", "g")), name="two",
                       expires="2031-01-01T00:00:00Z")
    with suite.case("a token is told when it is made, and never again"):
        holds(made["token"].startswith(f"belfry_{made['id']}_"), made)
        listed = owner.client.get("/belfry/tokens", query=None).json["value"]
        one = next(token for token in listed if token["id"] == made["id"])
        equal(one, {key: value for key, value in made.items() if key != "token"})
        equal(one["expires"], "2031-01-01T00:00:00Z")
        holds(made["token"] not in str(listed), "the list shows no token")
    with suite.case("a revocation holds from the next request on"):
        client = Client(owner.port, made["token"])
        equal(client.get(Group("s").collections()).status, 200)
        revoked = owner.revoke(made["id"])
        equal((revoked.status, revoked.json["state"]), (200, "revoked"))
        equal(client.get(Group("s").collections()).status, 401)
        equal(owner.revoke(made["id"]).json["revoked"], revoked.json["revoked"])
    with suite.case("a token that is not there cannot be revoked"):
        equal(owner.revoke("0123456789abcdef").status, 404)
        equal(owner.client.delete("/belfry/tokens/a%20b", query=None).status, 400)
    wrong = {
        "name": [None, "", 7, "x" * 101, "a\nb"],
        "expires": ["soon", "2029-12-31T23:59:59Z", "PT0S", 7],
        "assignments": [None, [], {}, [7], [{"role": "Reader"}], [{"scope": "/"}],
                        [{"role": "King", "scope": "/"}], [{"role": "Reader", "scope": ""}],
                        [{"role": "Reader", "scope": "/subscriptions"}],
                        [{"role": "Reader", "scope": "/subscriptions/a/resourceGroups"}],
                        [{"role": "Reader", "scope": "/subscriptions/a b"}],
                        [{"role": "Reader", "scope": "/"}] * 17],
    }
    for member, values in wrong.items():
        for value in values:
            with suite.case(f"a token with a wrong {member} is refused: {value!r}"):
                body = {"name": "x", "assignments": [{"role": "Reader", "scope": "/"}],
                        member: value}
                answer = owner.client.request("POST", "/belfry/tokens", body, query=None)
                equal(answer.status, 400, answer)
                holds(member in answer.error["message"], answer)


def command_line(suite, binary, server):
    def run(*arguments, token=server.token):
        environment = {"BELFRY_SERVER": f"http://127.0.0.1:{server.port}", "BELFRY_TOKEN": token}
        return subprocess.run([binary, *arguments], env=environment, capture_output=True,
                              text=True, check=False)

    with suite.case("belfry token create prints the token alone"):
        made = run("token", "create", "--name", "ci", "--role", "Reader", "--scope", "/",
                   "--expires", "P1D")
        equal(made.returncode, 0, made.stderr)
        token = made.stdout.strip()
        equal(Client(server.port, token).get(Group().collections()).status, 200)
    with suite.case("belfry token list shows it, and not the token"):
        listed = run("token", "list")
        holds(token.split("_")[1] in listed.stdout and "Reader over /" in listed.stdout, listed)
        holds(token not in listed.stdout, "no token in the list")
    with suite.case("who may not is told so, with exit code 1"):
        refused = run("token", "list", token=token)
        equal(refused.returncode, 1)
        holds("the role Owner" in refused.stderr, refused.stderr)
    with suite.case("belfry token revoke ends it at once"):
        equal(run("token", "revoke", token.split("_")[1]).returncode, 0)
        equal(Client(server.port, token).get(Group().collections()).status, 401)
    with suite.case("who has no good token is told where it belongs"):
        refused = run("token", "list", token=token)
        equal(refused.returncode, 1)
        holds("answered 401: " in refused.stderr and "BELFRY_TOKEN" in refused.stderr, refused)
    with suite.case("belfry audit list tells of it"):
        rows = run("audit", "list", "--count", "1")
        equal(rows.returncode, 0, rows.stderr)
        holds("deleted" in rows.stdout and token.split("_")[1] in rows.stdout, rows.stdout)
    with suite.case("a server that is not there, with exit code 1"):
        gone = run("token", "list", "--server", "http://127.0.0.1:1")
        equal(gone.returncode, 1)
        holds("cannot ask http://127.0.0.1:1" in gone.stderr, gone.stderr)
    with suite.case("a token is not sent over plain http to another machine"):
        plain = run("token", "list", "--server", "http://192.0.2.1:7070")
        holds(plain.returncode == 1 and "plain http" in plain.stderr, plain.stderr)


def first_start(suite, binary, server):
    with suite.case("a second start prints no token, and the first one is still good"):
        first = server.token
        server.stop()
        server.token = None
        server.start()
        equal(server.token, None)
        server.token = first
        equal(Client(server.port, first).get("/belfry/tokens", query=None).status, 200)
    with suite.case("a store is not written into while its server runs"):
        answer = create_in_store(binary, server)
        equal(answer.returncode, 1)
        holds("lock" in answer.stderr or "another" in answer.stderr, answer.stderr)
    with suite.case("with the server stopped a token is made in its store"):
        server.stop()
        answer = create_in_store(binary, server)
        equal(answer.returncode, 0, answer.stderr)
        server.start()
        client = Client(server.port, answer.stdout.strip())
        equal(client.get("/belfry/tokens", query=None).status, 200)
    with suite.case("without a usable owner the next start mints a token"):
        own = answer.stdout.strip().split("_")[1]
        listed = [token["id"] for token in client.get("/belfry/tokens", query=None).json["value"]]
        for token in [*(one for one in listed if one != own), own]:  # itself at the end
            equal(client.delete(f"/belfry/tokens/{token}", query=None).status, 200)
        server.stop()
        server.start()
        holds(server.token not in (None, first), "another one")
        equal(Client(server.port, server.token).get("/belfry/tokens", query=None).status, 200)


def create_in_store(binary, server):
    return subprocess.run([binary, "token", "create", "--name", "lost", "--role", "Owner",
                           "--scope", "/", "--store", server.store],
                          capture_output=True, text=True, check=False)


def nowhere(suite, server, secrets):
    with suite.case("no token is in the store or in the log"):
        files = [path for path in server.store.rglob("*") if path.is_file()]
        holds(len(files) >= 3, files)
        for path in [*files, server.log_path]:
            content = path.read_bytes()
            for token in secrets:
                secret = token.rsplit("_", 1)[1].encode()
                holds(secret not in content, f"a token's secret is in {path.name}")


def main():
    binary = binary_of(sys.argv)
    suite = Suite()
    with Server(binary, "--auth", "token", "--virtual-clock", NOW, log_level="debug") as server:
        owner = Owner(server)
        every_route(suite, server)
        tokens(suite, owner)
        tenants(suite, owner)
        Matrix(suite, owner).check()
        pages(suite, owner)
        command_line(suite, binary, server)
        bad_credentials(suite, server, owner)
        canary = owner.token(("Reader", scope_of()))["token"]
        equal(Client(server.port, canary).get(Group().collections()).status, 200)
        secrets = [server.token, canary]
        nowhere(suite, server, secrets)
        first_start(suite, binary, server)
        nowhere(suite, server, [*secrets, server.token])
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
