#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What somebody is told who gets the command line, a file or the place wrong: which word, what is
allowed, what to do. Exit code 2 is the command's fault, 1 that of the circumstances.

    command_line.py PATH_OF_BELFRY
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from server import Server
from suite import Suite, binary_of, equal, holds

SECONDS_MAX = 60
HELP = "`belfry{} --help` says more, with examples.\n"

# The words, and what stands on standard error before the line about --help.
WRONG_WORDS = {
    "serv": "`belfry` has no command 'serv'; did you mean 'serve'?",
    "job lst": "`belfry job` has no command 'lst'; did you mean 'list'?",
    "start": "`belfry` has no command 'start'.",
    "serve --lisen x": "`belfry serve` has no flag '--lisen'; did you mean '--listen'?",
    "serve --stoer=x": "`belfry serve` has no flag '--stoer'; did you mean '--store'?",
    "serve now": "`belfry serve` does not know what to do with 'now'.",
    "serve --listen": "--listen needs a value.",
    "key": "`belfry key` needs one of list, rotate, drop.",
    "backup": "`belfry backup` needs FILE (Where to; it must not exist yet).",
    "preview --count 0": "--count: must be an integer from 1 to 10000; it is '0'.",
    "preview --count many": "--count: must be an integer from 1 to 10000; it is 'many'.",
    "job list -o xml": "--output: must be one of table, json; it is 'xml'.",
}

# Files with settings, and the complaint about each; FILE is its path.
WRONG_FILES = {
    'lisen = "127.0.0.1:0"': "FILE: there is no setting 'lisen', but 'listen'; "
                             "`belfry config` lists them.",
    "colour = 1": "FILE: there is no setting 'colour'; `belfry config` lists them.",
    "listen = ": "FILE: line 1 is not TOML: ",
    "workers = 99": "setting 'workers' (from FILE) must be an integer from 1 to 15; it is '99'.",
    "workers = 1.5": "FILE: 'workers' must be a string, an integer or a boolean.",
    'log-level = "loud"': "setting 'log-level' (from FILE) must be one of debug, info, warning, "
                          "error; it is 'loud'.",
    'tls-certificate = "none.pem"': "setting 'tls-key' (from default) must be a file",
}


class Terminal:
    def __init__(self, binary, folder):
        self.binary, self.folder = pathlib.Path(binary).resolve(), folder

    def belfry(self, *words, **variables):
        own = {k: v for k, v in os.environ.items() if not k.startswith("BELFRY_")}
        return subprocess.run([self.binary, *words], capture_output=True, text=True,
                              cwd=self.folder, stdin=subprocess.DEVNULL, env=own | variables,
                              timeout=SECONDS_MAX)

    def expect(self, code, complaint, *words, **variables):
        done = self.belfry(*words, **variables)
        equal((done.returncode, done.stderr), (code, f"belfry: {complaint}\n"), words)

    def expect_refused(self, code, part, *words, **variables):
        done = self.belfry(*words, **variables)
        equal(done.returncode, code, done)
        holds(part in done.stderr, done.stderr)


def show_words(suite, terminal):
    for words, complaint in WRONG_WORDS.items():
        with suite.case(f"belfry {words}"):
            done = terminal.belfry(*words.split())
            equal(done.returncode, 2)
            said, about_help = done.stderr.splitlines(keepends=True)
            equal(said, f"belfry: {complaint}\n")
            commands = [word for word in words.split()[:1] if f"'{word}'" not in complaint]
            holds(about_help.startswith("`belfry" + "".join(f" {word}" for word in commands)), done)
    with suite.case("belfry alone says what there is"):
        done = terminal.belfry()
        equal(done.returncode, 2)
        holds("needs one of serve, config, ready, job" in done.stderr, done.stderr)
        holds(done.stderr.endswith(HELP.format("")), done.stderr)


def show_settings(suite, terminal):
    file = terminal.folder / "belfry.toml"
    for text, complaint in WRONG_FILES.items():
        with suite.case(f"settings {text}"):
            file.write_text(text + "\n")
            terminal.expect_refused(2, "belfry: " + complaint.replace("FILE", str(file)), "config",
                                    "--config", str(file))
    with suite.case("a file that is not there, and one that is a directory"):
        terminal.expect(2, "cannot read 'none.toml': No such file or directory.", "config",
                        "--config", "none.toml")
        terminal.expect(2, f"cannot read '{terminal.folder}': Is a directory.", "config",
                        "--config", str(terminal.folder))
    with suite.case("true and false are yes and no"):
        file.write_text("behind-proxy = true\n")
        done = terminal.belfry("config", "--config", str(file))
        holds('behind-proxy               = "yes"' in done.stdout, done)


def show_circumstances(suite, terminal, server):
    serve = ("serve", "--listen", "127.0.0.1:0")
    with suite.case("a port that is taken"):
        terminal.expect(1, f"cannot listen on 127.0.0.1 port {server.port}: Address already in "
                        "use. --listen HOST:PORT (BELFRY_LISTEN) chooses another address.",
                        "serve", "--listen", f"127.0.0.1:{server.port}")
    with suite.case("a store that another server has"):
        terminal.expect(1, f"{server.store} is in use by another belfry (process "
                        f"{server.process_id()}): stop it, or choose another directory",
                        *serve, "--store", str(server.store))
    with suite.case("a store of another kind of clock"):
        terminal.expect_refused(1, f"the store in {server.store} is of the machine's clock", *serve,
                                "--virtual-clock", "2030-01-01T00:00Z", "--store",
                                str(server.store))
        (terminal.folder / "trial").mkdir()
        (terminal.folder / "trial" / "virtual-clock").write_text("")
        terminal.expect_refused(1, "the store in trial was used with --virtual-clock", *serve,
                                "--store", "trial")
    with suite.case("a store that cannot be a directory"):
        (terminal.folder / "file").write_text("")
        terminal.expect(1, "cannot make the directory file: Not a directory", *serve, "--store",
                        "file")
        terminal.expect(1, "cannot make the directory none/store: No such file or directory",
                        *serve, "--store", "none/store")
    with suite.case("a key file that others may read, and one that is none"):
        key = terminal.folder / "key"
        key.write_text("no key\n")
        key.chmod(0o644)
        terminal.expect(1, "the key file key may be read by others than its owner: chmod 600 key",
                        *serve, "--key-file", "key")
        key.chmod(0o600)
        terminal.expect_refused(1, "the key file key does not hold 64 hexadecimal digits", *serve,
                                "--key-file", "key")
    with suite.case("a certificate that is not there"):
        terminal.expect(1, "'none.pem' cannot be read: No such file or directory.", *serve,
                        "--tls-certificate", "none.pem", "--tls-key", "none.pem")
        terminal.expect(1, "'none.pem' cannot be read: No such file or directory.", *serve,
                        "--ca-file", "none.pem")


def show_stores(suite, terminal):
    nowhere = terminal.folder / "nowhere"
    nothing = (f"there is no database {nowhere}/belfry.db: is {nowhere} the directory of a "
               "server's store? --store (BELFRY_STORE) names another")
    for words in (("check",), ("backup", "new-file"), ("audit", "verify"),
                  ("token", "create", "--name", "a", "--role", "Owner", "--scope", "/")):
        with suite.case(f"belfry {words} where there is no store makes none"):
            terminal.expect(1, nothing, *words, "--store", "nowhere")
            holds(not (terminal.folder / "nowhere").exists(), "a directory was made")


def show_remote(suite, terminal, server):
    here, nowhere = f"http://127.0.0.1:{server.port}", "http://127.0.0.1:1"
    with suite.case("the authorities besides the system's are named by a variable too"):
        done = terminal.belfry("ready", "--server", here, BELFRY_CA_FILE="none.pem")
        equal((done.returncode, done.stderr),
              (1, "belfry: 'none.pem' cannot be read: No such file or directory.\n"))
    with suite.case("`config` names a variable with a typing error"):
        done = terminal.belfry("config", BELFRY_LISEN="127.0.0.1:1")
        equal((done.returncode, done.stderr), (0, "belfry: there is no setting for the variable "
                                                  "BELFRY_LISEN; did you mean BELFRY_LISTEN?\n"))
    with suite.case("a flag wins over a variable, in every command that shares it"):
        equal(terminal.belfry("ready", "--server", here, BELFRY_SERVER=nowhere).returncode, 0)
        terminal.expect_refused(1, f"cannot ask {nowhere}", "job", "list", "--server", nowhere,
                                BELFRY_SERVER=here)
        done = terminal.belfry("check", "--store", str(server.store), BELFRY_STORE="nowhere")
        equal((done.returncode, done.stdout), (0, f"{server.store} is sound.\n"))
        done = terminal.belfry("check", BELFRY_STORE=str(server.store))
        equal((done.returncode, done.stdout), (0, f"{server.store} is sound.\n"))
    with suite.case("a server that does not answer"):
        terminal.expect(1, f"cannot ask {nowhere}: 127.0.0.1: Connection refused. Is it running? "
                        "--server or BELFRY_SERVER says where it is.", "job", "list", "--server",
                        nowhere)
    with suite.case("every fault of a job is told"):
        job = {"properties": {"state": "lazy", "recurrence": {}}}
        (terminal.folder / "job.json").write_text(json.dumps(job))
        done = terminal.belfry("job", "create", "a", "job.json", "--server", here)
        equal(done.returncode, 1)
        for fault in ("action: is missing", "properties.recurrence.frequency: is missing",
                      "properties.state: "):
            holds(fault in done.stderr, done.stderr)
    with suite.case("localhost is an address to listen on"):
        with Server(terminal.binary, host="localhost") as second:
            holds(second.port, "it has a port")


def main():
    suite = Suite()
    binary = binary_of(sys.argv)
    with tempfile.TemporaryDirectory(prefix="belfry-words-") as folder, Server(binary) as server:
        terminal = Terminal(binary, pathlib.Path(folder))
        show_words(suite, terminal)
        show_settings(suite, terminal)
        show_circumstances(suite, terminal, server)
        show_stores(suite, terminal)
        show_remote(suite, terminal, server)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
