#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The documents keep their word: what they tell people to paste is pasted here, into a shell beside
a real server; what a --help and the first start propose too. A command that cannot be run here
stands in NOT_RUN with the reason. Links, paths, flags and commands that are named must exist.

    documents.py PATH_OF_BELFRY
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import named
import targets
from fences import commands_of, examples_of, fences, languages, transcript_of
from rest import http_action, job_body
from server import Server
from suite import Suite, binary_of, equal, holds

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHELL_SECONDS_MAX = 120
LANGUAGES = {"sh", "console", "toml", "ini", "text"}  # text: pictures

# How each document's server is started.
SERVED = {"README.md": [], "CONTRIBUTING.md": [], "docs/operating.md": [], "docs/fuzzing.md": [],
          "docs/performance.md": [], "docs/access.md": ["--auth", "token"]}

# The beginning of a command, and why it is not run.
NOT_RUN = {
    "apt-get ": "changes this machine; tests/packaging looks at what the package does",
    "cat /run/belfry/first-token": "the installed service's",
    "export BELFRY_TOKEN=$(cat /run/belfry/first-token)": "the installed service's",
    "journalctl ": "needs systemd",
    "systemctl ": "needs systemd",
    "token=$(az ": "needs an account of Azure",
    'curl -H "Authorization: Bearer $token" …': "goes with the one before",
    "tools/fuzz ": "needs the fuzzers, which `make fuzz` builds",
    "build/release/bench/": "takes hours",
    "belfry bench": "bench.py does",
    "belfry token create --name rescue": "the server must be stopped; the operator's page has it",
    "belfry job disable nightly --store": "the server must be stopped; job_commands.py has it",
    "belfry restore --store /var/lib/belfry --key-file": "wants that store's key; keys.py has it",
    "belfry serve": "runs until it is stopped; every suite starts it",
}

# What must be true before a command that stands behind another in the document.
BEFORE = {
    "belfry key drop": "until belfry key list --store DIR | grep -q ' seals ';"
                       " do kill -HUP $SERVER; done",
}

SHELL = """\
curl() { command curl --fail-with-body --silent --show-error "$@"; }
make() {
  case $1 in
    run) PATH=$BIN:/usr/bin:/bin "$ROOT/tools/command-link" add "$BINARY" "$BIN/belfry" ;;
    *) command make --dry-run --directory "$ROOT" "$@" ;;
  esac
}
set -u
"""


class Place:
    """A folder to work in, a server, and what stands for the placeholders of the documents."""

    def __init__(self, binary, server, installed=None, has_command=True):
        """`installed`: the store that stands for the service's; a new one that is closed. Without
        the command `belfry` the document has to make it."""
        self.binary, self.server = pathlib.Path(binary).resolve(), server
        self.folder = server.home / "shell"
        self.folder.mkdir()
        (self.folder / "bin").mkdir()
        if has_command:
            (self.folder / "bin/belfry").symlink_to(self.binary)
        self.sink = targets.Sink()
        job = job_body(http_action(uri=self.sink.url("/")), recurrence={"frequency": "Day"})
        (self.folder / "job.json").write_text(json.dumps(job))
        installed = installed or self._closed_store()
        self.replacements = {
            "127.0.0.1:7070": f"127.0.0.1:{server.port}",
            "127.0.0.1:8000": f"127.0.0.1:{self.sink.port}",
            "EMPTY_DIR": str(self.folder / "restored"),
            "DIR": str(server.store),
            "FILE": str(self.folder / "backup.db"),
            "/var/lib/belfry": str(installed),
            "/var/lib/private/belfry": str(installed),
            "/etc/belfry/secret.key": str(installed / "secret.key"),
        }

    def _closed_store(self):
        """A server was here, and has stopped."""
        once = Server(str(self.binary))
        once.store = self.folder / "closed"
        once.start()
        once.stop()
        once.remove()
        return self.folder / "closed"

    def environment(self):
        own = {k: v for k, v in os.environ.items() if not k.startswith("BELFRY_")}
        return own | {"PATH": f"{self.folder / 'bin'}:{os.environ['PATH']}", "ROOT": str(ROOT),
                      "BIN": str(self.folder / "bin"), "BINARY": str(self.binary),
                      "SERVER": str(self.server.process_id()),
                      "BELFRY_SERVER": f"http://127.0.0.1:{self.server.port}",
                      "BELFRY_TOKEN": self.server.token or ""}

    def belfry(self, *words):
        return subprocess.run([self.binary, *words], capture_output=True, text=True,
                              cwd=self.folder, env=self.environment(), timeout=SHELL_SECONDS_MAX)

    def filled_in(self, text):
        for placeholder, value in self.replacements.items():
            text = text.replace(placeholder, value)
        return text

    def give_tokens(self):
        """What stands for the example's token, and for the id of one that may be revoked."""
        made = self.belfry("token", "create", "--name", "old", "--role", "Reader", "--scope", "/")
        mark = self.belfry("audit", "verify", "--store", str(self.server.store)).stdout
        self.replacements |= {"belfry_…": self.server.token or "none",
                              "0123456789abcdef": made.stdout.split("_")[1],
                              "1234:9f86d0…": mark.split("Last row: ")[1].strip()}

    def paste(self, commands):
        """Runs the commands in one shell; what each printed, and with which code it ended."""
        script = SHELL
        for number, command in enumerate(commands):
            before = [line for start, line in BEFORE.items() if command.text.startswith(start)]
            script += self.filled_in("\n".join([*before, f"{{ {command.text.rstrip()}\n}} "
                                                f">{number}.out 2>{number}.err"]))
            script += f"\necho $? >{number}.code\n"
        subprocess.run(["bash", "-c", script], cwd=self.folder, env=self.environment(),
                       stdin=subprocess.DEVNULL, timeout=SHELL_SECONDS_MAX)
        return [self._result(number) for number in range(len(commands))]

    def _result(self, number):
        code = self.folder / f"{number}.code"
        return (int(code.read_text()) if code.exists() else None,
                *((self.folder / f"{number}.{end}").read_text() for end in ("out", "err")))


def reason_not_to_run(command, used):
    for start in NOT_RUN:
        if command.text.startswith(start):
            used.add(start)
            return NOT_RUN[start]
    return None


def try_commands(suite, where, place, commands, used):
    """Every command ends with 0, and prints what a transcript says."""
    run = [command for command in commands if not reason_not_to_run(command, used)]
    for command, (code, out, err) in zip(run, place.paste(run), strict=True):
        with suite.case(f"{where}: {command.text}"):
            equal(code, 0, f"{out}\n{err}")
            if command.expected is not None:
                equal(out, command.expected)


def commands_in(text):
    plain = [command for block in fences(text, "sh") for command in commands_of(block)]
    shown = [command for block in fences(text, "console") for command in transcript_of(block)]
    return plain + shown


def show_documents(suite, binary, used):
    for name, flags in SERVED.items():
        text = (ROOT / name).read_text()
        with Server(binary, *flags) as server:
            place = Place(binary, server, has_command=name != "README.md")
            if server.token:
                place.give_tokens()
            try_commands(suite, name, place, commands_in(text), used)


def show_settings(suite, binary):
    """The pieces of configuration in the documents are settings, with values that are allowed."""
    for name in SERVED:
        for block in fences((ROOT / name).read_text(), "toml"):
            with Server(binary) as server, suite.case(f"{name}: {block}"):
                place = Place(binary, server)
                keys = place.folder / "keys.toml"
                keys.write_text(block if "RootManage" in block else "")
                settings = f'service-bus-keys = "{keys}"\n' if "RootManage" in block else block
                file = place.folder / "belfry.toml"
                file.write_text(settings.replace("/etc/belfry/service-bus-keys.toml", str(keys)))
                done = place.belfry("config", "--config", str(file))
                equal((done.returncode, done.stderr), (0, ""))


def show_help(suite, binary, used):
    """The examples of every --help, from `belfry --help` down."""
    with Server(binary) as server:
        place = Place(binary, server, installed=server.store)
        place.give_tokens()
        place.paste([command for command in commands_in((ROOT / "README.md").read_text())
                     if command.text.startswith(("BASE=", "curl -X PUT"))])  # a job to work with
        texts = named.help_texts(place.belfry)
        for words, text in texts.items():
            with suite.case(f"belfry {words} --help ends with an example or names none"):
                holds("Examples:" in text or words in named.WITHOUT_EXAMPLES, text)
        seen = {}
        for words, text in texts.items():
            for example in examples_of(text):
                seen.setdefault(example.text, example)
        try_commands(suite, "an example of --help", place, list(seen.values()), used)
    return texts


def show_greeting(suite, binary, used):
    """What the first start prints can be pasted, and ends in a row of the history."""
    nowhere = targets.Sink()  # no proxy: nothing leaves this machine
    for flags in ([], ["--auth", "token", "--proxy", f"http://127.0.0.1:{nowhere.port}"]):
        with Server(binary, *flags) as server:
            place = Place(binary, server)
            told = re.sub(r"^  ", "", server.read_greeting(), flags=re.M)
            pasted = "\n".join(re.findall(r"^curl.*(?:\n  .*)?", told, re.M))
            curls = list(commands_of(pasted))
            with suite.case("the first start proposes four commands"):
                equal(len(curls), 4, told)
            try_commands(suite, f"the first start {flags}", place, curls, used)


def show_command_link(suite):
    """`make run` makes the command where there is none, and `make clean` takes it away again."""
    with tempfile.TemporaryDirectory(prefix="belfry-link-") as folder:
        link, binary = pathlib.Path(folder) / "belfry", pathlib.Path(folder) / "built"
        binary.touch()

        def run(what, of=binary, path="/usr/bin:/bin"):
            done = subprocess.run([ROOT / "tools/command-link", what, of, link],
                                  capture_output=True, text=True, env={"PATH": path})
            equal((done.returncode, done.stderr), (0, ""))
            return done.stdout

        with suite.case("the link is made once, and that is said"):
            holds(f"made {link}" in run("add"), link)
            equal((link.readlink(), run("add")), (binary, ""))
        with suite.case("another build leaves it alone, and says so; so does its removal"):
            holds("is left alone" in run("add", of=pathlib.Path(folder) / "other"), link)
            equal((run("remove", of=pathlib.Path(folder) / "other"), link.exists()), ("", True))
        with suite.case("it is removed with what it leads to"):
            holds(f"removed {link}" in run("remove"), link)
            equal((link.is_symlink(), run("remove")), (False, ""))
        with suite.case("a file of somebody else's stays"):
            link.write_text("mine")
            run("add"), run("remove")
            equal(link.read_text(), "mine")
    with suite.case("make run and make clean do so"):
        for target, word in (("run", "add"), ("clean", "remove")):
            shown = subprocess.run(["make", "-n", "-C", ROOT, target], capture_output=True,
                                   text=True)
            holds(f"command-link {word} build/release/belfry /usr/local/bin/belfry" in shown.stdout,
                  shown)


def show_names(suite, texts):
    for name in named.documents():
        text = (ROOT / name).read_text()
        with suite.case(f"{name} says of every block what it is"):
            holds(languages(text) <= LANGUAGES, languages(text))
        with suite.case(f"{name} names nothing that is not there"):
            equal(named.missing(name, text, texts), [])


def show_version(suite, binary):
    with suite.case("the newest entry of the changelog is of the version that the program says"):
        said = subprocess.run([binary, "version"], capture_output=True, text=True).stdout
        version = re.match(r"belfry (\d+\.\d+\.\d+) \(commit \w+(?:-dirty)?, \S+ .+\)\n$", said)
        holds(version, said)
        heading = re.search(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.M).group(1)
        holds(re.fullmatch(rf"{version.group(1)} \(\d{{4}}-\d\d-\d\d\)|Unreleased", heading),
              heading)


def main():
    suite = Suite()
    binary = binary_of(sys.argv)
    used = set()
    show_documents(suite, binary, used)
    show_settings(suite, binary)
    texts = show_help(suite, binary, used)
    show_greeting(suite, binary, used)
    show_names(suite, texts)
    show_command_link(suite)
    show_version(suite, binary)
    with suite.case("every reason not to run a command is needed"):
        equal(set(NOT_RUN) - used, set())
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
