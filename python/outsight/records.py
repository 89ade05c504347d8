# SPDX-License-Identifier: GPL-2.0-or-later
"""Data of the library as Python's values."""
import ctypes
import dataclasses
from typing import Any, List, NamedTuple, Tuple, Union

from outsight.library import ProbeData, RecDesc, lib, text_of

# Actions, by outsight/dtrace.h.
EXIT, PRINTF, PRINTA, LIBACT, TRACEMEM, SYSTEM, FREOPEN = 2, 3, 4, 5, 6, 0x203, 0x204
NAMED = {0x101, 0x102, 0x103, 0x104, 0x105, 0x401, 0x402, 0x403}  # stacks and symbols
AVG, STDDEV, QUANTIZE, LQUANTIZE, LLQUANTIZE = 0x704, 0x706, 0x707, 0x708, 0x709
NUMBERS = {1: ctypes.c_uint8, 2: ctypes.c_uint16, 4: ctypes.c_int32, 8: ctypes.c_int64}
INT64_MIN, INT64_MAX = -(1 << 63), (1 << 63) - 1
TEXT_MAX = 1 << 16

# (lowest, highest, how many) of each bucket that has any
Distribution = List[Tuple[int, int, int]]
Value = Union[int, float, str, bytes, Distribution]


class Probe(NamedTuple):
    """Where and when something fired."""
    provider: str
    module: str
    function: str
    name: str


@dataclasses.dataclass
class Record:
    """One firing of a clause."""
    time_ns: int  # CLOCK_MONOTONIC
    guest: str  # "" without one
    cpu: int  # the vCPU
    probe: Probe
    values: List[Value]  # of trace(), of printf()'s arguments, of stacks (a line for each frame) …
    text: str  # what the clause has printed


def describe(handle: int, rec: RecDesc, address: int) -> str:
    """As trace() prints it."""
    buf = ctypes.create_string_buffer(TEXT_MAX)
    lib.outsight_text(handle, ctypes.byref(rec), address, buf, TEXT_MAX)
    return text_of(buf.value)


def is_value(rec: RecDesc) -> bool:
    """Is it something that the clause has named, and not a mark of what was done?"""
    if rec.action in (PRINTF, SYSTEM, FREOPEN):
        return not rec.arg
    return rec.action not in (EXIT, PRINTA, LIBACT) and rec.size > 0


def values(handle: int, data: ProbeData, first: Any) -> List[Value]:
    """Those of a statement: the library shows the first datum of a printf(), and the others follow it."""
    recs = data.edesc.contents.data()
    base = data.data - first.contents.offset
    at = (ctypes.addressof(first.contents) - ctypes.addressof(recs)) // ctypes.sizeof(RecDesc)
    found = []
    for rec in recs[at:]:
        if rec.uarg != first.contents.uarg or (rec.offset != first.contents.offset and first.contents.action != PRINTF):
            break
        if is_value(rec):
            found.append(datum(handle, rec, base + rec.offset))
    return found


def datum(handle: int, rec: RecDesc, address: int) -> Value:
    """A datum of a record, or a key."""
    if rec.action in NAMED:
        return describe(handle, rec, address).strip("\n")
    if rec.size in NUMBERS and rec.action != TRACEMEM:
        return int(NUMBERS[rec.size].from_address(address).value)
    data = ctypes.string_at(address, rec.size)
    text, nul, rest = data.partition(b"\0")
    if rec.action == TRACEMEM or (nul and rest.strip(b"\0")):
        return data
    return text_of(text)


def _quantize(words: List[int]) -> Distribution:
    """Powers of two on both sides of 0: outsight/dtrace.h has the rule."""
    def lowest(i: int) -> int:
        return -(1 << (62 - i)) if i < 63 else 0 if i == 63 else 1 << (i - 64)

    def bounds(i: int) -> Tuple[int, int]:
        if i < 63:
            return (INT64_MIN if i == 0 else lowest(i - 1) + 1), lowest(i)
        return lowest(i), 0 if i == 63 else INT64_MAX if i == 126 else lowest(i + 1) - 1

    return [(*bounds(i), n) for i, n in enumerate(words) if n]


def _lquantize(arg: int, words: List[int]) -> Distribution:
    base, levels, step = ctypes.c_int32(arg & 0xffffffff).value, arg >> 32 & 0xffff, arg >> 48
    return [(INT64_MIN if i == 0 else base + (i - 1) * step, INT64_MAX if i > levels else base + i * step - 1, n)
            for i, n in enumerate(words) if n]


def _llquantize(arg: int, words: List[int]) -> Distribution:
    factor, low, high, nsteps = arg >> 48, arg >> 32 & 0xffff, arg >> 16 & 0xffff, arg & 0xffff
    value, order = factor ** low, low
    edges = [value]
    limit = value * factor
    step = limit // nsteps if limit > nsteps else 1
    while order <= high:
        value += step
        edges.append(value)
        if value == limit:
            limit = value * factor
            step = limit // nsteps if limit > nsteps else 1
            order += 1
    bounds = [(INT64_MIN, edges[0] - 1)] + [(a, b - 1) for a, b in zip(edges, edges[1:])] + [(edges[-1], INT64_MAX)]
    return [(*bounds[i], n) for i, n in enumerate(words) if n and i < len(bounds)]


def aggregated(rec: RecDesc, address: int, normal: int) -> Value:
    """The value of an element."""
    words = list((ctypes.c_int64 * (rec.size // 8)).from_address(address))
    if rec.action == QUANTIZE:
        return _quantize(words)
    if rec.action == LQUANTIZE:
        return _lquantize(words[0] & (1 << 64) - 1, words[1:])
    if rec.action == LLQUANTIZE:
        return _llquantize(words[0] & (1 << 64) - 1, words[1:])
    if rec.action == AVG:
        return words[1] / words[0] / normal if words[0] else 0.0
    if rec.action == STDDEV:
        count, total = words[0], words[1]
        squares = (words[2] & (1 << 64) - 1) + (words[3] << 64)
        return max(squares / count - (total / count) ** 2, 0.0) ** 0.5 / normal if count else 0.0
    return words[0] if normal == 1 else words[0] // normal
