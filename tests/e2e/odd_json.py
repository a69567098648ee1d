# SPDX-License-Identifier: MIT
"""Makes odd JSON out of good JSON: wrong types, huge numbers, bad UTF-8, deep nesting,
members given twice, texts cut short. Everything comes from the generator that is given."""
import json


class Members(list):
    """An object as a list of [name, value]: unlike a dict it can hold a name twice."""


class Raw(str):
    """JSON text that is written as it is, whether it is JSON or not."""


def _deep(opening, closing, depth):
    return Raw(opening * depth + "0" + closing * depth)


ODD_VALUES = [
    None, True, False, 0, -1, 1, 20, 59, 1000, 2**31 - 1, 2**31, 2**53 + 1, 2**63, 2**64, 10**40,
    -2**63 - 1, 0.5, 1e308, Raw("1e999"), Raw("-0"), Raw("-0.0"), Raw("1e-400"), Raw("5.0"),
    Raw("NaN"), Raw("Infinity"), Raw("0x10"), Raw("01"), Raw(""), Raw("'a'"), Raw("undefined"),
    "", " ", "a", "a" * 300, "a" * 9000, "\u0000", "a\r\nb: c", "\u00e9\u20ac\U0001F514",
    Raw('"\\ud800"'), Raw('"\\udc00\\ud800"'), Raw('"\\u0000"'), Raw('"\\q"'), Raw('"\t"'),
    "2001-01-01", "9999-12-31T23:59:59.9999999Z", "0001-01-01T00:00Z", "2099-02-30", "P1Y",
    "PT1S", "P99999999999D", "-PT1M", "00:00:30", "99.23:59:59", "Monday", "Http", "StorageQueue",
    "Basic", "Enabled", "Completed", "Fixed", "Year", "Free", "P20Premium", "../../etc/passwd",
    "http://127.0.0.1:1/", "http://[::1", "https://h.invalid:65536/", "'; DROP TABLE job; --",
    "%s%n%00", "<script>alert(1)</script>", [], [None], [[]], [1, "a", {}], list(range(200)),
    Members(), Members([["a", 1]]), Members([["type", "Http"]]), Members([["", ""]]),
    _deep("[", "]", 20), _deep("[", "]", 31), _deep("[", "]", 500), _deep('{"a":', "}", 31),
    _deep('{"a":', "}", 500), Raw("[" * 2000),
]
ODD_NAMES = ["", "a", "Type", "STATE", "properties", "\u0000", "x" * 300, "\u00e9", "name", "id",
             "action", "request", "a b", "a\r\nb"]


def members_of(value):
    if isinstance(value, dict):
        return Members([name, members_of(member)] for name, member in value.items())
    if isinstance(value, list):
        return [members_of(element) for element in value]
    return value


def written(value):
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, Members):
        inside = (f"{json.dumps(name)}:{written(member)}" for name, member in value)
        return "{" + ",".join(inside) + "}"
    if isinstance(value, list):
        return "[" + ",".join(written(element) for element in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def _objects(value):
    """Every object in the value, itself included."""
    if isinstance(value, Members):
        yield value
        for _, member in value:
            yield from _objects(member)
    elif isinstance(value, list):
        for element in value:
            yield from _objects(element)


def _some_member(rng, root):
    filled = [found for found in _objects(root) if found]
    if not filled:
        return None, 0
    chosen = rng.choice(filled)
    return chosen, rng.randrange(len(chosen))


def _replace(rng, root):
    members, at = _some_member(rng, root)
    if members is not None:
        members[at] = [members[at][0], rng.choice(ODD_VALUES)]


def _remove(rng, root):
    members, at = _some_member(rng, root)
    if members is not None:
        del members[at]


def _repeat(rng, root):
    members, at = _some_member(rng, root)
    if members is not None:
        members.insert(rng.randrange(len(members) + 1), list(members[at]))


def _rename(rng, root):
    members, at = _some_member(rng, root)
    if members is not None:
        name = members[at][0]
        members[at] = [rng.choice([name.upper(), name[:-1], name + " ", *ODD_NAMES]),
                       members[at][1]]


def _add(rng, root):
    found = list(_objects(root))
    if found:
        rng.choice(found).append([rng.choice(ODD_NAMES), rng.choice(ODD_VALUES)])


def _swap(rng, root):
    one, i = _some_member(rng, root)
    other, j = _some_member(rng, root)
    if one is not None and one is not other[j][1] and other is not one[i][1]:
        one[i][1], other[j][1] = written_copy(other[j][1]), written_copy(one[i][1])


def written_copy(value):
    """A copy that shares nothing, so that no object ends up inside itself."""
    return Raw(written(value))


def _cut(rng, data):
    return data[:rng.randrange(len(data) + 1)]


def _flip(rng, data):
    if not data:
        return data
    at = rng.randrange(len(data))
    return data[:at] + bytes([data[at] ^ (1 << rng.randrange(8))]) + data[at + 1:]


def _insert(rng, data):
    at = rng.randrange(len(data) + 1)
    odd = rng.choice([b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5\x80\x80\x80", b"\x00", b"\x1b",
                      b"\xef\xbb\xbf", b"\xe2\x82", b",", b"}", b"{", b'"', b"\\", b"//x\n",
                      bytes(rng.randrange(256) for _ in range(8))])
    return data[:at] + odd + data[at:]


def _drop(rng, data):
    at = rng.randrange(len(data) + 1)
    return data[:at] + data[at + rng.randrange(1, 20):]


def _double(rng, data):
    return data + rng.choice([data, b" ", b"x", b"\n\n", b"{}", b"\x00"])


def _utf16(_, data):
    return data.decode("utf-8", "replace").encode("utf-16")


TREE_CHANGES = [_replace, _replace, _replace, _replace, _remove, _repeat, _rename, _add, _swap]
BYTE_CHANGES = [_cut, _flip, _flip, _insert, _insert, _drop, _double, _utf16]


def odd_body(rng, body):
    """The bytes of `body` after one to three changes to its tree or to its bytes."""
    if rng.random() < 0.03:
        return written(rng.choice(ODD_VALUES)).encode("utf-8", "surrogatepass")
    tree = members_of(body)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        rng.choice(TREE_CHANGES)(rng, tree)
    data = written(tree).encode("utf-8", "surrogatepass")
    return rng.choice(BYTE_CHANGES)(rng, data) if rng.random() < 0.3 else data
