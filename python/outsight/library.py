# SPDX-License-Identifier: GPL-2.0-or-later
"""liboutsight's functions and structures, as outsight/dtrace.h and outsight/outsight.h have them."""
import ctypes
import os
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char, c_char_p, c_int, c_int64, c_size_t, c_uint, c_uint16, c_uint32, c_uint64,
                    c_void_p)

VERSION = 3
SPEC_NAME = 3
CONSUME_THIS, CONSUME_ABORT = 0, 2
WORK_ERROR, WORK_OKAY, WORK_DONE = -1, 0, 1
WALK_NEXT, WALK_ERROR = 0, -1
HANDLE_OK, HANDLE_ABORT = 0, -1


class ProbeDesc(Structure):
    _fields_ = [("id", c_uint32), ("provider", c_char * 64), ("module", c_char * 64), ("function", c_char * 192), ("name", c_char * 64)]


class RecDesc(Structure):
    _fields_ = [("action", c_uint16), ("size", c_uint32), ("offset", c_uint32), ("alignment", c_uint16), ("format", c_uint16),
                ("arg", c_uint64), ("uarg", c_uint64)]


class AggDesc(Structure):
    _fields_ = [("name", c_char_p), ("varid", c_int64), ("flags", c_int), ("id", c_uint32), ("epid", c_uint32), ("size", c_uint32),
                ("nrecs", c_int), ("pad", c_uint32), ("recs", RecDesc * 1)]

    def data(self) -> "ctypes.Array[RecDesc]":
        """All of its data: the variable's number, the keys, the value."""
        return (RecDesc * self.nrecs).from_address(ctypes.addressof(self) + AggDesc.recs.offset)


class EProbeDesc(Structure):
    _fields_ = [("epid", c_uint32), ("probeid", c_uint32), ("uarg", c_uint64), ("size", c_uint32), ("nrecs", c_int), ("recs", RecDesc * 1)]

    def data(self) -> "ctypes.Array[RecDesc]":
        """The data of a record."""
        return (RecDesc * self.nrecs).from_address(ctypes.addressof(self) + EProbeDesc.recs.offset)


class ProbeData(Structure):
    _fields_ = [("handle", c_void_p), ("edesc", POINTER(EProbeDesc)), ("pdesc", POINTER(ProbeDesc)), ("cpu", c_int), ("data", c_void_p),
                ("flow", c_int), ("prefix", c_char_p), ("indent", c_int)]


class BufData(Structure):
    _fields_ = [("handle", c_void_p), ("buffered", c_char_p), ("probe", POINTER(ProbeData)), ("recdesc", POINTER(RecDesc)),
                ("aggdata", c_void_p), ("flags", c_uint32)]


class AggData(Structure):
    _fields_ = [("handle", c_void_p), ("desc", POINTER(AggDesc)), ("edesc", c_void_p), ("pdesc", POINTER(ProbeDesc)), ("data", c_void_p),
                ("normal", c_uint64), ("size", c_size_t), ("delta", c_void_p), ("percpu", c_void_p), ("percpu_delta", c_void_p)]


class ErrData(Structure):
    _fields_ = [("handle", c_void_p), ("edesc", c_void_p), ("pdesc", POINTER(ProbeDesc)), ("cpu", c_int), ("action", c_int),
                ("offset", c_int), ("fault", c_int), ("addr", c_uint64), ("msg", c_char_p)]


class DropData(Structure):
    _fields_ = [("handle", c_void_p), ("cpu", c_int), ("kind", c_int), ("drops", c_uint64), ("total", c_uint64), ("msg", c_char_p)]


PROBE_FUNC = CFUNCTYPE(c_int, POINTER(ProbeData), c_void_p)
REC_FUNC = CFUNCTYPE(c_int, POINTER(ProbeData), POINTER(RecDesc), c_void_p)
BUFFERED_FUNC = CFUNCTYPE(c_int, POINTER(BufData), c_void_p)
ERR_FUNC = CFUNCTYPE(c_int, POINTER(ErrData), c_void_p)
DROP_FUNC = CFUNCTYPE(c_int, POINTER(DropData), c_void_p)
WALK_FUNC = CFUNCTYPE(c_int, POINTER(AggData), c_void_p)
MESSAGE_FUNC = CFUNCTYPE(None, c_char_p, c_void_p)

_FUNCTIONS = {
    "dtrace_open": (c_void_p, [c_int, c_int, POINTER(c_int)]),
    "dtrace_close": (None, [c_void_p]),
    "dtrace_errno": (c_int, [c_void_p]),
    "dtrace_errmsg": (c_char_p, [c_void_p, c_int]),
    "dtrace_setopt": (c_int, [c_void_p, c_char_p, c_char_p]),
    "dtrace_program_strcompile": (c_void_p, [c_void_p, c_char_p, c_int, c_uint, c_int, POINTER(c_char_p)]),
    "dtrace_program_exec": (c_int, [c_void_p, c_void_p, c_void_p]),
    "dtrace_go": (c_int, [c_void_p]),
    "dtrace_stop": (c_int, [c_void_p]),
    "dtrace_sleep": (None, [c_void_p]),
    "dtrace_work": (c_int, [c_void_p, c_void_p, PROBE_FUNC, REC_FUNC, c_void_p]),
    "dtrace_handle_buffered": (c_int, [c_void_p, BUFFERED_FUNC, c_void_p]),
    "dtrace_handle_err": (c_int, [c_void_p, ERR_FUNC, c_void_p]),
    "dtrace_handle_drop": (c_int, [c_void_p, DROP_FUNC, c_void_p]),
    "dtrace_aggregate_snap": (c_int, [c_void_p]),
    "dtrace_aggregate_walk_valsorted": (c_int, [c_void_p, WALK_FUNC, c_void_p]),
    "outsight_version": (c_char_p, []),
    "outsight_wake": (None, [c_void_p]),
    "outsight_attach": (c_int, [c_void_p]),
    "outsight_guests": (c_uint, [c_void_p]),
    "outsight_guest_name": (c_char_p, [c_void_p, c_uint]),
    "outsight_guest": (c_char_p, [c_void_p]),
    "outsight_exit_status": (c_int, [c_void_p]),
    "outsight_handle_message": (None, [c_void_p, MESSAGE_FUNC, c_void_p]),
    "outsight_time": (c_uint64, [c_void_p]),
    "outsight_text": (c_int, [c_void_p, POINTER(RecDesc), c_void_p, c_char_p, c_size_t]),
}


class Error(Exception):
    """What went wrong, in the library's words; `number` is dtrace_errno()'s."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.number = number


def _load() -> ctypes.CDLL:
    # a build tree's, for tests
    loaded = ctypes.CDLL(os.environ.get("OUTSIGHT_LIBRARY") or "liboutsight.so.1")
    for name, (result, arguments) in _FUNCTIONS.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, arguments
    return loaded


lib = _load()


def text_of(data: "bytes | None") -> str:
    """A guest may have bytes that are no UTF-8 in its names."""
    return (data or b"").decode("utf-8", "surrogateescape")


def bytes_of(text: str) -> bytes:
    """The way back. C ends a text at a NUL, so that the rest would be lost without a word."""
    data = text.encode("utf-8", "surrogateescape")
    if b"\0" in data:
        raise ValueError("a NUL in a text")
    return data


def error_of(handle: "int | None", number: "int | None" = None) -> Error:
    """The last error of a handle, or that number's."""
    number = lib.dtrace_errno(handle) if number is None else number
    return Error(number, text_of(lib.dtrace_errmsg(handle, number)))


def version() -> str:
    """Outsight's version."""
    return text_of(lib.outsight_version())
