# SPDX-License-Identifier: GPL-2.0-or-later
"""Traces and profiles as protoc(1) decodes them by perfetto.proto and pprof.proto, whose numbers were compared with the
published ones: a second reader besides perfetto.py and pprof.py, which knows nothing of ours."""
import collections
import gzip
import os
import re
import shutil
import subprocess

from lib import perfetto
from lib.pace import limit

HERE = os.path.dirname(os.path.abspath(__file__))
MISSING = None if shutil.which("protoc") else "protoc is not installed (package protobuf-compiler)"
LINE = re.compile(r'\s*(?:(?P<end>\})|(?P<begin>\w+) \{|(?P<name>\w+): (?:"(?P<text>.*)"|(?P<word>\S+)))$')
ESCAPE = re.compile(rb"\\([0-7]{3}|[abfnrtv\\'\"])")
LETTERS = dict(zip(b"abfnrtv", b"\a\b\f\n\r\t\v"))


def unescaped(text):
    def one(m):
        return bytes([int(m[1], 8) if len(m[1]) == 3 else LETTERS.get(m[1][0], m[1][0])])
    return ESCAPE.sub(one, text.encode()).decode("utf-8")


def value_of(m):
    if m["text"] is not None:
        return unescaped(m["text"])
    return int(m["word"]) if re.fullmatch(r"-?\d+", m["word"]) else m["word"]


def decode(name, kind, data):
    """{field: [number, text, name of an enumerator, or such a message, …]}. A field that the .proto lacks is an error."""
    done = subprocess.run(["protoc", f"--proto_path={HERE}", f"--decode={kind}", f"{name}.proto"], input=data,
                          capture_output=True, timeout=limit(60), check=False)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr
    stack = [collections.defaultdict(list)]
    for line in done.stdout.decode("utf-8").splitlines():
        m = LINE.match(line)
        assert m, line
        if m["end"]:
            stack.pop()
            continue
        field = m["begin"] or m["name"]
        assert not field.isdigit(), f"{kind}: protoc knows no field {line.strip()}"
        stack[-1][field].append(collections.defaultdict(list) if m["begin"] else value_of(m))
        if m["begin"]:
            stack.append(stack[-1][field][-1])
    assert len(stack) == 1
    return stack[0]


def only(message, field, default=None):
    values = message.get(field, [default])
    assert len(values) == 1, (field, values)
    return values[0]


KINDS = {"TYPE_SLICE_BEGIN": perfetto.BEGIN, "TYPE_INSTANT": perfetto.INSTANT, "TYPE_COUNTER": perfetto.COUNTER}


def notes_of(event):
    return {only(n, "name"): only(n, "string_value", only(n, "int_value")) for n in event.get("debug_annotations", ())}


def event_of(packet, event):
    frames = [only(f, "function_name") for f in only(event, "callstack", {}).get("frames", ())]
    return (only(packet, "timestamp"), KINDS[only(event, "type")], only(event, "name"), only(event, "counter_value"), notes_of(event), frames)


def check_trace(data):
    """A Perfetto trace: protoc finds the tracks and events that perfetto.py does, and no track has a slice that is not ended,
    or one that was not begun. Returns the number of slices."""
    names, events, open_slices, slices = {}, collections.defaultdict(list), collections.Counter(), 0
    for packet in decode("perfetto", "Trace", data)["packet"]:
        if "track_descriptor" in packet:
            track = only(packet, "track_descriptor")
            names[only(track, "uuid")] = only(track, "name")
        if "track_event" not in packet:
            continue
        event = only(packet, "track_event")
        track, kind = only(event, "track_uuid"), only(event, "type")
        assert only(packet, "timestamp_clock_id") == "MONOTONIC" and track in names
        if kind == "TYPE_SLICE_END":
            open_slices[track] -= 1
            slices += 1
            assert open_slices[track] >= 0, f"a slice of {names[track]} ends that was not begun"
            continue
        open_slices[track] += kind == "TYPE_SLICE_BEGIN"
        events[track].append(event_of(packet, event))
    assert not any(open_slices.values()), open_slices
    ours = [(t.name, [(e.time, e.kind, e.name, e.value, e.notes, e.frames) for e in t.events]) for t in perfetto.Trace(data).tracks]
    assert [(name, events[track]) for track, name in names.items()] == ours
    return slices


def check_profile(data, profile):
    """A pprof profile, which pprof.py has read as @profile: protoc finds the same strings, values, labels and frames."""
    found = decode("pprof", "Profile", gzip.decompress(data))
    strings = found["string_table"]
    assert strings == profile.strings
    assert [(strings[only(t, "type", 0)], strings[only(t, "unit", 0)]) for t in found["sample_type"]] == profile.types
    functions = {only(f, "id"): strings[only(f, "name", 0)] for f in found["function"]}
    locations = {only(loc, "id"): functions[only(loc["line"][0], "function_id")] for loc in found["location"]}
    samples = []
    for sample in found["sample"]:
        labels = {strings[only(label, "key")]: strings[only(label, "str")] if "str" in label else only(label, "num", 0)
                  for label in sample["label"]}
        samples.append(([locations[n] for n in reversed(sample["location_id"])], labels, sample["value"]))
    assert samples == [([frame.rpartition("`")[2] for frame in frames], labels, values) for frames, labels, values in profile.samples]
