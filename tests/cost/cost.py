#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails when the pure core has become dearer: counts instructions with callgrind.

    tests/cost/cost.py COST_PROGRAM             compare with tests/cost/table.txt
    tests/cost/cost.py COST_PROGRAM --rewrite   write the table

Instructions, not time: the figure is the same on a busy machine. The table is for Debian 12's
g++; rewrite it in the commit that means to change a cost, so that the reviewer sees by how much.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

TABLE = pathlib.Path(__file__).resolve().parent / "table.txt"
GROWTH_MAX = 0.10
HEADER = """\
# Instructions per operation, as tests/cost/cost.py counts them. `make cost-table` writes this.
"""

OPERATION = re.compile(r"^desc: Trigger: Client Request: (.+)/(\d+)$", re.M)
TOTALS = re.compile(r"^(?:totals|summary): (\d+)", re.M)


def measured(program):
    """Instructions per operation, in the order in which the program does them."""
    with tempfile.TemporaryDirectory(prefix="belfry-cost-") as home:
        # No environment: its length moves the stack, and with it how memory is copied.
        done = subprocess.run(
            ["setarch", "-R", "valgrind", "--tool=callgrind", "--callgrind-out-file=" + home +
             "/out", pathlib.Path(program).resolve()], env={"PATH": "/usr/bin:/bin",
                                                            "LD_BIND_NOW": "1"},
            cwd=home, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"the program under callgrind ended with {done.returncode}:\n{done.stderr}")
        dumps = sorted(pathlib.Path(home).glob("out.*"), key=lambda path: int(path.suffix[1:]))
        costs = {}
        for text in (dump.read_text() for dump in dumps):
            if operation := OPERATION.search(text):
                costs[operation[1]] = round(int(TOTALS.search(text)[1]) / int(operation[2]))
    return costs


def expected():
    lines = (line.rsplit(None, 1) for line in TABLE.read_text().splitlines()
             if not line.startswith("#"))
    return {name.rstrip(): int(cost) for name, cost in lines}


def rewrite(costs):
    width = max(map(len, costs)) + 2
    TABLE.write_text(HEADER + "".join(f"{name:{width}}{cost:>10}\n"
                                      for name, cost in costs.items()))
    print(TABLE.read_text(), end="")


def fault(name, before, now):
    """What is wrong with an operation; None when nothing is."""
    if now is None:
        return "is in the table and was not measured"
    if before is None:
        return f"costs {now} instructions and is not in the table"
    if now > before * (1 + GROWTH_MAX):
        return (f"costs {now} instructions, {100 * (now / before - 1):.1f} % more than the "
                f"{before} of the table; at most {100 * GROWTH_MAX:.0f} % are allowed")
    return None


def compare(costs):
    table = expected()
    failed = 0
    for name in table | costs:
        before, now = table.get(name), costs.get(name)
        found = fault(name, before, now)
        failed += found is not None
        print(f"{'FAILED' if found else 'ok':6} {name:35} {before or '-':>10} {now or '-':>10}")
        if found:
            print(f"       {name}: {found}")
    if failed:
        print("Where the cost is meant, `make cost-table` writes the table anew.")
    print(f"{len(table | costs) - failed} passed, {failed} failed")
    return 1 if failed else 0


def main():
    costs = measured(sys.argv[1])
    if not costs:
        sys.exit("nothing was measured")
    if sys.argv[2:] == ["--rewrite"]:
        return rewrite(costs)
    return compare(costs)


if __name__ == "__main__":
    sys.exit(main())
