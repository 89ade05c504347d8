# SPDX-License-Identifier: GPL-2.0-or-later
"""Is a session's text what its lines of JSON say, item for item and in order, and nothing else?

The text is not made from the lines: blanks, headers and bars are accepted where dtrace(1) has them, and each item must
stand where the one before it ends. What an argument of printf() is stands in the message already, so after a message
further items of its record may be in the text or not; as no part of the text may be left over, none is accepted for another.
"""
import re

BLANK = r"\s*?"
HEADER = re.compile(r"\s*(?:CPU(?:[ ]+ID)?[ ]+FUNCTION(?::NAME)?|(?:key|value)[ ]+-+ Distribution -+ count)[ ]*\n")
BAR = r"[^0-9\n]*?"
FIRST_OF_DUMP = re.compile(r"\s*?[ ]+0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n")
DUMPED = re.compile(r" +([0-9a-f]+): ((?:[0-9a-f]{2} ){1,16})[^\n]*(?:\n|$)")


def plain(text):
    """Bytes that are no UTF-8 are one character here, however many the reader makes of them."""
    return re.sub("\ufffd+", "\ufffd", text.replace("\0", ""))


class Text:
    def __init__(self, text):
        self.text = plain(text)
        self.furthest = 0

    def after(self, at, pattern):
        """Where each way to read @pattern at @at ends."""
        ends = set()
        for start in {at, *(m.end() for m in [HEADER.match(self.text, at)] if m)}:
            m = re.compile(BLANK + pattern).match(self.text, start)
            if m:
                ends.add(m.end())
        self.furthest = max(self.furthest, *ends, at)
        return ends

    def after_dump(self, at, wanted):
        """The same of bytes that are printed as a table; a text's table has the NULs that fill its field."""
        m = FIRST_OF_DUMP.match(self.text, at)
        if not m:
            return set()
        at, got = m.end(), b""
        while (m := DUMPED.match(self.text, at)) and int(m[1], 16) == len(got):
            got += bytes.fromhex(m[2])
            at = m.end()
        return {at} if got == wanted or got.rstrip(b"\0") == wanted else set()

    def is_over(self, at):
        return not self.text[at:].strip()


def literally(value):
    return re.escape(plain(str(value)))


def after_scalar(text, at, value):
    ends = text.after(at, literally(value))
    if isinstance(value, str):
        ends |= text.after_dump(at, value.encode("utf-8"))
        if re.fullmatch("0x([0-9a-f]{2})+", value):
            ends |= text.after_dump(at, bytes.fromhex(value[2:]))
        if value == "0x":  # no bytes have no table
            ends.add(at)
    return ends


def after_all(text, starts, parts, step):
    ends = set(starts)
    for part in parts:
        ends = {end for start in ends for end in step(text, start, part)}
    return ends


def after_typed(text, at, typed):
    return text.after(at, f"(?:{literally(typed['name'])} )?{literally(typed['value'])}")


def after_frame(text, at, frame):
    return after_all(text, {at}, [frame[k] for k in ("symbol", "note") if k in frame], after_scalar)


# The member that an item's text is of; symbols have others besides, which are parts of it.
def after_datum(text, at, item):
    for name in ("value", "sym", "mod", "usym", "umod", "uaddr", "tracemem", "printm"):
        if name in item:
            return after_scalar(text, at, item[name])
    for name, step in (("type", after_typed), ("stack-frames", after_frame), ("ustack-frames", after_frame)):
        if name in item:
            return after_all(text, {at}, item[name], step)
    raise ValueError(f"an item without a known member: {item}")


def after_key(text, at, key):
    return after_datum(text, at, key) if isinstance(key, dict) else after_scalar(text, at, key)


def after_bucket(text, at, bucket):
    return text.after(at, f"{literally(bucket['value'])} {BAR}{literally(bucket['count'])}(?![0-9])")


def after_result(text, at, row):
    if "buckets" in row:
        return after_all(text, {at}, row["buckets"], after_bucket)
    (value,) = (v for k, v in row.items() if k != "keys")
    return text.after(at, f"{BAR}{literally(value)}(?![0-9])")


def after_rows(text, at, aggregations):
    """Of one aggregation, or of several that are printed side by side: the same keys in each row."""
    ends = {at}
    for rows in zip(*(a["aggregation-data"] for a in aggregations)):
        ends = after_all(text, ends, rows[0]["keys"], after_key)
        ends = after_all(text, ends, rows, after_result)
    return ends


def keys_of(aggregation):
    return [row["keys"] for row in aggregation["aggregation-data"]]


def after_items(text, at, items):
    """From each item, and place in the text, to the next ones."""
    ways, ends = {(0, at)}, set()
    seen = set(ways)
    while ways:
        i, at = ways.pop()
        if i == len(items):
            ends.add(at)
            continue
        item = items[i]
        found = {(i + 1, at)} if any("message" in before for before in items[:i]) and "message" not in item else set()
        if "message" in item:
            found |= {(i + 1, end) for end in text.after(at, literally(item["message"]))}
        elif "aggregation-data" in item:
            n = i + 1
            while n <= len(items) and all("aggregation-data" in more and keys_of(more) == keys_of(item) for more in items[i:n]):
                found |= {(n, end) for end in after_rows(text, at, items[i:n])}
                n += 1
        else:
            found |= {(i + 1, end) for end in after_datum(text, at, item)}
        ways |= found - seen
        seen |= found
    return ends


def after_line(text, at, line):
    if line["type"] == "aggregation":
        return after_items(text, at, [line])
    _, _, function, name = line["probe"].rsplit(":", 3)
    starts = {at} | text.after(at, rf"{line['cpu']} +(?:{line['id']} +)?(?:[-=]> |<[-=] |\| )? *{literally(function)}(?::{literally(name)})?")
    return {end for start in starts for end in after_items(text, start, line["output"])}


def complaint(lines, expected):
    """None, or what differs. @lines: objects; @expected: what the session prints as text."""
    text = Text(expected)
    ends = {0}
    for line in lines:
        if line["type"] not in ("record", "aggregation"):
            continue
        ends = {end for at in ends for end in after_line(text, at, line)}
        if not ends:
            return f"the text has, where {line} should be: {text.text[text.furthest:][:300]!r}"
    if any(text.is_over(at) for at in ends):
        return None
    return f"the text goes on: {text.text[max(ends):][:300]!r}"
