#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Python's outsight, without a guest: values as they are, errors as exceptions, a session that is given up. python_test.py BUILD"""
import gc
import os
import subprocess
import sys
import threading
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = sys.argv.pop() if len(sys.argv) > 1 else ""
os.environ["OUTSIGHT_LIBRARY"] = f"{BUILD}/lib/liboutsight.so.1"
sys.path.insert(0, f"{ROOT}/python")
sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
import outsight


def session(program, *arguments, **more):
    opened = outsight.Session("none", **more)
    opened.compile(program, arguments)
    return opened


class Records(unittest.TestCase):
    def test_values(self):
        with session('BEGIN { trace(42); trace("text"); trace((long)-1); trace((char)200); printf("%d %s|", 5, $$1); printf("plain"); '
                     'exit(7); }', "arg", options={"quiet": True}) as s:
            (record,) = s.records()
            self.assertEqual(record.probe, ("dtrace", "", "", "BEGIN"))
            self.assertEqual(record.values, [42, "text", -1, 200, 5, "arg"])
            self.assertEqual(record.text, "42text-12005 arg|plain")
            self.assertGreater(record.time_ns, 0)
            self.assertEqual((record.guest, s.guests, s.exit_status), ("", [], 7))

    def test_generator(self):
        """It ends by exit(), by time and by its caller, and goes on where it was."""
        with session("tick-2ms { trace(i++); } tick-2ms /i == 40/ { exit(0); }") as s:
            first = next(s.records())
            self.assertEqual(first.values, [0])
            list(s.records(seconds=0))
            s.stop()
            rest = [r.values[0] for r in s.records()]
            self.assertEqual(rest, sorted(rest))
        with session("BEGIN { }") as s:
            self.assertEqual(len(list(s.records(seconds=0.2))), 1)

    def test_wake(self):
        with session("END { trace(1); }", options={"switchrate": "1day", "aggrate": "1day", "statusrate": "1day"}) as s:
            waker = threading.Timer(0.05, s.wake)
            waker.start()
            self.assertEqual(list(s.records(seconds=0.01)), [])
            waker.join()
            s.stop()
            self.assertEqual([r.values for r in s.records()], [[1]])


    def test_text(self):
        """Bytes that are no UTF-8 go to the library as they came from it; a text that C would end early is refused."""
        with session(r'BEGIN { @["\xff\xc3"] = count(); exit(0); }') as s:
            list(s.records())
            ((key,),) = s.aggregations()["_"]
        with session('BEGIN { trace($$1 == "\\xff\\xc3"); trace($$1); exit(0); }', key) as s:
            (record,) = s.records()
            self.assertEqual(record.values, [1, key])
        for begin in (lambda: outsight.Session("none\0web"), lambda: outsight.Session("none", {"strsize": "8\0"}),
                      lambda: session("BEGIN { exit(0); }\0"), lambda: session("BEGIN { trace($$1); }", "a\0b")):
            self.assertRaises(ValueError, begin)


class Aggregations(unittest.TestCase):
    def test_all(self):
        with session('BEGIN { @c["x", 1] = count(); @c["y", 2] = count(); @c["y", 2] = count(); @ = sum(-4); @lo = min(3); @hi = max(9); '
                     "@v = avg(3); @v = avg(4); @d = stddev(1); @d = stddev(3); @q = quantize(5); @q = quantize(0); @q = quantize(-3); "
                     "@l = lquantize(25, 0, 100, 10); @l = lquantize(-1, 0, 100, 10); @l = lquantize(1000, 0, 100, 10); "
                     "@ll = llquantize(123, 10, 0, 6, 20); @ll = llquantize(0, 10, 0, 6, 20); @s[stack()] = count(); exit(0); }") as s:
            list(s.records())
            found = s.aggregations()
            self.assertEqual(list(found["c"].items()), [(("x", 1), 1), (("y", 2), 2)])
            self.assertEqual(found["_"], {(): -4})
            self.assertEqual((found["lo"], found["hi"], found["v"], found["d"]), ({(): 3}, {(): 9}, {(): 3.5}, {(): 1.0}))
            self.assertEqual(found["q"], {(): [(-3, -2, 1), (0, 0, 1), (4, 7, 1)]})
            self.assertEqual(found["l"], {(): [(-(1 << 63), -1, 1), (20, 29, 1), (100, (1 << 63) - 1, 1)]})
            self.assertEqual(found["ll"], {(): [(-(1 << 63), 0, 1), (100, 149, 1)]})
            self.assertEqual(list(found["s"].values()), [1])

    def test_normalized(self):
        with session('BEGIN { @ = sum(40); normalize(@, 8); exit(0); }') as s:
            list(s.records())
            self.assertEqual(s.aggregations(), {"_": {(): 5}})


class Errors(unittest.TestCase):
    def test_library(self):
        with self.assertRaises(outsight.Error) as caught:
            outsight.Session("none", {"nosuch": 1})
        self.assertEqual((caught.exception.number, str(caught.exception)), (1002, "Invalid option name"))
        with outsight.Session("none") as s:
            with self.assertRaisesRegex(outsight.Error, "^line 1: syntax error"):
                s.compile("BEGIN {")
            s.compile("BEGIN { trace(1); exit(0); }")
            self.assertEqual([r.values for r in s.records()], [[1]])

    def test_faults(self):
        """Without a function for them they are exceptions, and the session goes on."""
        program = "BEGIN { trace(*(int *)8); } tick-2ms { exit(0); }"
        lost = []
        with session(program, lost=lost.append) as s:
            list(s.records())
        self.assertEqual(len(lost), 1)
        self.assertIn("invalid address (0x8)", lost[0])
        with session(program) as s:
            with self.assertRaisesRegex(outsight.Error, "invalid address"):
                list(s.records())
            self.assertEqual([r.probe.name for r in s.records()], ["tick-2ms"])

    def test_own_functions(self):
        """An exception of the caller's function comes out of records()."""
        def fail(text):
            raise KeyError(text)
        with session("BEGIN { trace(*(int *)8); } tick-2ms { exit(0); }", lost=fail) as s:
            with self.assertRaises(KeyError):
                list(s.records())

    def test_closed(self):
        s = session("BEGIN { exit(0); }")
        s.close()
        s.close()
        for use in (s.go, s.stop, s.wake, s.aggregations, lambda: s.guests, lambda: s.set("quiet"), lambda: next(s.records())):
            with self.subTest(use=use):
                if use == s.stop:
                    use()  # there is nothing to stop
                else:
                    self.assertRaises(ValueError, use)

    def test_given_up(self):
        """One that nobody closes is closed when it goes."""
        before = len(os.listdir("/proc/self/fd"))
        for _ in range(20):
            s = session("BEGIN { trace(1); } tick-1ms { }")
            next(s.records())
        del s
        gc.collect()
        self.assertLessEqual(len(os.listdir("/proc/self/fd")), before)

    def test_version(self):
        done = subprocess.run([f"{BUILD}/bin/outsight", "--version"], capture_output=True, text=True, check=True)
        self.assertEqual(done.stdout, f"outsight {outsight.version()}\n")


if __name__ == "__main__":
    unittest.main()
