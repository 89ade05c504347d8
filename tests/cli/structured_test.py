#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Structured output, -x oformat: structured_test.py OUTSIGHT [Class.test…].

Documents are read by Python's parsers, and by jq and xmllint where these are installed.
"""
import json
import os
import shutil
import signal
import subprocess
import sys
import unittest
import xml.etree.ElementTree as ElementTree

sys.dont_write_bytecode = True
sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "linux"))
# pylint: disable=wrong-import-position
import cli_test
from lib.pace import limit

PROBE = {"cpu", "id", "provider", "module", "function", "name", "timestamp", "output"}

EVERYTHING = r"""
BEGIN {
	trace(-7); trace("text"); printf("%d and %s\n", 3, "x"); printf("plain\n");
	@c["k", 2] = count(); @s = sum(-4); @a = avg(6); @lo = min(-1); @hi = max(9); @q = quantize(5);
	@l = lquantize(-7, 0, 10, 2);
	printa(@c); printa("%s %d %@d\n", @c); printa(@s, @a);
	print((int)42);
}
BEGIN { sym((uintptr_t)0x10); mod((uintptr_t)0x20); uaddr((uintptr_t)0x30); stack(); ustack(); exit(0); }
"""


class Structured(cli_test.Case):
    def structured(self, form, program, *args, status=0):
        done = self.run_it("-x", f"oformat={form}", "-qn", program, *args)
        self.assertEqual(done[0], status, done[2])
        return done[1]

    def document(self, program, *args, form="json"):
        return json.loads(self.structured(form, program, *args))["dtrace"]

    def lines(self, program, *args):
        return [json.loads(line) for line in self.structured("jsonl", program, *args).splitlines()]


class Documents(Structured):
    def test_probe(self):
        probes = self.document('BEGIN { trace(1); exit(0); }')["probes"]
        self.assertEqual(len(probes), 1)
        self.assertEqual(set(probes[0]), PROBE)
        self.assertEqual((probes[0]["provider"], probes[0]["name"], probes[0]["id"]), ("dtrace", "BEGIN", 1))
        self.assertEqual(probes[0]["output"], [{"value": 1}])

    def test_values(self):
        document = self.document(EVERYTHING)
        first, second = (probe["output"] for probe in document["probes"])
        count = {"aggregation-data": [{"keys": ["k", 2], "count": 1}], "aggregation-name": "c"}
        self.assertEqual(first, [
            {"value": -7}, {"value": "text"},
            {"message": "3 and x\n"}, {"value": 3}, {"value": "x"},
            {"message": "plain\n"}, {"value": 0},
            count, {"message": "k 2 1\n"}, count,
            {"aggregation-data": [{"keys": [], "sum": -4}], "aggregation-name": "s"},
            {"aggregation-data": [{"keys": [], "avg": 6}], "aggregation-name": "a"},
            {"type": [{"name": "int", "value": "0x2a"}]}])
        self.assertEqual(second, [
            {"sym": "0x10", "offset": "0x10"}, {"mod": "0x20"}, {"uaddr": second[2]["uaddr"]},
            {"stack-frames": []}, {"ustack-frames": []}])
        rest = {a["aggregation-name"]: a["aggregation-data"] for a in document["aggregations"]}
        self.assertEqual(rest, {
            "lo": [{"keys": [], "min": -1}], "hi": [{"keys": [], "max": 9}],
            "q": [{"keys": [], "buckets": [{"value": 2, "count": 0}, {"value": 4, "count": 1},
                                           {"value": 8, "count": 0}]}],
            "l": [{"keys": [], "buckets": [{"value": "< 0", "count": 1}, {"value": 0, "count": 0}]}]})

    def test_symbols_of_processes(self):
        usym = self.document("BEGIN { usym((uintptr_t)$1); uaddr((uintptr_t)$1); exit(0); }", "0x10")
        self.assertEqual(usym["probes"][0]["output"], [{"usym": "0x10"}, {"uaddr": "0x10"}])

    def test_empty(self):
        self.assertEqual(self.document("BEGIN { exit(0); }")["probes"][0]["output"], [])
        self.assertEqual(self.document('BEGIN /0/ { trace(1); } tick-10ms { exit(0); }')["probes"][0]["name"], "tick-10ms")

    def test_xml_says_the_same(self):
        def tree(element):
            return [tree(child) for child in element] if len(element) else element.text or ""
        pretty, plain = (ElementTree.fromstring(self.structured(form, EVERYTHING)) for form in ("xml,pretty", "xml"))
        self.assertEqual(pretty.tag, "dtrace")
        self.assertEqual([e.tag for e in pretty], ["probes", "probes"] + 4 * ["aggregations"])
        names = [[e.tag for e in root.iter()] for root in (pretty, plain)]
        self.assertEqual(names[0], names[1])
        messages = [e.text for e in plain.iter("message")]
        self.assertEqual(messages, ["3 and x\n", "plain\n", "k 2 1\n"])
        self.assertEqual([e.text for e in plain.iter("keys")], ["k", "2"] * 2)
        self.assertIsNone(plain.find("probes/module").text)

    def test_pretty_is_the_same_document(self):
        pretty = self.structured("json,pretty", "BEGIN { trace(1); exit(0); }")
        self.assertIn('\n  "dtrace": {\n    "probes": [\n      {\n        "timestamp": ', pretty)
        self.assertEqual(json.loads(pretty)["dtrace"]["probes"][0]["output"], [{"value": 1}])

    def test_libxo(self):
        out = self.run_it("--libxo", "json,pretty", "-n", "BEGIN { trace(1); exit(0); }")[1]
        self.assertEqual(json.loads(out)["dtrace"]["probes"][0]["output"], [{"value": 1}])

    def test_hostile_text(self):
        """Quotes, controls, markup and bytes that are no UTF-8."""
        program = r'BEGIN { printf("%s", "\"\\</script>&\001\033[2J\t\xff\xc3"); @["]]><x/>\n"] = count(); exit(0); }'
        want = '"\\</script>&{0}{1}[2J\t\ufffd\ufffd'
        document = self.document(program)
        self.assertEqual(document["probes"][0]["output"][0]["message"], want.format("\x01", "\x1b"))
        self.assertEqual(document["aggregations"][0]["aggregation-data"][0]["keys"], ["]]><x/>\n"])
        root = ElementTree.fromstring(self.structured("xml", program))
        self.assertEqual(root.find(".//message").text, want.format("\ufffd", "\ufffd"))
        self.assertEqual(root.find(".//keys").text, "]]><x/>\n")

    def test_refused(self):
        status, out, err = self.run_it("-x", "oformat=html", "-n", "BEGIN { exit(0); }")
        self.assertEqual((status, out), (1, ""))
        self.assertIn("failed to set -x oformat: Invalid value for specified option", err)
        self.assertIn("text|json|json,pretty|xml|xml,pretty|jsonl", err)
        status, _, err = self.run_it("-n", "#pragma D option oformat=json\nBEGIN { exit(0); }")
        self.assertEqual(status, 1)
        self.assertIn("it is for the command line: -x oformat", err)

    def test_a_program_that_does_not_compile_prints_nothing(self):
        self.assertEqual(self.structured("json", "BEGIN { nonsense(); }", status=1), "")


class Lines(Structured):
    def test_types(self):
        lines = self.lines('BEGIN { trace(1); @a[1] = count(); } BEGIN { trace(*(int *)0); } END { printf("end"); } '
                           "tick-10ms { exit(0); }")
        for line in lines:
            self.assertIsInstance(line["time"], int)
            self.assertTrue(line["host"])
        self.assertEqual(sorted(line["type"] for line in lines),
                         ["aggregation", "end", "error", "record", "record", "record"])
        self.assertEqual(lines[-1]["type"], "end")
        self.assertEqual((lines[-1]["records"], lines[-1]["errors"]), (3, 1))
        by_probe = {line["probe"]: line for line in lines if line["type"] == "record"}
        self.assertEqual(by_probe["dtrace:::BEGIN"]["output"], [{"value": 1}])
        self.assertEqual(by_probe["dtrace:::END"]["output"][0], {"message": "end"})
        error = [line for line in lines if line["type"] == "error"][0]
        self.assertEqual(error["probe"], "dtrace:::BEGIN")
        self.assertIn("invalid address (0x0)", error["msg"])
        final = [line for line in lines if line["type"] == "aggregation"][0]
        self.assertIs(final["final"], True)
        self.assertEqual(final["aggregation-data"], [{"keys": [1], "count": 1}])

    def test_json_is_short_for_it(self):
        out = self.run_it("--json", "-n", "BEGIN { trace(1); exit(0); }")[1]
        self.assertEqual([json.loads(line)["type"] for line in out.splitlines()], ["record", "end"])

    def test_time_is_the_firings(self):
        """walltimestamp, within the clocks' drift."""
        line = self.lines("BEGIN { trace(walltimestamp); exit(0); }")[0]
        self.assertLess(abs(line["time"] - line["output"][0]["value"]), 1e9)

    def test_drops(self):
        program = ("BEGIN { i = 0; } tick-1ms { i++; } tick-1ms { trace(i); trace(walltimestamp); } "
                   "tick-1ms /i > 200/ { exit(0); }")
        options = ("-x", "bufsize=96", "-x", "switchrate=20ms")
        lines = self.lines(program, *options)
        drops = [line for line in lines if line["type"] == "drop"]
        self.assertTrue(drops)
        self.assertEqual(drops[-1]["total"], lines[-1]["drops"])
        self.assertEqual(lines[-1]["records"], len([line for line in lines if line["type"] == "record"]))
        shown = [p for p in self.document(program, *options)["probes"] if p["name"] == "DROP"]
        self.assertEqual({(p["provider"], p["module"], p["function"], p["cpu"], p["id"]) for p in shown},
                         {("dtrace", "INTERNAL", "INTERNAL", -1, -1)})

    def test_one_that_is_killed_leaves_whole_lines(self):
        process = self.start("--json", "-x", "switchrate=20ms", "-n", "tick-1ms { trace(walltimestamp); }")
        lines = [process.stdout.readline() for _ in range(20)]
        process.kill()
        with process:
            rest = process.stdout.read().splitlines(keepends=True)
        for line in lines + [line for line in rest if line.endswith("\n")]:
            json.loads(line)


class Ends(Structured):
    """The document is closed however the session ends."""

    def interrupted(self, form, how):
        process = self.start("-x", f"oformat={form}", "-x", "switchrate=20ms", "-n",
                             "tick-10ms { trace(1); @ = count(); } END { trace(2); }")
        first = process.stdout.readline() if form == "jsonl" else process.stdout.read(20)
        process.send_signal(how)
        # communicate() would lose what the first read has buffered.
        with process:
            rest, err = process.stdout.read(), process.stderr.read()
        self.assertEqual(process.returncode, 0, err)
        return first + rest

    def test_interrupt(self):
        for how in (signal.SIGINT, signal.SIGTERM):
            document = json.loads(self.interrupted("json", how))["dtrace"]
            self.assertEqual(document["probes"][-1]["name"], "END")
            self.assertTrue(document["aggregations"][0]["aggregation-data"][0]["count"])
        ElementTree.fromstring(self.interrupted("xml", signal.SIGINT))
        self.assertEqual(json.loads(self.interrupted("jsonl", signal.SIGINT).splitlines()[-1])["type"], "end")

    def test_exit_status(self):
        self.structured("json", "BEGIN { exit(7); }", status=7)


# As FreeBSD's tests of its documents have them: a program for each function and each action that has members of its own.
DOCUMENTS = {
    **{name: f"BEGIN {{ @a[{key}] = {name}({args}); @b = {name}({args}); printa(@b); exit(0); }}" for name, args, key in (
        ("count", "", 1), ("sum", "-5", '"a"'), ("min", "3", '"<&>"'), ("max", "9", "stack()"), ("avg", "7", "probename"),
        ("stddev", "12", "ustack()"), ("quantize", "77", "mod((uintptr_t)8)"), ("lquantize", "5, 0, 100, 10", "sym((uintptr_t)8)"),
        ("llquantize", "500, 10, 0, 6, 20", '1, "b"'))},
    "printf": r'BEGIN { printf("%d %s %x\n", 1, "two", 3); printf("none\n"); exit(0); }',
    "printf_of_stack": r'BEGIN { printf("%k|%a\n", stack(), (uintptr_t)16); exit(0); }',
    "printa_with_format": r'BEGIN { @a["x"] = count(); @b["x"] = sum(2); printa("%s %@d %@d\n", @a, @b); exit(0); }',
    "print": "struct point { int x; char name[8]; }; struct point p; BEGIN { p.x = 3; print(p); print((char)65); exit(0); }",
    "trace": "struct point { int x, y, z; }; struct point p; BEGIN { trace(1); trace(\"t\"); trace((char)7); trace(p); exit(0); }",
    "tracemem": "char bytes[8]; BEGIN { bytes[0] = 65; tracemem(bytes, 4); tracemem(bytes, 8, 2); exit(0); }",
    "stacks": "BEGIN { stack(); ustack(); stack(3); exit(0); }",
    "symbols": "BEGIN { sym((uintptr_t)8); mod((uintptr_t)8); usym((uintptr_t)8); umod((uintptr_t)8); uaddr((uintptr_t)8); exit(0); }",
    "error": "BEGIN { trace(1); } BEGIN { trace(*(int *)8); trace(2); } tick-10ms { exit(0); }",
    "drops": "BEGIN { i = 0; } tick-1ms { i++; trace(i); trace(i); trace(i); } tick-1ms /i > 200/ { exit(0); }",
    "ticks": "BEGIN { i = 0; } tick-5ms { printf(\"%d\", i); } tick-5ms /i++ == 5/ { exit(0); }",
    "nothing": "BEGIN { exit(0); }",
    "empty_aggregation": "BEGIN { @a = count(); clear(@a); @b[1] = count(); trunc(@b); exit(0); }",
    "speculation": "BEGIN { s = speculation(); } BEGIN { speculate(s); trace(7); } BEGIN { commit(s); } BEGIN { exit(0); }",
    "hostile": r'BEGIN { printf("%s", "\"\\</output>&\001\033[2J\t\xff\xc3"); @["]]><x/>\n"] = count(); exit(0); }',
}


class Readers(Structured):
    """jq and xmllint take each document, and read in it what Python's parsers do."""

    def output_of(self, name, form):
        return self.structured(form, DOCUMENTS[name], *(("-x", "bufsize=96", "-x", "switchrate=20ms") if name == "drops" else ()))

    def read(self, *command, text):
        done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=limit(60), check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        return done.stdout

    def each(self, *forms):
        """Each program's document, in one form or the other."""
        for number, name in enumerate(DOCUMENTS):
            yield name, self.output_of(name, forms[number % len(forms)])

    @unittest.skipUnless(shutil.which("jq"), "SKIP: jq is not installed (package jq)")
    def test_jq(self):
        for name, text in self.each("json", "json,pretty"):
            self.assertEqual(json.loads(self.read("jq", ".", text=text)), json.loads(text), name)
            probes = json.loads(self.read("jq", "-c", "[.dtrace.probes[] | .provider + \":::\" + .name]", text=text))
            self.assertEqual(probes, [p["provider"] + ":::" + p["name"] for p in json.loads(text)["dtrace"]["probes"]], name)

    @unittest.skipUnless(shutil.which("jq"), "SKIP: jq is not installed (package jq)")
    def test_jq_takes_lines(self):
        for name, text in self.each("jsonl"):
            read = self.read("jq", "-c", ".type", text=text).splitlines()
            self.assertEqual([json.loads(line) for line in read], [json.loads(line)["type"] for line in text.splitlines()], name)
            self.assertEqual(read[-1], '"end"', name)

    @unittest.skipUnless(shutil.which("xmllint"), "SKIP: xmllint is not installed (package libxml2-utils)")
    def test_xmllint(self):
        for name, text in self.each("xml", "xml,pretty"):
            self.assertEqual(self.read("xmllint", "--noout", "-", text=text), "", name)
            elements = self.read("xmllint", "--xpath", "count(//*)", "-", text=text)
            self.assertEqual(int(elements), len(list(ElementTree.fromstring(text).iter())), name)


if __name__ == "__main__":
    cli_test.OUTSIGHT = os.path.abspath(sys.argv.pop(1))
    unittest.main(verbosity=1)
