# SPDX-License-Identifier: GPL-2.0-or-later
"""A reader of pprof's profiles, by profile.proto of github.com/google/pprof, with the checks of its CheckValid()."""
import gzip

from lib.protobuf import message, packed, signed


class Profile:
    def __init__(self, data):
        fields = message(gzip.decompress(data))
        self.strings = [s.decode("utf-8") for s in fields[6]]
        assert self.strings[0] == "" and len(set(self.strings)) == len(self.strings)
        self.types = [tuple(self.strings[m.get(f, [0])[0]] for f in (1, 2)) for m in map(message, fields.get(1, []))]
        assert self.types
        self.mappings = self.table(fields.get(3, []))
        self.locations = self.table(fields.get(4, []))
        self.functions = self.table(fields.get(5, []))
        self.time, self.duration = (fields.get(f, [0])[0] for f in (9, 10))
        self.period = fields.get(12, [0])[0]
        self.samples = [self.sample(message(m)) for m in fields.get(2, [])]

    @staticmethod
    def table(messages):
        table = {}
        for fields in map(message, messages):
            assert fields[1][0] and fields[1][0] not in table
            table[fields[1][0]] = fields
        return table

    def text(self, fields, number):
        return self.strings[fields.get(number, [0])[0]]

    def frame(self, number):
        """As folded stacks have it: module`function."""
        location = self.locations[number]
        function = self.functions[message(location[4][0])[1][0]]
        mapping = location.get(2, [0])[0]
        module = self.text(self.mappings[mapping], 5) + "`" if mapping else ""
        return module + self.text(function, 2)

    def sample(self, fields):
        """(frames, outermost first; {label: value}; values)."""
        labels = {}
        for label in map(message, fields.get(3, [])):
            assert (2 in label) != (3 in label)
            labels[self.text(label, 1)] = self.text(label, 2) if 2 in label else signed(label[3][0])
        values = [signed(v) for v in packed(fields[2][0])]
        assert len(values) == len(self.types)
        return [self.frame(n) for n in reversed(packed(fields.get(1, [b""])[0]))], labels, values

    def folded(self):
        """The lines of -x oformat=folded, sorted: labels, which are in the order of the keys, and frames."""
        return sorted(";".join([str(v) for v in labels.values()] + frames) + f" {sum(values)}"
                      for frames, labels, values in self.samples)
