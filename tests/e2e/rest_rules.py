#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The rules of the REST API over raw HTTP, table by table (rules/).

    rest_rules.py PATH_OF_BELFRY [MODULE...]
"""
import importlib
import sys

from server import Server
from suite import Suite, binary_of

MODULES = ["addresses", "job_collections", "quotas", "jobs", "patches", "spellings",
           "lists", "limits", "local_mode", "destinations", "secrets"]


def main():
    suite = Suite()
    with Server(binary_of(sys.argv)) as server:
        for name in sys.argv[2:] or MODULES:
            importlib.import_module(f"rules.{name}").run(suite, server)
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
