# SPDX-License-Identifier: GPL-2.0-or-later
"""A reader of Perfetto's traces, by protos/perfetto/trace of github.com/google/perfetto, with the checks that its trace
processor makes: tracks are described before their events, and slices are within each other."""
from lib.protobuf import message, signed

BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4
REALTIME, MONOTONIC, BOOTTIME = 1, 3, 6


def text(fields, number, default=None):
    return fields[number][0].decode("utf-8") if number in fields else default


class Track:
    def __init__(self, fields, tracks):
        self.name = text(fields, 2)
        self.parent = tracks[fields[5][0]] if 5 in fields else None
        self.process = self.thread = None
        if 3 in fields:
            process = message(fields[3][0])
            self.process = (process[1][0], text(process, 6))
        if 4 in fields:
            thread = message(fields[4][0])
            self.thread = (thread[1][0], thread[2][0], text(thread, 5))
        self.is_counter = 8 in fields
        self.events, self.open, self.last = [], [], 0


class Event:
    def __init__(self, time, fields):
        self.time, self.kind, self.name = time, fields[9][0], text(fields, 23)
        self.value = signed(fields[30][0]) if 30 in fields else None
        self.notes = {}
        for note in map(message, fields.get(4, [])):
            assert (4 in note) != (6 in note)
            self.notes[text(note, 10)] = text(note, 6) if 6 in note else signed(note[4][0])
        stack = message(fields[55][0]) if 55 in fields else {}
        self.frames = [text(message(frame), 1) for frame in stack.get(1, [])]  # outermost first
        self.end = None  # of a slice


class Trace:
    """.tracks: in the order in which they are described; .clocks: {clock: ns}."""

    def __init__(self, data):
        tracks, self.clocks = {}, {}
        whole = message(data)
        assert list(whole) == [1]
        for number, packet in enumerate(map(message, whole[1])):
            assert packet[10] == [1]
            if 6 in packet:
                assert number == 0
                clocks = message(packet[6][0])
                assert clocks[2] == [BOOTTIME]
                self.clocks = {c[1][0]: c[2][0] for c in map(message, clocks[1])}
            elif 60 in packet:
                fields = message(packet[60][0])
                assert fields[1][0] not in tracks
                tracks[fields[1][0]] = Track(fields, tracks)
            else:
                assert packet[58] == [MONOTONIC]
                fields = message(packet[11][0])
                self.add(tracks[fields[11][0]], Event(packet[8][0], fields))
        self.tracks = list(tracks.values())
        assert not any(track.open for track in self.tracks), "open slices"

    @staticmethod
    def add(track, event):
        assert event.time >= track.last and (event.kind == COUNTER) == track.is_counter
        track.last = event.time
        if event.kind == END:
            begun = track.open.pop()
            begun.end, begun.end_notes = event.time, event.notes
            return
        if event.kind == BEGIN:
            event.depth = len(track.open)
            track.open.append(event)
        track.events.append(event)

    def named(self, name):
        """The only track of that name."""
        found = [track for track in self.tracks if track.name == name]
        assert len(found) == 1, (name, [track.name for track in self.tracks])
        return found[0]
