#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The systemd unit, judged by systemd itself, without one that runs.

    tests/packaging/unit.py BINARY
"""
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
from suite import Suite, binary_of, equal, holds  # noqa: E402
from unit_file import Unit  # noqa: E402

UNIT = ROOT / "packaging" / "systemd" / "belfry.service"
EXPOSURE_MAX = 1.2  # as docs/operating.md says; 10 is a service without any sandbox
NEEDED = {
    "Type": "notify",
    "Restart": "always",
    "RestartSec": "2s",  # and for ever: the default gives up after five starts within ten seconds
    "StartLimitIntervalSec": "0",
    "WatchdogSec": "60s",
    "DynamicUser": "yes",
    "StateDirectory": "belfry",
    "ProtectSystem": "strict",
    "NoNewPrivileges": "yes",
    "MemoryDenyWriteExecute": "yes",
    "CapabilityBoundingSet": "",
    "RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX",
    "NoExecPaths": "/",
    "ExecPaths": "/usr/bin/belfry /usr/lib -/usr/lib64",
    "LoadCredential": "secret.key:/etc/belfry/secret.key",
}


def exposure_of(path):
    done = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager", path],
                          capture_output=True, text=True)
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", done.stdout)
    holds(found, done.stdout + done.stderr)
    return float(found.group(1))


def complaints_about(text, binary):
    """What systemd says when it reads a unit whose programs are there."""
    with tempfile.TemporaryDirectory(prefix="belfry-unit-") as folder:
        path = pathlib.Path(folder) / "belfry.service"
        path.write_text(text.replace("/usr/bin/belfry serve", f"{binary} serve"))
        done = subprocess.run(["systemd-analyze", "verify", "--man=no", "--recursive-errors=no",
                               path], capture_output=True, text=True)
        return done.returncode, [line for line in done.stderr.splitlines()
                                 if "belfry.service" in line]


def main():
    binary, suite = pathlib.Path(binary_of(sys.argv)).resolve(), Suite()
    text = UNIT.read_text()
    unit = Unit(text)
    with suite.case("the sandbox is as tight as the documents say"):
        exposure = exposure_of(UNIT)
        holds(exposure <= EXPOSURE_MAX, f"{exposure} is more than {EXPOSURE_MAX}")
        page = (ROOT / "docs" / "operating.md").read_text()
        holds(f"exposure level {EXPOSURE_MAX}" in page, "docs/operating.md says another figure")
    for name, value in NEEDED.items():
        with suite.case(f"{name} is {value!r}"):
            equal(unit.one(name), value)
    with suite.case("systemd understands every line"):
        equal(complaints_about(text, binary), (0, []))
    with suite.case("a line that it does not understand would have been found"):
        wrong = text.replace("ProtectClock=yes", "ProtectClocks=yes")
        holds("ProtectClocks" in "".join(complaints_about(wrong, binary)[1]), "it was not")
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
