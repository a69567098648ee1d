# SPDX-License-Identifier: MIT
"""What stands between ``` in a document, and the shell commands in it."""
import re
import subprocess

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.M | re.S)
PROMPT = "$ "


class Command:
    """A command as it is pasted; in a transcript also what it must print."""

    def __init__(self, text, expected=None):
        self.text = text
        self.expected = expected


def fences(text, language):
    return [body for tag, body in FENCE.findall(text) if tag == language]


def languages(text):
    return {tag for tag, _ in FENCE.findall(text)}


def is_whole(text):
    """Whether the shell would run this, or wait for another line."""
    if text.rstrip().endswith("\\"):
        return False
    return subprocess.run(["bash", "-n", "-c", text], capture_output=True).returncode == 0


def commands_of(block):
    """Each command of a block, which may span lines."""
    pending = ""
    for line in block.splitlines(keepends=True):
        if not pending and not line.split("#")[0].strip():
            continue
        pending += line
        if is_whole(pending):
            yield Command(pending)
            pending = ""
    if pending:
        raise AssertionError(f"no shell would run this:\n{pending}")


def transcript_of(block):
    """Commands after a prompt, and what they print up to the next one."""
    command, printed = "", None
    for line in block.splitlines(keepends=True):
        if line.startswith(PROMPT):
            if printed is not None:
                yield Command(command, printed)
            command, printed = line[len(PROMPT):], None
        elif printed is None:
            command += line
        else:
            printed += line
        if printed is None and is_whole(command):
            printed = ""
    yield Command(command, printed)


def examples_of(help_text):
    """The commands below "Examples:" of a --help."""
    found = re.search(r"^Examples:\n((?:  .*\n?)+)", help_text, re.M)
    return list(commands_of(re.sub(r"^  ", "", found.group(1), flags=re.M))) if found else []
