# SPDX-License-Identifier: MIT
"""A systemd unit's lines, by name."""
import re


class Unit:
    def __init__(self, text):
        self._lines = re.findall(r"^(\w+)=(.*)$", text, re.M)

    def all(self, name):
        return [value for found, value in self._lines if found == name]

    def one(self, name):
        values = self.all(name)
        if len(values) != 1:
            raise AssertionError(f"{name} stands there {len(values)} times")
        return values[0]
