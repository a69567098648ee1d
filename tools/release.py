# SPDX-License-Identifier: MIT
"""What a release is called and when it was made: the version stands in CMakeLists.txt and
nowhere else, everything else is the commit's.
"""
import datetime
import functools
import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent


def git(*arguments):
    return subprocess.run(["git", "-C", ROOT, *arguments], check=True, capture_output=True,
                          text=True).stdout.strip()


def version_of():
    text = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"project\(belfry VERSION (\d+\.\d+\.\d+)", text).group(1)


@functools.cache
def commit_of():
    return git("rev-parse", "--short=10", "HEAD")


@functools.cache
def commit_epoch():
    """Seconds since 1970; SOURCE_DATE_EPOCH says otherwise where there is no git."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or git("log", "-1", "--format=%ct"))


def iso_time(epoch):
    return datetime.datetime.fromtimestamp(epoch, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def package_version():
    """0.1.0 at the tag v0.1.0; before it versions that are older than it and grow with time."""
    version = version_of()
    if f"v{version}" in git("tag", "--points-at", "HEAD").split():
        return version
    date = datetime.datetime.fromtimestamp(commit_epoch(), datetime.UTC).strftime("%Y%m%d%H%M")
    return f"{version}~git{date}.{commit_of()}"
