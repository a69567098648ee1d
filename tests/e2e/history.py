#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The history of a job over raw HTTP: names, order, filters, pages.

    history.py PATH_OF_BELFRY
"""
import datetime
import re
import sys
import urllib.parse

from history_rows import add_rows
from rest import Client, Group, collection_body, job_body
from server import Server
from suite import Suite, binary_of, equal

ROWS = 1203
ROWS_PER_PAGE = 500
TICKS_MAX = 3155378975999999999
NAME = re.compile(r"^(\d{20}):(\d{20})$")


def ticks_of(text):
    """100 ns since the year 1, exactly."""
    seconds, _, fraction = text.rstrip("Z").partition(".")
    since = datetime.datetime.fromisoformat(seconds) - datetime.datetime(1, 1, 1)
    return (since.days * 86400 + since.seconds) * 10_000_000 + int(fraction.ljust(7, "0") or 0)


def numbers(page):
    return [row["properties"]["repeatCount"] for row in page["value"]]


class History:
    def __init__(self, suite, client, group, rows):
        self.suite = suite
        self.client = client
        self.path = group.job() + "/history"
        self.rows = rows

    def get(self, query=""):
        answer = self.client.get(self.path, query="api-version=2016-03-01" + query)
        equal(answer.status, 200, answer)
        return answer.json

    def follow(self, page):
        """All rows of a list, page by page."""
        found, pages = numbers(page), 1
        while page["nextLink"]:
            link = urllib.parse.urlsplit(page["nextLink"])
            page = self.client.get(link.path, query=link.query).json
            found += numbers(page)
            pages += 1
        return found, pages

    def expected(self, status=None):
        return [r.number for r in self.rows if status in (None, r.status)]

    def one_row(self):
        with self.suite.case("a row says who, when, what, and in which order"):
            for found, row in zip(self.get("&$top=60")["value"], self.rows):
                match = NAME.match(found["name"].split("/")[2])
                equal(found["name"], f"jc/job/{match.group(0)}")
                equal(found["id"], f"{self.path}/{match.group(0)}")
                equal(found["type"], "Microsoft.Scheduler/jobCollections/jobs/history")
                properties = found["properties"]
                equal(int(match.group(1)), TICKS_MAX - ticks_of(properties["startTime"]))
                expected = {
                    "message": f"row {row.number}", "retryCount": 0, "repeatCount": row.number,
                    "actionName": "ErrorAction" if row.role else "MainAction"}
                if row.status != "completed":
                    expected["status"] = row.status
                times = [ticks_of(properties.pop(name))
                         for name in ("expectedExecutionTime", "startTime", "endTime")]
                equal(times, [times[0], times[0] + 1_230_000, times[0] + 2_500_000])
                equal(properties, expected)
        with self.suite.case("names differ, sort newest first, and stay the same"):
            names = [row["name"] for row in self.get()["value"]]
            equal(names, sorted(names))
            equal(len(set(names)), len(names))
            equal(names, [row["name"] for row in self.get()["value"]])

    def pages(self):
        with self.suite.case("without $top a page has 500 rows, and nextLink leads on"):
            page = self.get()
            equal(len(page["value"]), ROWS_PER_PAGE)
            equal(self.follow(page), (self.expected(), 3))
        for status in ("completed", "failed", "postponed"):
            with self.suite.case(f"status eq {status}: those and no others, over all pages"):
                page = self.get(f"&$filter=status%20eq%20'{status.title()}'")
                found, _ = self.follow(page)
                equal(found, self.expected(status))
        with self.suite.case("rows of a success have no status, those of a failure have"):
            for status, shown in (("Completed", {None}), ("Failed", {"failed"}),
                                  ("Postponed", {"postponed"})):
                page = self.get(f"&$filter=status%20eq%20{status}")
                equal({row["properties"].get("status") for row in page["value"]}, shown)

    def slices(self):
        everything, failed = self.expected(), self.expected("failed")
        cases = [("&$top=5", everything[:5]), ("&$top=5&$skip=5", everything[5:10]),
                 ("&$top=100", everything[:100]), ("&$skip=1200", everything[1200:]),
                 ("&$skip=5000", []), ("&$top=3&$skip=4&$filter=status+eq+failed", failed[4:7]),
                 ("&$top=2&$filter=state%20eq%20failed", failed[:2]),
                 ("&%24top=1&%24skip=1202", everything[-1:])]
        for query, found in cases:
            with self.suite.case(f"history?{query}"):
                page = self.get(query)
                equal((numbers(page), page["nextLink"]), (found, None))

    def life(self):
        with self.suite.case("the history stays when the job is replaced"):
            equal(self.client.put(self.path.removesuffix("/history"), job_body()).status, 200)
            equal(len(self.get("&$top=100")["value"]), 100)
        with self.suite.case("it goes with the job, and does not come back with its name"):
            job = self.path.removesuffix("/history")
            equal(self.client.delete(job).status, 200)
            equal(self.client.get(self.path).error["code"], "NotFound")
            equal(self.client.put(job, job_body()).status, 201)
            equal(self.get(), {"value": [], "nextLink": None})


def main():
    suite = Suite()
    group = Group()
    with Server(binary_of(sys.argv)) as server:
        client = Client(server.port)
        client.put(group.collection(), collection_body())
        client.put(group.job(), job_body())
        server.stop()
        rows = add_rows(server.store, "job", ROWS)
        server.start()
        history = History(suite, Client(server.port), group, rows)
        history.one_row()
        history.pages()
        history.slices()
        history.life()
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
