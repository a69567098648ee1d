#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How the binary that users get is hardened, read from the file itself (cmake/hardening.cmake).

    tests/packaging/hardening.py BINARY
"""
import pathlib
import platform
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests" / "e2e"))
from suite import Suite, binary_of, equal, holds  # noqa: E402

NAMESPACE = "6belfry"  # as in the names of functions
ENDBR64 = bytes.fromhex("f30f1efa")  # where an indirect call may go


class Elf:
    def __init__(self, path):
        self.bytes = path.read_bytes()
        self.path = path
        self.segments = self._read_segments()

    def said(self, option):
        return subprocess.run(["readelf", "--wide", option, self.path], check=True,
                              capture_output=True, text=True).stdout

    def _read_segments(self):
        """Type, place in the file, address, size and permissions of each."""
        row = re.compile(r"^ +([A-Z_]+) +(0x\w+) (0x\w+) 0x\w+ (0x\w+) 0x\w+ ([R ][W ][E ])", re.M)
        return [(kind, int(offset, 16), int(address, 16), int(size, 16), flags.replace(" ", ""))
                for kind, offset, address, size, flags in row.findall(self.said("--segments"))]

    def flags_of(self, kind):
        return [flags for found, *_, flags in self.segments if found == kind]

    def callers(self, namespace):
        """Names in the C and C++ libraries, each with our functions that call it."""
        code = subprocess.run(["objdump", "--disassemble", "--no-show-raw-insn", self.path],
                              check=True, capture_output=True, text=True).stdout
        line = re.compile(r"^\w+ <(.+)>:$|\bcall +\w+ <(\w+)[@$]plt>$", re.M)
        found, function = {}, ""
        for begun, called in line.findall(code):
            function = begun or function
            if called and namespace in function:
                found.setdefault(called, set()).add(function)
        return found

    def virtual_functions(self, namespace):
        """Addresses of the functions in the tables of virtual functions, by the table's name."""
        row = re.compile(rf"^ *\d+: (\w+) +(\d+) OBJECT .* (_ZTV\w*{namespace}\w*)$", re.M)
        pointer = re.compile(r"^(\w+) +\w+ R_X86_64_RELATIVE +(\w+)$", re.M)
        pointers = {int(at, 16): int(to, 16) for at, to in pointer.findall(self.said("--relocs"))}
        for start, size, name in row.findall(self.said("--symbols")):
            for at in range(int(start, 16) + 16, int(start, 16) + int(size), 8):
                if at in pointers and self.is_code(pointers[at]):
                    yield name, pointers[at]

    def is_code(self, address):
        return any(kind == "LOAD" and "E" in flags and start <= address < start + size
                   for kind, _, start, size, flags in self.segments)

    def begins_with(self, address, code):
        for kind, offset, start, size, _ in self.segments:
            if kind == "LOAD" and start <= address < start + size:
                at = offset + address - start
                return self.bytes[at:at + len(code)] == code
        return False


def main():
    elf, suite = Elf(pathlib.Path(binary_of(sys.argv))), Suite()
    with suite.case("it can be loaded anywhere"):
        holds(re.search(r"Type: +DYN", elf.said("--file-header")), "not a file that can be moved")
        holds(re.search(r"\(FLAGS_1\).*\bPIE\b", elf.said("--dynamic")), "not an executable")
    with suite.case("what the loader has written is read-only from then on"):
        holds(re.search(r"\(FLAGS\).*\bBIND_NOW\b", elf.said("--dynamic")), "bound later")
        equal(elf.flags_of("GNU_RELRO"), ["R"])
    with suite.case("nothing that can be written can be executed, the stack neither"):
        equal(elf.flags_of("GNU_STACK"), ["RW"])
        holds(not {"RWE", "WE"} & set(elf.flags_of("LOAD")), elf.said("--segments"))
    callers = elf.callers(NAMESPACE)  # SQLite, which is linked in, was compiled by Debian
    with suite.case("functions with arrays look whether their frame was overwritten"):
        holds(len(callers.get("__stack_chk_fail", ())) > 1000, "few of ours do")
    with suite.case("the C library is told how large what it writes to is"):
        holds([name for name in callers if re.fullmatch(r"__\w+_chk", name)], "never by us")
    with suite.case("containers look whether an index is one of theirs"):
        holds(any("glibcxx_assert_fail" in name for name in callers), "none of ours do")
    if platform.machine() == "x86_64":
        with suite.case("a shadow stack may be used"):
            holds(re.search(r"x86 feature:.*\bSHSTK\b", elf.said("--notes")), elf.said("--notes"))
        with suite.case("our virtual functions say that an indirect call may go there"):
            functions = set(elf.virtual_functions(NAMESPACE))
            holds(len(functions) > 100, f"{len(functions)} functions: was the binary stripped?")
            equal([name for name, at in functions if not elf.begins_with(at, ENDBR64)], [])
    return suite.finish()


if __name__ == "__main__":
    sys.exit(main())
