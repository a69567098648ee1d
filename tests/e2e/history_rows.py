#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Writes history into the store of a server that is stopped, so that lists of it can be looked
at without waiting for hundreds of runs.

    history_rows.py STORE_DIRECTORY JOB_NAME COUNT

Row n ran n-th: one second after the row before, the last of them a minute ago.
"""
import collections
import pathlib
import sqlite3
import sys
import time

TICKS_PER_SECOND = 10_000_000
STATUSES = {"completed": 0, "failed": 1, "postponed": 2}
Row = collections.namedtuple("Row", "number status role retry")


def row(number):
    """Every fifth fails, every fiftieth was postponed; error actions answer for every tenth."""
    status = "postponed" if number % 50 == 0 else "failed" if number % 5 == 0 else "completed"
    role = 1 if number % 10 == 6 else 0
    return Row(number, status, role, retry=0)


def add_rows(store, job_name, count):
    """Returns the rows, newest first, as the history must list them."""
    rows = [row(number) for number in range(1, count + 1)]
    with sqlite3.connect(pathlib.Path(store) / "belfry.db") as db:
        (job,) = db.execute("SELECT id FROM job WHERE name = ?", (job_name,)).fetchone()
        first = (int(time.time()) - 60 - count) * TICKS_PER_SECOND
        for one in rows:
            planned = first + one.number * TICKS_PER_SECOND
            db.execute(
                "INSERT INTO history(job, seq, role, retry, status, scheduled_for, repeat, "
                "started, ended, gap_last, gap_count, message) "
                "VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (job, one.number, one.role, one.retry, STATUSES[one.status], planned, one.number,
                 planned + 1_230_000, planned + 2_500_000,
                 planned if one.status == "postponed" else None,
                 1 if one.status == "postponed" else None, f"row {one.number}"))
    db.close()
    return rows[::-1]


if __name__ == "__main__":
    add_rows(sys.argv[1], sys.argv[2], int(sys.argv[3]))
