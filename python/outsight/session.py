# SPDX-License-Identifier: GPL-2.0-or-later
"""A session: guests, programs, and their data."""
import ctypes
import time
from types import TracebackType
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Tuple, Type, Union

from outsight import library as l
from outsight.records import Probe, Record, Value, aggregated, datum, values

Message = Callable[[str], None]


class Session:
    """One session of one thread. `guest`: a name, a pattern ("web*", which guests that start later join), a PID, or several of them;
    None: the only guest that runs; "none": without a guest. `options`: of outsight(1)'s -x, by name, True for one without a value. `message` gets sentences that a user should
    know; `lost` those about data that were lost and clauses that failed: without it they raise Error.

    Use it in a `with` statement, or call close(): the guests are then as they were."""

    def __init__(self, guest: Union[None, str, List[str]] = None, options: Optional[Mapping[str, Any]] = None,
                 message: Optional[Message] = None, lost: Optional[Message] = None) -> None:
        number = ctypes.c_int()
        self._handle: Optional[int] = l.lib.dtrace_open(l.VERSION, 0, ctypes.byref(number))
        if not self._handle:
            raise l.error_of(None, number.value)
        self._going = False
        self._done = False
        self._ready: List[Record] = []
        self._record: Optional[Record] = None
        self._failure: Optional[BaseException] = None
        # ctypes keeps no reference to them
        self._callbacks = {"probe": l.PROBE_FUNC(self._on_probe), "rec": l.REC_FUNC(self._on_rec),
                           "text": l.BUFFERED_FUNC(self._on_text), "message": l.MESSAGE_FUNC(self._on_message(message)),
                           "err": l.ERR_FUNC(self._on_lost(lost)), "drop": l.DROP_FUNC(self._on_lost(lost))}
        try:
            self._begin(guest, options or {}, message, lost)
        except BaseException:
            self.close()
            raise

    def _begin(self, guest: Union[None, str, List[str]], options: Mapping[str, Any], message: Optional[Message],
               lost: Optional[Message]) -> None:
        self._check(l.lib.dtrace_handle_buffered(self._open, self._callbacks["text"], None))
        if message:
            l.lib.outsight_handle_message(self._open, self._callbacks["message"], None)
        if lost:
            self._check(l.lib.dtrace_handle_err(self._open, self._callbacks["err"], None))
            self._check(l.lib.dtrace_handle_drop(self._open, self._callbacks["drop"], None))
        for name in [guest] if isinstance(guest, str) else guest or []:
            self.set("guest", name)
        for name, value in options.items():
            self.set(name, value)

    # --- callbacks: an exception can't go through C, so it waits -------------------------------------------

    def _guarded(self, function: Callable[[], int], failed: int) -> int:
        try:
            return function()
        except BaseException as failure:  # pylint: disable=broad-except
            self._failure = failure
            return failed

    def _on_probe(self, data: Any, _arg: Any) -> int:
        def take() -> int:
            desc = data.contents.pdesc.contents
            probe = Probe(*(l.text_of(name) for name in (desc.provider, desc.module, desc.function, desc.name)))
            self._record = Record(l.lib.outsight_time(self._open), l.text_of(l.lib.outsight_guest(self._open)), data.contents.cpu,
                                  probe, [], "")
            return l.CONSUME_THIS
        return self._guarded(take, l.CONSUME_ABORT)

    def _on_rec(self, data: Any, rec: Any, _arg: Any) -> int:
        def take() -> int:
            assert self._record is not None
            if not rec:
                self._ready.append(self._record)
            else:
                self._record.values += values(self._open, data.contents, rec)
            return l.CONSUME_THIS
        return self._guarded(take, l.CONSUME_ABORT)

    def _on_text(self, data: Any, _arg: Any) -> int:
        def take() -> int:
            if self._record is not None:
                self._record.text += l.text_of(data.contents.buffered)
            return l.HANDLE_OK
        return self._guarded(take, l.HANDLE_ABORT)

    def _on_message(self, message: Optional[Message]) -> Callable[[bytes, Any], None]:
        def take(text: bytes, _arg: Any) -> None:
            self._guarded(lambda: message(l.text_of(text)) or 0 if message else 0, 0)
        return take

    def _on_lost(self, lost: Optional[Message]) -> Callable[[Any, Any], int]:
        def take(data: Any, _arg: Any) -> int:
            return self._guarded(lambda: lost(l.text_of(data.contents.msg)) or 0 if lost else 0, l.HANDLE_ABORT)
        return take

    # --- what a caller does --------------------------------------------------------------------------------

    @property
    def _open(self) -> int:
        if not self._handle:
            raise ValueError("the session is closed")
        return self._handle

    def _check(self, result: int) -> None:
        if self._failure:
            failure, self._failure = self._failure, None
            raise failure
        if result < 0:
            raise l.error_of(self._open)

    def set(self, name: str, value: Any = True) -> None:
        """Set an option: dtrace_setopt(3)."""
        text = None if value is True else l.bytes_of(str(value))
        self._check(l.lib.dtrace_setopt(self._open, l.bytes_of(name), text))

    def compile(self, program: str, arguments: Tuple[str, ...] = (), flags: int = 0) -> None:
        """Compile a program, which is enabled when tracing begins. The first one attaches the guests. `arguments` are $1, $2 …"""
        words = [b"outsight", *(l.bytes_of(a) for a in arguments)]
        argv = (ctypes.c_char_p * len(words))(*words)
        compiled = l.lib.dtrace_program_strcompile(self._open, l.bytes_of(program), l.SPEC_NAME, flags, len(words), argv)
        self._check(0 if compiled else -1)
        self._check(l.lib.dtrace_program_exec(self._open, compiled, None))

    @property
    def guests(self) -> List[str]:
        """The names of the guests that are attached."""
        return [l.text_of(l.lib.outsight_guest_name(self._open, i)) for i in range(l.lib.outsight_guests(self._open))]

    @property
    def exit_status(self) -> int:
        """Of the program's exit()."""
        return int(l.lib.outsight_exit_status(self._open))

    def go(self) -> None:
        """Begin to trace; records() does it where that has not been done."""
        self._check(l.lib.dtrace_go(self._open))
        self._going = True

    def stop(self) -> None:
        """Take the probes out. What is left is in the next records() and aggregations()."""
        if self._going:
            self._check(l.lib.dtrace_stop(self._open))

    def _work(self) -> List[Record]:
        status = l.lib.dtrace_work(self._open, None, self._callbacks["probe"], self._callbacks["rec"], None)
        self._record = None
        ready, self._ready = self._ready, []
        self._done = status == l.WORK_DONE
        if status == l.WORK_ERROR or self._failure:
            self._ready = ready  # the caller may go on
            self._check(-1)
        return ready

    def records(self, seconds: Optional[float] = None) -> Iterator[Record]:
        """Records as they come, until the program calls exit(), the guests end (those of a pattern are waited for), or so many seconds
        have passed."""
        until = None if seconds is None else time.monotonic() + seconds
        if not self._going:
            self.go()
        while True:
            yield from self._work()
            if self._done or (until is not None and time.monotonic() >= until):
                return
            l.lib.dtrace_sleep(self._open)

    def aggregations(self) -> Dict[str, Dict[Tuple[Value, ...], Value]]:
        """What has been aggregated so far, at most aggrate (a second) old while tracing: by name ("_" is @), by keys, by value ascending."""
        found: Dict[str, Dict[Tuple[Value, ...], Value]] = {}

        def take(agg: Any) -> int:
            desc = agg.contents.desc.contents
            recs, base = desc.data(), agg.contents.data
            keys = tuple(datum(self._open, rec, base + rec.offset) for rec in recs[1:-1])
            value = aggregated(recs[-1], base + recs[-1].offset, agg.contents.normal)
            found.setdefault(l.text_of(desc.name), {})[keys] = value
            return l.WALK_NEXT

        walk = l.WALK_FUNC(lambda agg, _arg: self._guarded(lambda: take(agg), l.WALK_ERROR))
        self._check(l.lib.dtrace_aggregate_snap(self._open))
        self._check(l.lib.dtrace_aggregate_walk_valsorted(self._open, walk, None))
        return found

    def wake(self) -> None:
        """Make records() look at once: from another thread."""
        l.lib.outsight_wake(self._open)

    def close(self) -> None:
        """End the session. May be called again."""
        handle, self._handle = self._handle, None
        if handle:
            l.lib.dtrace_close(handle)

    def __del__(self) -> None:
        if getattr(self, "_handle", None):
            self.close()

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException], trace: Optional[TracebackType]) -> None:
        self.close()
