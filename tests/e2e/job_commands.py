#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`belfry job …` against a running server: what it prints, and with which code it ends.

    job_commands.py PATH_OF_BELFRY
"""
import json
import re
import subprocess
import sys

from rest import Client, Group, collection_body, http_action
from ringing import NOW, Bench
from server import Server
from suite import Suite, binary_of, equal, holds


class Terminal:
    def __init__(self, binary, server, group):
        _, _, subscription, _, resource_group, _, _, _, collection = group.collection().split("/")
        self.where = ["--subscription", subscription, "--group", resource_group,
                      "--collection", collection]
        self.server = f"http://127.0.0.1:{server.port}"
        self.binary = binary

    def job(self, *words, text=None, server=None):
        return subprocess.run([self.binary, "job", *words, *self.where, "--server",
                               server or self.server], input=text, capture_output=True, text=True)


def life(suite, bench, terminal):
    body = json.dumps({"properties": {
        "action": bench.call("/cli"), "recurrence": {"frequency": "Hour", "interval": 1}}})
    with suite.case("create makes a job from standard input, and shows it"):
        done = terminal.job("create", "hourly", text=body)
        equal(done.returncode, 0, done)
        holds("hourly" in done.stdout and "enabled" in done.stdout.lower(), done.stdout)
    with suite.case("and says in words when it rings next"):
        said = "hourly rings next on Tuesday 1 January 2030 at 00:00:00 UTC."
        equal(done.stdout.splitlines()[-1], said)
    bench.move(advance="PT2H")
    with suite.case("list has a line for each job"):
        lines = terminal.job("list").stdout.splitlines()
        equal(lines[0].split(), ["NAME", "STATE", "NEXT", "LAST", "RUNS", "FAILURES"])
        equal(lines[1].split()[0::4], ["hourly", "3"], lines)
    with suite.case("history has a line for each attempt, and --count bounds it"):
        done = terminal.job("history", "hourly", "--count", "2")
        lines = done.stdout.splitlines()
        equal(len(lines), 3)
        holds("there are more" in done.stderr, done)
        holds(all("completed" in line for line in lines[1:]), lines)
        equal(terminal.job("history", "hourly", "--count", "3").stderr, "")
    with suite.case("what a list has beyond a page of the server's is asked for as well"):
        for i in range(101):
            bench.put(f"many{i}", bench.call("/never"), startTime="2040-01-01T00:00:00Z")
        done = terminal.job("list", "--count", "200", "-o", "json")
        equal(len(json.loads(done.stdout)["value"]), 102)
        equal(done.stderr, "")
        for i in range(101):
            bench.client.delete(bench.group.job(f"many{i}"))
    with suite.case("what the server does not know of a file is told of"):
        done = terminal.job("create", "typo", text=json.dumps({"properties": {
            "action": bench.call("/never"), "startTime": "2040-01-01T00:00:00Z",
            "recurence": {"frequency": "Day"}}}))
        equal(done.returncode, 0, done)
        holds("does not know properties.recurence" in done.stderr, done)
        terminal.job("delete", "typo")
    with suite.case("a file may have comments and trailing commas"):
        done = terminal.job("create", "commented", text="// mine\n" + json.dumps({"properties": {
            "action": bench.call("/never"), "startTime": "2040-01-01T00:00:00Z"}})[:-1] + ",}")
        equal(done.returncode, 0, done)
        terminal.job("delete", "commented")
    with suite.case("-o json is what the server said"):
        job = json.loads(terminal.job("get", "hourly", "-o", "json").stdout)
        equal(job["properties"]["action"]["request"]["uri"], bench.sink.url("/cli"))
    with suite.case("disable, enable, run and delete do what they say"):
        terminal.job("disable", "hourly")
        equal(bench.job("hourly")["state"].lower(), "disabled")
        terminal.job("enable", "hourly")
        before = len(bench.sink.at("/cli"))
        equal(terminal.job("run", "hourly").returncode, 0)
        bench.move(advance="PT1S")
        equal(len(bench.sink.at("/cli")), before + 1)
        equal(terminal.job("delete", "hourly").returncode, 0)
        equal(bench.client.get(bench.group.job("hourly")).status, 404)
    with suite.case("update changes what the file names"):
        terminal.job("create", "changing", text=body)
        done = terminal.job("update", "changing", text='{"properties":{"state":"Disabled"}}')
        equal(done.returncode, 0, done)
        equal(bench.job("changing")["state"].lower(), "disabled")
    with suite.case("a job that will not ring: the reason is said"):
        holds("changing does not ring: it is disabled." in done.stdout, done)
        done = terminal.job("enable", "changing")
        holds("changing rings next on Tuesday 1 January 2030 at 0" in done.stdout, done)
        bench.client.post(bench.group.collection() + "/disable")
        done = terminal.job("update", "changing", text='{"properties":{"state":"Enabled"}}')
        holds("changing does not ring: its job collection 'jc' is disabled." in done.stdout, done)
        bench.client.post(bench.group.collection() + "/enable")
        done = terminal.job("update", "changing", "-o", "json", text="{}")
        equal(json.loads(done.stdout)["name"], "jc/changing")
    with suite.case("the example of --help begins at a whole minute"):
        help_text = subprocess.run([terminal.binary, "job", "--help"], capture_output=True,
                                   text=True).stdout
        example = re.search(r"for example:\n(.*?\}\}\})\n", help_text, re.S).group(1)
        bench.move(advance="PT7S")
        done = terminal.job("create", "example", text=example)
        holds("example rings next on Tuesday 1 January 2030 at 03:00:00 UTC." in done.stdout, done)
        terminal.job("delete", "example")


def preflight(suite, bench, terminal):
    bench.put("good", bench.call("/never"), startTime="2040-01-01T00:00:00Z")
    bench.put("bad", http_action(uri="http://10.0.0.1/"), startTime="2040-01-01T00:00:00Z")
    with suite.case("a preflight that passes ends with 0"):
        done = terminal.job("preflight", "good")
        equal(done.returncode, 0, done)
        holds("  ok     connect: 127.0.0.1" in done.stdout, done.stdout)
        holds("  User-Agent: " in done.stdout, done.stdout)
    with suite.case("a preflight that fails ends with 1 and says why"):
        done = terminal.job("preflight", "bad")
        equal(done.returncode, 1)
        holds("  FAILED address: 10.0.0.1 is " in done.stdout, done.stdout)
        holds("the setting allow-targets does not name it" in done.stdout, done.stdout)


def wrong(suite, terminal):
    cases = [
        ("a job that is not there", ["get", "nobody"], {}, 1, "nobody"),
        ("a body that is no job", ["create", "x"], {"text": "{}"}, 1, "Malformed Job Object"),
        ("a file that is not there", ["create", "x", "/nowhere/job.json"], {}, 2, "cannot read"),
        ("a server that is not there", ["list"], {"server": "http://127.0.0.1:1"}, 1, "cannot ask"),
        ("a server that is no address", ["list"], {"server": "nowhere"}, 2, "must be an address"),
        ("a file that is no JSON", ["create", "x"], {"text": "{"}, 2, "malformed at line 1"),
        ("what is to be removed and is not there", ["delete", "nobody"], {}, 1, "nobody"),
        ("a verb that is none", ["ring"], {}, 2, ""),
    ]
    for sentence, words, more, code, said in cases:
        with suite.case(f"{sentence} is said on standard error"):
            done = terminal.job(*words, **more)
            equal(done.returncode, code, done)
            holds(said in done.stderr, done)


def stopped(suite, binary):
    """A job is disabled and enabled in a store whose server cannot be asked."""
    with Server(binary) as server:
        client, group = Client(server.port), Group()
        client.put(group.collection(), collection_body())
        client.put(group.job("bad"), {"properties": {
            "startTime": "2040-01-01T00:00:00Z", "action": http_action()}})
        store = ["--store", str(server.store)]
        terminal = Terminal(binary, server, group)
        with suite.case("a store whose server runs is not written"):
            done = terminal.job("disable", "bad", *store)
            equal(done.returncode, 1, done)
            equal(client.get(group.job("bad")).properties["state"], "enabled")
        server.stop()
        with suite.case("disable --store disables a job while the server is stopped"):
            done = terminal.job("disable", "bad", *store)
            equal(done.returncode, 0, done)
            equal(done.stdout, f"bad is disabled in {server.store}.\n")
        with suite.case("it says so when there is nothing to do, or no such job or store"):
            equal(terminal.job("disable", "bad", *store).stdout, "bad was disabled already.\n")
            for words, said in [(["nobody", *store], "nobody"),
                                (["bad", "--store", "/nowhere"], "/nowhere")]:
                done = terminal.job("disable", *words)
                equal(done.returncode, 1, done)
                holds(said in done.stderr, done)
        server.start()
        client = Client(server.port)
        with suite.case("the server finds it so, and the audit log tells of it"):
            equal(client.get(group.job("bad")).properties["state"], "disabled")
            row = client.get("/belfry/audit", query=None).json["value"][0]
            equal(row["principal"]["name"], "belfry job disable --store")
            equal(row["resource"], group.job("bad"))
        server.stop()
        with suite.case("enable --store lets it go on"):
            equal(terminal.job("enable", "bad", *store).returncode, 0)
            equal(subprocess.run([binary, "audit", "verify", *store],
                                 capture_output=True).returncode, 0)
        server.start()
        equal(Client(server.port).get(group.job("bad")).properties["state"], "enabled")


def main():
    suite = Suite()
    binary = binary_of(sys.argv)
    with Server(binary, "--virtual-clock", NOW) as server:
        with suite.case("the greeting tells where a virtual clock stands, and how it is moved"):
            greeting = server.read_greeting()
            holds("The clock stands at 20" in greeting and "/clock' -d" in greeting, greeting)
        bench = Bench(server)
        terminal = Terminal(binary, server, bench.group)
        life(suite, bench, terminal)
        preflight(suite, bench, terminal)
        wrong(suite, terminal)
    stopped(suite, binary)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
