#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/limits.md is true: its defaults are those of the code, the tests that it names are there,
no limit of the code is missing, and what it says "here" of is provoked on the real server.

    limits_table.py PATH_OF_BELFRY
"""
import contextlib
import copy
import pathlib
import re
import sqlite3
import sys

from macs import token_mac
from principals import Owner
from rest import Client, Group, collection_body, http_action, job_body
from server import Server
from suite import Suite, binary_of, equal, holds

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "limits.md").read_text()
UNITS = {"KB": 1024, "MB": 1024 ** 2, "s": 1, "min": 60, "days": 86400}
CHRONO = {"seconds": 1, "minutes": 60, "hours": 3600, "days": 86400}
STRUCTS_OF_LIMITS = ["HttpServerLimits", "HttpServerShares", "WorkerLimits"]
NOW = "2030-01-01T00:00:00Z"


def rows():
    lines = PAGE.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith("| limit |"))
    for line in lines[begin + 2:]:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]


def sources():
    files = [path for path in (ROOT / "src").rglob("*") if path.suffix in (".h", ".cpp")]
    return {path: path.read_text() for path in files if not path.stem.endswith("_test")}


def value_of(kind, text):
    """A number of the code; times are in seconds."""
    text = text.replace("'", "")
    if match := re.fullmatch(r"std::chrono::(\w+)\{(\d+)\}", text):
        return CHRONO[match.group(1)] * int(match.group(2))
    number = 1
    for factor in text.split("*"):
        number *= int(factor)
    return number / 1000 if kind == "Millis" else number


def default_in(code, name):
    """What the code says: {value} of a constant, or of a member of a struct."""
    *structs, member = name.split("::")
    found = set()
    for text in code.values():
        for struct in structs:
            match = re.search(rf"\b(?:struct|class) {struct}\b[^;{{]*\{{", text)
            text = text[match.end():] if match else ""
        constant = r"constexpr " if not structs else r"\n\s*"
        pattern = rf"{constant}([\w:]+) {member}(?: = ([^;]+)|\{{([^}}]+)\}});"
        for match in re.finditer(pattern, text):
            found.add(value_of(match.group(1), match.group(2) or match.group(3)))
            if structs:
                break
    return found


def default_in_page(text):
    match = re.match(r"([\d,]*\d)(?: (\w+))?", text)
    return int(match.group(1).replace(",", "")) * UNITS.get(match.group(2), 1)


def check_defaults(suite, code):
    for limit, default, _, _, name, _ in rows():
        if name.startswith("`Plan::"):
            continue  # one for each plan; rules/quotas.py asks for all of them
        with suite.case(f"{limit}: the default is the code's"):
            equal({default_in_page(default)}, default_in(code, name.strip("`")), name)


def check_settings(suite, code):
    rules = code[ROOT / "src" / "app" / "setting_rules.cpp"]
    known = set(re.findall(r'\{"([a-z-]+)", [^}]*?"', rules))
    for limit, _, _, setting, _, _ in rows():
        if setting != "–":
            with suite.case(f"{limit}: there is such a setting"):
                holds(setting.strip("`") in known, setting)


def check_nothing_is_missing(suite, code):
    constants = {name for text in code.values() for name in
                 re.findall(r"constexpr [\w:]+ (k\w+(?:Max|PerPage))\b", text)}
    with suite.case("every constant that is a limit is listed"):
        equal(sorted(name for name in constants if f"`{name}`" not in PAGE
                     and f"::{name}`" not in PAGE), [])
    for struct in STRUCTS_OF_LIMITS:
        with suite.case(f"every member of {struct} is listed"):
            text = next(text for text in code.values() if f"struct {struct} {{" in text)
            block = text[text.index(f"struct {struct} {{"):]
            members = re.findall(r"\n  (?:std::size_t|Millis) (\w+)", block[:block.index("\n};")])
            holds(members, struct)
            equal([name for name in members if f"`{struct}::{name}`" not in PAGE], [])


def check_tests(suite):
    unit = "".join(path.read_text() for folder in ("src", "tests")
                   for path in (ROOT / folder).rglob("*_test.cpp"))
    for limit, _, _, _, name, shown_by in rows():
        with suite.case(f"{limit}: {shown_by} is there"):
            for program, test in re.findall(r"(\w+_test) (\w+\.\w+)", shown_by):
                group, case = test.split(".")
                holds(re.search(rf"TEST(?:_F|_P)?\({group},\s+{case}\)", unit), (program, test))
            for file, words in re.findall(r'([\w/]+\.py) "([^"]+)"', shown_by):
                holds(words in (ROOT / "tests" / "e2e" / file).read_text(), (file, words))
            equal(shown_by == "here", name.strip("`") in HERE, name)
            holds(shown_by != "–", f"no test provokes {name}")


def with_member(body, path, value):
    """A copy of the body with `value` at the dotted path."""
    *parents, last = path.split(".")
    at = body = copy.deepcopy(body)
    for name in parents:
        at = at.setdefault(name, {})
    at[last] = value
    return body


QUEUE = {"type": "StorageQueue", "queueMessage": {
    "storageAccount": "a", "queueName": "q", "sasToken": "s", "message": "m"}}
BUS = {"type": "ServiceBusQueue", "serviceBusQueueMessage": {
    "namespace": "n", "queueName": "q", "message": "m",
    "authentication": {"sasKeyName": "k", "sasKey": "s"}}}
BASIC = http_action(authentication={"type": "Basic", "username": "u", "password": "p"})
WEEKLY = {"frequency": "Week", "schedule": {"hours": [1]}}
MONTHLY = {"frequency": "Month", "schedule": {"monthlyOccurrences": []}}
NTH = {"day": "Friday", "Occurrence": 1}

# By constant: a job, where the value is put, what fits, what does not.
JOBS = {
    "kStorageNameBytesMax": (job_body(QUEUE), "action.queueMessage.queueName", "a" * 63, "a" * 64),
    "kNamespaceBytesMax": (job_body(BUS), "action.serviceBusQueueMessage.namespace", "a" * 255,
                           "a" * 256),
    "kEntityBytesMax": (job_body(BUS), "action.serviceBusQueueMessage.queueName", "a" * 260,
                        "a" * 261),
    "kPropertyBytesMax": (
        job_body(BUS), "action.serviceBusQueueMessage.brokeredMessageProperties.label",
        "a" * 1024, "a" * 1025),
    "kSecretBytesMax": (job_body(BASIC), "action.request.authentication.password", "p",
                        "p" * (16 * 1024 + 1)),
    "kIdentityBytesMax": (job_body(BASIC), "action.request.authentication.username", "u" * 1024,
                          "u" * 1025),
    "kDurationBytesMax": (job_body(), "action.timeout", "PT30S", "PT" + "0" * 61 + "1S"),
    "kCountMax": (job_body(recurrence=WEEKLY), "recurrence.count", 2147483647, 2147483648),
    "kScheduleElementsMax": (job_body(recurrence=WEEKLY), "recurrence.schedule.hours", [1] * 128,
                             [1] * 129),
    "kMonthlyOccurrencesMax": (job_body(recurrence=MONTHLY),
                               "recurrence.schedule.monthlyOccurrences", [NTH] * 77, [NTH] * 78),
}


def provoke_in_jobs(suite, client):
    group = Group()
    equal(client.put(group.collection(), collection_body("P20Premium")).status, 201)
    for name, (body, path, fits, exceeds) in JOBS.items():
        with suite.case(f"{name}: what just fits is taken, one more is refused by its name"):
            job = group.job(name)
            answer = client.put(job, with_member(body, f"properties.{path}", fits))
            holds(answer.status in (200, 201), answer)
            answer = client.put(job, with_member(body, f"properties.{path}", exceeds))
            equal((answer.status, answer.error["code"]), (400, "BadRequest"), answer)
            equal(answer.error["target"], f"properties.{path}")


def provoke_in_collections(suite, client):
    with suite.case("kLocationBytesMax: 90 bytes are taken, 91 refused"):
        for length, status in ((90, 201), (91, 400)):
            answer = client.put(Group().collection(), collection_body(location="l" * length))
            equal(answer.status, status, answer)


def provoke_in_tokens(suite, server):
    client = Owner(server).client
    one = {"role": "Reader", "scope": "/"}

    def status(**body):
        body = {"name": "n", "assignments": [one], **body}
        return client.request("POST", "/belfry/tokens", body, query=None).status

    with suite.case("kTokenNameBytesMax: 100 bytes are taken, 101 refused"):
        equal((status(name="n" * 100), status(name="n" * 101)), (201, 400))
    with suite.case("kAssignmentsMax: 16 are taken, 17 refused"):
        equal((status(assignments=[one] * 16), status(assignments=[one] * 17)), (201, 400))
    with suite.case("kScopeBytesMax: 513 bytes are refused"):
        scope = "/subscriptions/s" + "/" * 497
        equal(status(assignments=[{"role": "Reader", "scope": scope}]), 400)
    with suite.case("kTokenIdBytesMax: 65 characters are refused"):
        for length, expected in ((64, 404), (65, 400)):
            equal(client.delete("/belfry/tokens/" + "a" * length, query=None).status, expected)


def fill_with_tokens(store, count):
    """As if the owner's token had been made so often under other ids."""
    with contextlib.closing(sqlite3.connect(store / "belfry.db")) as database, database:
        owners = database.execute("SELECT name, secret_hash, assignments, created, expires, "
                                  "revoked FROM token").fetchone()
        tokens = [(f"filled{i}", *owners) for i in range(count)]
        database.executemany("INSERT INTO token VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                             [(*token, token_mac(store, token)) for token in tokens])


def provoke_number_of_tokens(suite, server):
    server.stop()
    fill_with_tokens(server.store, 10_000 - 2)  # the owner's is there, and one more fits
    server.start()
    client = Owner(server).client
    body = {"name": "n", "assignments": [{"role": "Reader", "scope": "/"}]}
    with suite.case("kTokensMax: 10,000 tokens are kept, one more is refused with the number"):
        answers = [client.request("POST", "/belfry/tokens", body, query=None) for _ in range(2)]
        equal([answer.status for answer in answers], [201, 409], answers)
        equal(answers[1].error["code"], "Conflict")
        holds("10000 tokens" in answers[1].error["message"], answers[1])


def provoke_in_answers(suite, client):
    group = Group()
    wanted = {"x-ms-return-client-request-id": "true"}
    with suite.case("kClientRequestIdBytesMax: an id of 128 bytes comes back, a longer one not"):
        for length in (128, 129):
            answer = client.get(group.all_collections(), headers={
                **wanted, "x-ms-client-request-id": "i" * length})
            equal(answer.headers["x-ms-client-request-id"], "i" * 128 if length == 128 else None)
    with suite.case("kReadingErrorsMax: twenty faults are named"):
        equal(client.put(group.collection(), collection_body()).status, 201)
        headers = {f"bad {number}": "v" for number in range(30)}
        answer = client.put(group.job(), job_body(http_action(headers=headers)))
        equal((answer.status, len(answer.error["details"])), (400, 20), answer)
    with suite.case("kReadingIgnoredMax: twenty ignored members are named"):
        unknown = {f"unknown{number}": 1 for number in range(30)}
        answer = client.put(group.job(), job_body(**unknown))
        equal(answer.status, 201, answer)
        equal(len(answer.headers["x-belfry-ignored"].split(", ")), 20)
    with suite.case("kVirtualMoveMax: a clock moves 3,660 days, not more"):
        for days, status in ((3661, 400), (3660, 200)):
            answer = client.request("POST", "/clock", {"advance": f"P{days}D"})
            equal(answer.status, status, answer)


HERE = {*JOBS, "kLocationBytesMax", "kTokenNameBytesMax", "kAssignmentsMax", "kScopeBytesMax",
        "kTokenIdBytesMax", "kClientRequestIdBytesMax", "kReadingErrorsMax", "kReadingIgnoredMax",
        "kVirtualMoveMax", "kTokensMax"}


def main():
    suite = Suite()
    code = sources()
    check_defaults(suite, code)
    check_settings(suite, code)
    check_nothing_is_missing(suite, code)
    check_tests(suite)
    binary = binary_of(sys.argv)
    with Server(binary, "--virtual-clock", NOW) as server:
        client = Client(server.port)
        provoke_in_jobs(suite, client)
        provoke_in_collections(suite, client)
        provoke_in_answers(suite, client)
    with Server(binary, "--auth", "token") as server:
        provoke_in_tokens(suite, server)
    with Server(binary, "--auth", "token") as server:
        provoke_number_of_tokens(suite, server)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
