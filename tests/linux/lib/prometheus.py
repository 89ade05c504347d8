# SPDX-License-Identifier: GPL-2.0-or-later
"""A strict reader of Prometheus' text format: what its own readers refuse or lint, it refuses."""
import re

NAME = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"')
SUFFIXES = {"counter": [""], "gauge": [""], "histogram": ["_bucket", "_count", "_sum"]}


class Family:
    def __init__(self, name):
        self.name = name
        self.type = None
        self.samples = []  # (name, labels, value)

    def values(self):
        """{(label's value…): value}, of a counter or a gauge."""
        return {tuple(labels.values()): value for _, labels, value in self.samples}

    def histogram(self, **labels):
        """{le: how many up to there} of the series with these labels."""
        return {s[1]["le"]: s[2] for s in self.samples
                if s[0].endswith("_bucket") and {k: v for k, v in s[1].items() if k != "le"} == labels}


def labels_of(text):
    labels, at = {}, 0
    while at < len(text):
        match = LABEL.match(text, at)
        assert match, f"no label: {text[at:]!r}"
        assert match[1] not in labels, f"twice: {match[1]}"
        labels[match[1]] = re.sub(r"\\(.)", lambda m: "\n" if m[1] == "n" else m[1], match[2])
        at = match.end()
        if at < len(text):
            assert text[at] == ",", text
            at += 1
    return labels


def sample_of(line):
    match = re.fullmatch(r"([^ {]+)(?:\{(.*)\})? ([^ ]+)", line)
    assert match and NAME.fullmatch(match[1]), line
    return match[1], labels_of(match[2] or ""), (float if "." in match[3] else int)(match[3])


def check_histogram(family):
    """Buckets go up to +Inf, and so do their counts, which end with _count."""
    series = {}
    for name, labels, value in family.samples:
        key = tuple(sorted((k, v) for k, v in labels.items() if k != "le"))
        series.setdefault(key, ([], []))[name.endswith("_count")].append((labels.get("le"), value))
    for buckets, count in series.values():
        edges = [float(le) for le, _ in buckets]
        assert edges == sorted(set(edges)) and edges[-1] == float("inf"), family.name
        counts = [value for _, value in buckets]
        assert counts == sorted(counts) and [(None, counts[-1])] == count, family.name


def parse(data):
    """{name: Family} of a file's bytes; AssertionError: it is not valid."""
    families, names, series, current = {}, set(), set(), None
    text = data.decode("utf-8")
    assert text.endswith("\n") or not text
    for line in text.split("\n")[:-1]:
        if line.startswith("# HELP "):
            name = line.split(" ")[2]
            assert NAME.fullmatch(name) and name not in families, line
            current = families[name] = Family(name)
        elif line.startswith("# TYPE "):
            assert line.split(" ")[2] == current.name and current.type is None and not current.samples, line
            current.type = line.split(" ", 3)[3]
            new = {current.name + suffix for suffix in ["", *SUFFIXES[current.type]]}
            assert not new & names, f"a name of two families: {new & names}"
            assert (current.type == "counter") == current.name.endswith("_total"), line
            names |= new
        else:
            sample = sample_of(line)
            assert sample[0] in [current.name + s for s in SUFFIXES[current.type]], line
            key = (sample[0], *sorted(sample[1].items()))
            assert key not in series, f"twice: {line}"
            series.add(key)
            current.samples.append(sample)
    for family in families.values():
        if family.type == "histogram":
            check_histogram(family)
    return families
