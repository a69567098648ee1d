#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every command of the binary, run by somebody who may not read or write what it names: it ends
with a sentence that names the path, and with code 1 or 2. The commands are those of the help, so
that a new one must be told here how it is denied.

    permissions.py PATH_OF_BELFRY
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import named
from server import Server
from suite import Suite, binary_of, equal, holds

NOBODY = 65534
SECONDS_MAX = 60
SERVE = "--listen 127.0.0.1:0 --store {mine}"
TOKEN = "--name a --role Owner --scope /"
ASKS = ["{} --ca-file {locked}/file"]  # commands that ask a server read nothing else

# What each command is given; {} is the command, and of the places
#   locked  is a folder of somebody else that may not be looked into, with a store in it;
#   shut    is a store that may be listed; its files may not be read;
#   shown   is a store that may be read, not written; its key may not be read;
#   mine    is one's own.
DENIED = {
    "serve": ["{} --listen 127.0.0.1:0 --store {locked}/store",
              "{} --listen 127.0.0.1:0 --store {locked}",
              "{} --listen 127.0.0.1:0 --store {shut}", "{} --listen 127.0.0.1:0 --store {shown}",
              "{} --listen 127.0.0.1:0 --store {folder}/new",
              "{} --listen 127.0.0.1:0 --store {locked}/store --virtual-clock 2030-01-01",
              "{} --listen 127.0.0.1:0 --store {shut} --virtual-clock 2030-01-01",
              f"{{}} {SERVE} --key-file {{locked}}/key", f"{{}} {SERVE} --key-file {{folder}}/new",
              f"{{}} {SERVE} --auth token --first-token-file {{locked}}/token",
              f"{{}} {SERVE} --auth token --first-token-file {{folder}}/token",
              f"{{}} {SERVE} --config {{locked}}/file", f"{{}} {SERVE} --ca-file {{locked}}/file",
              f"{{}} {SERVE} --tls-certificate {{locked}}/file --tls-key {{locked}}/file",
              f"{{}} {SERVE} --service-bus-keys {{locked}}/file",
              f"{{}} {SERVE} --heartbeat-url-file {{locked}}/file"],
    "config": ["{} --config {locked}/file", "{} --service-bus-keys {locked}/file"],
    "check": ["{} --store {locked}/store", "{} --store {locked}", "{} --store {shut}",
              "{} --store {shown}", "{} --store {mine} --key-file {locked}/key"],
    "backup": ["{} --store {locked}/store {mine}/copy", "{} --store {shut} {mine}/copy",
               "{} --store {mine} {locked}/copy", "{} --store {mine} {folder}/copy"],
    "restore": ["{} --store {locked}/store {backup}", "{} --store {folder}/new {backup}",
                "{} --store {shut} {backup}", "{} --store {mine}/new {locked}/file",
                "{} --store {mine}/new2 --key-file {locked}/key {backup}"],
    "key list": ["{} --store {locked}/store", "{} --store {shut}", "{} --store {shown}",
                 "{} --store {mine} --key-file {locked}/key"],
    "key rotate": ["{} --store {locked}/store", "{} --store {shut}", "{} --store {shown}",
                   "{} --store {mine} --key-file {locked}/key"],
    "key drop": ["{} --store {locked}/store", "{} --store {shut}", "{} --store {shown}",
                 "{} --store {mine} --key-file {locked}/key"],
    "audit verify": ["{} --store {locked}/store", "{} --store {locked}", "{} --store {shut}"],
    "token create": [f"{{}} {TOKEN} --store {{locked}}/store", f"{{}} {TOKEN} --store {{locked}}",
                     f"{{}} {TOKEN} --store {{shut}}", f"{{}} {TOKEN} --store {{shown}}",
                     f"{{}} {TOKEN} --store {{mine}} --key-file {{locked}}/key",
                     f"{{}} {TOKEN} --ca-file {{locked}}/file"],
    "preview": ["{} {locked}/file"],
    "job create": ["{} a {locked}/file", "{} a {readable} --ca-file {locked}/file"],
    "job update": ["{} a {locked}/file", "{} a {readable} --ca-file {locked}/file"],
    "bench": ["{} --quick --store-dir {locked}/store", "{} --quick --store-dir {folder}"],
    "ready": ASKS, "job list": ASKS, "token list": ASKS, "audit list": ASKS,
    "token revoke": ["{} 0123456789abcdef --ca-file {locked}/file"],
    **{f"job {verb}": ["{} a --ca-file {locked}/file"] for verb in (
        "get", "delete", "run", "history", "preflight")},
    **{f"job {verb}": ["{} a --ca-file {locked}/file", "{} a --store {locked}/store",
                       "{} a --store {shut}", "{} a --store {shown}",
                       "{} a --store {mine} --key-file {locked}/key"] for verb in (
        "enable", "disable")},
}
TOUCHES_NOTHING = {"version"}


class Places:
    """The folders, made by root; what is in them is a server's store, a backup and files."""

    def __init__(self, binary, folder):
        self.folder = folder
        with Server(binary) as server:
            self.backup = folder / "backup"
            subprocess.run([binary, "backup", "--store", str(server.store), str(self.backup)],
                           check=True, capture_output=True)
            self._binary = os.open(binary, os.O_RDONLY)
            key = (server.store / "secret.key").read_bytes()
        folder.chmod(0o755)
        self.backup.chmod(0o644)
        self.readable = folder / "job.json"
        self.readable.write_text('{"properties": {}}')
        self.locked = self._made("locked", 0o700)
        (self.locked / "file").write_text("")
        (self.locked / "key").write_bytes(key)
        self._store("locked/store", key)
        self.shut = self._store("shut", key, 0o755)
        self.shown = self._store("shown", key, 0o755, files=0o644)
        self.mine = self._store("mine", key)
        for path in (self.mine, *self.mine.iterdir()):
            os.chown(path, NOBODY, NOBODY)

    def _made(self, name, mode):
        path = self.folder / name
        path.mkdir()
        path.chmod(mode)
        return path

    def _store(self, name, key, mode=0o700, files=0o600):
        store = self._made(name, mode)
        shutil.copy(self.backup, store / "belfry.db")
        (store / "belfry.lock").touch()
        (store / "belfry.db").chmod(files)
        (store / "belfry.lock").chmod(files)
        (store / "secret.key").write_bytes(key)
        (store / "secret.key").chmod(0o600)
        return store

    def named_in(self, said):
        return str(self.folder) in said

    def run(self, *words, cwd=None, **outputs):
        """By nobody; the binary itself may be where nobody can look."""
        own = {k: v for k, v in os.environ.items() if not k.startswith("BELFRY_")}
        outputs = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | outputs
        return subprocess.run(["belfry", *words], executable=f"/proc/self/fd/{self._binary}",
                              pass_fds=[self._binary], cwd=cwd or self.mine, env=own, user=NOBODY,
                              group=NOBODY, extra_groups=[], text=True, stdin=subprocess.DEVNULL,
                              timeout=SECONDS_MAX, **outputs)


def show_denied(suite, places, command, line):
    words = line.replace("{}", command, 1).format(**vars(places)).split()
    with suite.case(f"belfry {' '.join(words)}"):
        done = places.run(*words)
        holds(done.returncode in (1, 2), done)
        told = done.stderr or done.stdout  # `check` says on standard output what is wrong
        equal(len([line for line in told.splitlines() if "--help` says more" not in line]), 1, done)
        holds(places.named_in(told), done)


def show_nowhere(suite, places, commands):
    """In a folder that may not be looked into, where the store is by default."""
    for command in commands:
        with suite.case(f"belfry {command} in a folder of somebody else"):
            words = command.split() + (["FILE"] if command in ("backup", "restore") else [])
            done = places.run(*words, cwd=places.locked)
            holds(done.returncode in (1, 2), done)
            equal(len(done.stderr.splitlines()), 1, done)


def show_full(suite, places):
    """Where what is said can be written down nowhere, the code still tells."""
    with open("/dev/full", "w") as full:
        with suite.case("standard error takes nothing"):
            equal(places.run("check", "--store", str(places.locked), stderr=full).returncode, 1)
        for command in ("version", "config"):  # a little, which waits for the end, and much
            with suite.case(f"standard output takes nothing of `belfry {command}`"):
                done = places.run(command, stdout=full)
                equal((done.returncode, len(done.stderr.splitlines())), (1, 1), done)
                holds("No space left on device" in done.stderr, done)


def main():
    suite = Suite()
    binary = binary_of(sys.argv)
    with tempfile.TemporaryDirectory(prefix="belfry-denied-") as folder:
        places = Places(binary, pathlib.Path(folder))
        texts = named.help_texts(places.run)
        leaves = {words for words, text in texts.items() if not named.subcommands(text)}
        with suite.case("every command of the help is denied something here"):
            equal(leaves - TOUCHES_NOTHING, set(DENIED))
        for command, lines in DENIED.items():
            for line in lines:
                show_denied(suite, places, command, line)
        show_full(suite, places)
        show_nowhere(suite, places, ["serve", "check", "backup", "restore", "key list",
                                     "key rotate", "key drop", "audit verify"])
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
