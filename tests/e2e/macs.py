# SPDX-License-Identifier: MIT
"""The MACs of a store's rows, for tests that write rows themselves: with the store's key everybody
can make them, without it nobody."""
import hashlib
import hmac


def sealing_key(store):
    return bytes.fromhex((store / "secret.key").read_text().split()[0])


def mac(store, fields):
    """Of a row: its kind and then its fields, texts and numbers; None for one that is absent."""
    key = sealing_key(store)
    key_id = hashlib.sha256(b"belfry sealing key id" + key).digest()[:8]
    extracted = hmac.digest(bytes(32), key, "sha256")
    derived = hmac.digest(extracted, b"belfry store mac" + b"\x01", "sha256")
    return key_id + hmac.digest(derived, b"".join(map(_encoded, fields)), "sha256")


def token_mac(store, token):
    """`token`: the columns id, name, secret_hash, assignments, created, expires, revoked."""
    row = ["token", *token[:5]]
    for instant in token[5:]:
        row += [0] if instant is None else [1, instant]
    return mac(store, row)


def _encoded(field):
    if isinstance(field, int):
        return field.to_bytes(8, "big", signed=True)
    return len(field.encode()).to_bytes(8, "big") + field.encode()
