#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes mistakes on purpose, one at a time, and looks whether the tests find them.

    tests/mutation/run.py [PART_OF_NAME...]   make these mistakes, or all; `caught` or `SURVIVED`
    tests/mutation/run.py --check             each still fits the tree; runs as a test
    tests/mutation/run.py --table             the tables of docs/mutations.md

A mistake is a patch in this folder. Lines before its first file say which promise it breaks
(docs/promises.md, or a number of docs/invariants.md), what is wrong, which suite of tests.list is
to be run (words after its name are given to it) and what in it has to fail:

    Promise: An accepted job is kept
    Mistake: a commit does not wait for the disk
    Suite: store_test --gtest_filter=*PowerLoss*
    Caught by: PowerLoss.WhatWasAnsweredIsThere

All is done in a copy of the tree, build/mutants (MUTANTS names another, for two at a time), with a
build folder of its own. A suite has to pass there before anything is broken: one that fails anyway
shows nothing.
"""
import argparse
import dataclasses
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PATCHES = ROOT / "tests/mutation"
COPY = ROOT / os.environ.get("MUTANTS", "build/mutants")
PROMISE = re.compile(r"^\| \*\*(.+?)\.?\*\*", re.M)
INVARIANT = re.compile(r"^Invariant (\d+)$")
FAILED = re.compile(r"^\[  FAILED  \] (\w[\w/]*\.[\w/]+)|^FAILED: (.+)$", re.M)
BEGUN = re.compile(r"^\[ RUN      \] ([\w/.]+)$", re.M)
SUITE_SECONDS_MAX = 1200
FIELDS = ["Promise", "Mistake", "Suite", "Caught by"]


@dataclasses.dataclass(frozen=True)
class Mutation:
    path: pathlib.Path
    promise: str
    mistake: str
    suite: str  # and its arguments
    caught_by: str

    @property
    def name(self):
        return self.path.stem

    @property
    def target(self):
        """What ninja has to build for the suite."""
        program = self.suite.split()[0]
        return program if program.endswith("_test") else "belfry"


def read_mutation(path):
    head = path.read_text().split("\n--- ", 1)[0]
    said = dict(line.split(": ", 1) for line in head.splitlines() if ": " in line)
    if list(said) != FIELDS:
        raise ValueError(f"{path.name}: the first lines must be {', '.join(FIELDS)}")
    return Mutation(path, *(said[field].strip() for field in FIELDS))


def all_mutations():
    return [read_mutation(path) for path in sorted(PATCHES.glob("*.patch"))]


def git_apply(folder, path, *options):
    """Whether it fits. Not as part of a repository, which would look for paths from its root."""
    environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    done = subprocess.run(["git", "apply", *options, str(path)], cwd=folder, env=environment,
                          capture_output=True, text=True)
    return done.returncode == 0


def tracked_files():
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "-z"],
                            check=True, capture_output=True, text=True).stdout
    return [name for name in listed.split("\0") if name and (ROOT / name).is_file()]


def refresh_copy():
    """Writes only what differs, so that ninja builds only that."""
    wanted = set(tracked_files())
    for name in wanted:
        source, copy = ROOT / name, COPY / name
        if copy.is_file() and copy.read_bytes() == source.read_bytes():
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, copy)
    for copy in [path for path in COPY.rglob("*") if path.is_file()]:
        name = str(copy.relative_to(COPY))
        if name not in wanted and not name.startswith("build/") and "node_modules" not in name:
            copy.unlink()
    # What Azure's clients and the package are made of is not broken here.
    for name in ["build/release", *(f"tests/{part}/node_modules" for part in
                                    ("e2e", "issuer", "targets"))]:
        link = COPY / name
        link.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).exists() and not link.is_symlink():
            link.symlink_to((ROOT / name).resolve())


def build(targets):
    """An empty text, or what the compiler says."""
    folder = COPY / "build/debug"
    if not (folder / "build.ninja").exists():
        subprocess.run(["cmake", "--preset", "debug"], cwd=COPY, check=True, capture_output=True)
    done = subprocess.run(["ninja", "-C", str(folder), "-j", str(os.cpu_count()), *targets],
                          capture_output=True, text=True)
    return "" if done.returncode == 0 else done.stdout[-4000:]


def commands():
    lines = (COPY / "build/debug/tests.list").read_text().splitlines()
    return dict(line.split("\t") for line in lines)


def run_suite(suite):
    """Whether it passed, and what it printed."""
    name, *arguments = shlex.split(suite)
    command = shlex.split(commands()[name]) + arguments
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              stdin=subprocess.DEVNULL, timeout=SUITE_SECONDS_MAX)
    except subprocess.TimeoutExpired as late:
        return False, (late.stdout or b"").decode(errors="replace") + "\nFAILED: it hangs\n"
    output = done.stdout.decode(errors="replace")
    if "PASSED  ] 0 tests" in output:
        return False, output + "\nFAILED: no test has this name\n"
    return done.returncode == 0, output


def failures(output):
    """The tests that failed, each once. One that ended the program has begun and not ended."""
    failed = [gtest or case for gtest, case in FAILED.findall(output)]
    begun = BEGUN.findall(output)
    if begun and not re.search(rf"^\[.{{10}}\] {re.escape(begun[-1])}[, ].*ms\)$", output, re.M):
        failed.append(begun[-1])
    return list(dict.fromkeys(failed))


def judge(mutation, output):
    """One line about a suite that did not pass."""
    failed = failures(output)
    if mutation.caught_by in output and (not failed or any(mutation.caught_by in one
                                                           for one in failed)):
        return "caught", f"by {mutation.caught_by}" + (
            f" and {len(failed) - 1} more" if len(failed) > 1 else "")
    return "ELSEWHERE", f"not by {mutation.caught_by} but by " + (
        ", ".join(failed[:8]) or "the end of the program: " + output.strip()[-300:])


def make(mutation):
    """What came of it: `caught`, or what is wrong."""
    if not git_apply(COPY, mutation.path):
        return "DOES NOT FIT", "", ""
    try:
        if said := build([mutation.target]):
            return "DOES NOT BUILD", said, said
        passed, output = run_suite(mutation.suite)
    finally:
        git_apply(COPY, mutation.path, "-R")
    return (*(("SURVIVED", mutation.mistake) if passed else judge(mutation, output)), output)


def sound_suites(mutations):
    """The suites that pass while nothing is broken."""
    if said := build(sorted({mutation.target for mutation in mutations})):
        sys.exit(f"the tree does not build:\n{said}")
    sound = set()
    for suite in dict.fromkeys(mutation.suite for mutation in mutations):
        passed, output = run_suite(suite)
        if passed:
            sound.add(suite)
        else:
            print(f"fails although nothing is broken: {suite}\n{output[-2000:]}", flush=True)
    return sound


def run(mutations, trust, keep_output):
    refresh_copy()
    sound = {one.suite for one in mutations} if trust else sound_suites(mutations)
    caught = 0
    for mutation in sorted(mutations, key=lambda one: (one.target, one.suite, one.name)):
        if mutation.suite not in sound:
            print(f"{'UNSOUND':15} {mutation.name}", flush=True)
            continue
        began = time.monotonic()
        verdict, what, output = make(mutation)
        if keep_output:
            (COPY / "build" / f"{mutation.name}.txt").write_text(output)
        caught += verdict == "caught"
        print(f"{verdict:15} {mutation.name} ({time.monotonic() - began:.0f} s): {what}",
              flush=True)
    print(f"{caught} passed, {len(mutations) - caught} failed")
    return 0 if mutations and caught == len(mutations) else 1


def promises():
    return PROMISE.findall((ROOT / "docs/promises.md").read_text())


def what_is_wrong(mutation, known, sources):
    invariant = INVARIANT.match(mutation.promise)
    if not invariant and mutation.promise not in known:
        yield f"there is no promise '{mutation.promise}'"
    if not git_apply(ROOT, mutation.path, "--check"):
        yield "does not fit the tree any more: make the same mistake in the code as it is now"
    if not is_there(mutation, sources):
        yield f"there is no test '{mutation.caught_by}'"


def is_there(mutation, sources):
    """Of GoogleTest a suite and a test, perhaps with parameters; of a script, words of a case."""
    if not mutation.target.endswith("_test"):
        return mutation.caught_by in sources
    named = re.search(r"(\w+)\.(\w+)", mutation.caught_by)
    return named and re.search(rf"TEST\w*\({named[1]},\s+{named[2]}\)", sources)


def check():
    mutations, known = all_mutations(), promises()
    sources = "\n".join(
        path.read_text() for folder in ("src", "tests") for path in (ROOT / folder).rglob("*")
        if path.suffix in (".cpp", ".h", ".py", ".mjs") and "node_modules" not in path.parts)
    failed = 0
    for mutation in mutations:
        faults = list(what_is_wrong(mutation, known, sources))
        for fault in faults:
            print(f"{mutation.path.name}: {fault}")
        failed += bool(faults)
    unbroken = [promise for promise in known
                if promise not in {mutation.promise for mutation in mutations}]
    for promise in unbroken:
        print(f"nobody breaks the promise '{promise}'")
    failed += len(unbroken)
    if not (ROOT / "docs/mutations.md").read_text().endswith(table()):
        print("docs/mutations.md does not end with the tables that --table prints")
        failed += 1
    print(f"{len(mutations) + 1 - failed} passed, {failed} failed")
    return 1 if failed or not mutations else 0


def table():
    """For docs/mutations.md: a table for each promise, and one for the invariants."""
    mutations, lines = all_mutations(), []
    for title in [*promises(), "Invariants of the engine"]:
        lines += [f"## {title}", "", "| mistake | caught by | name |", "|---|---|---|"]
        for one in mutations:
            invariant = INVARIANT.match(one.promise)
            if one.promise != title and not (invariant and title.startswith("Invariants")):
                continue
            number = f"{invariant[1]}: " if invariant else ""
            lines.append(f"| {number}{one.mistake} | `{one.suite.split()[0]}`, {one.caught_by} "
                         f"| `{one.name}` |")
        lines.append("")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--trust", action="store_true",
                        help="suites are known to pass while nothing is broken")
    parser.add_argument("--keep-output", action="store_true", help="in build/mutants/build")
    arguments = parser.parse_args()
    if arguments.check:
        return check()
    if arguments.table:
        print(table(), end="")
        return 0
    chosen = [mutation for mutation in all_mutations()
              if not arguments.names or any(name in mutation.name for name in arguments.names)]
    return run(chosen, arguments.trust, arguments.keep_output)


if __name__ == "__main__":
    sys.exit(main())
