# SPDX-License-Identifier: GPL-2.0-or-later
"""A reader of protobuf's wire format, which knows nothing of the program's writer."""


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7f) << shift
        at, shift = at + 1, shift + 7
        assert shift <= 70
        if byte < 0x80:
            return value & (1 << 64) - 1, at


def message(data):
    """{field: [int or bytes, …]}; every byte is of a field."""
    fields, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            assert tag & 7 in (1, 2, 5), tag
            size, at = varint(data, at) if tag & 7 == 2 else ({1: 8, 5: 4}[tag & 7], at)
            assert at + size <= len(data)
            value, at = bytes(data[at:at + size]), at + size
        assert tag >> 3
        fields.setdefault(tag >> 3, []).append(value)
    return fields


def packed(data):
    values, at = [], 0
    while at < len(data):
        value, at = varint(data, at)
        values.append(value)
    return values


def signed(value):
    return value - (1 << 64) if value >> 63 else value
