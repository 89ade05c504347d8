# SPDX-License-Identifier: GPL-2.0-or-later
"""The examples of README.md, of the manual pages and of `outsight examples`, as they stand there.

What counts as one:
  README.md   each command in a fenced block, with what is printed below it where commands have a "$ " in front;
              each code span with a space in it
  *.1         each .Dl line; each literal display: a command (and what is printed below it), or a message; each .Ql
              that is more than a word or a list of words
  *.list      the second line of each paragraph
"""
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIST = "cli/examples.list"
DOCUMENTS = ("README.md", "docs/outsight.1", "docs/outsight-vmm.1", LIST)
# A verb, a path or an option alone is no example.
WORDS = re.compile(r"(outsight )?[\w.%/*~$`-]*( , [\w.%/*~$`-]*)*$")


class Example:
    """text: what is typed, or a message, or words that are quoted. printed: what the document shows below it. question: what it
    answers, in a list. documents: where it stands."""

    def __init__(self, document, text, printed="", question=""):
        self.documents, self.text, self.printed, self.question = {document}, text, printed, question

    def __repr__(self):
        return f"{', '.join(sorted(self.documents))}: {self.text}"


def read(document):
    with open(os.path.join(ROOT, document), encoding="utf-8") as f:
        return f.read()


def joined(lines):
    """Commands: lines that end with a \\ go on, and so do those in the middle of a quotation."""
    whole = ""
    for line in lines:
        whole += line
        if whole.endswith("\\"):
            whole = re.sub(r" *\\$", " ", whole)
        elif whole.count("'") % 2:
            whole += "\n"
        elif whole.strip():
            yield whole
            whole = ""
    if whole.strip():
        yield whole


def uncommented(line):
    return re.sub(r"(^|\s)#\s.*", "", line)


def command(line):
    """As one line."""
    return re.sub(r"\s+", " ", line).strip()


def session(document, block):
    """Commands behind "$ ", and what they print."""
    for part in re.split(r"(?m)^\$ ", block)[1:]:
        line, _, printed = part.partition("\n")
        yield Example(document, line.strip(), printed)


def of_readme(document, text):
    for block in re.findall(r"(?ms)^```\n(.*?)^```$", text):
        if re.search(r"(?m)^\$ ", block):
            yield from session(document, block)
            continue
        for line in joined(map(uncommented, block.splitlines())):
            yield Example(document, command(line))
    for span in re.findall(r"`([^`\n]+)`", re.sub(r"(?ms)^```\n.*?^```$", "", text)):
        if " " in span and not WORDS.fullmatch(span):
            yield Example(document, span)


def unescaped(text):
    return text.replace("\\&", "").replace("\\-", "-").replace("\\(aq", "'").replace("\\(dq", '"').replace("\\e", "\\")


def of_display(document, block):
    """A literal display."""
    text = unescaped(block).strip("\n")
    prompted = re.match(r"[#$] (.*)\n?((?s:.*))", text)
    if prompted:
        yield Example(document, prompted.group(1), prompted.group(2))
    elif text.startswith("outsight"):
        for line in joined(text.splitlines()):
            yield Example(document, command(line))
    else:
        yield Example(document, re.sub(r"\s+", " ", text))


def of_manual(document, text):
    for line in re.findall(r"(?m)^\.Dl (.*)$", text):
        yield Example(document, unescaped(line))
    for block in re.findall(r"(?ms)^\.Bd -literal[^\n]*\n(.*?)^\.Ed$", text):
        yield from of_display(document, block)
    for quoted in re.findall(r"(?m)^\.(?:Pq )?Ql (.*?)(?: [.,:;])?$", text):
        if not WORDS.fullmatch(quoted):
            yield Example(document, unescaped(quoted))


def of_list(document, text):
    """Questions: three lines each, the command line and its answer indented. ValueError: the list is not made so."""
    for paragraph in re.split(r"\n\n+", text.strip()):
        if paragraph.startswith("#"):
            continue
        form = re.fullmatch(r"(\S.*\?)\n    (outsight .*)\n    (\S.*\.)", paragraph)
        if not form:
            raise ValueError(f"{document}: no question, command line and sentence: {paragraph!r}")
        yield Example(document, form.group(2), question=form.group(1))


def examples():
    """{text: Example}, of all documents; a text that stands in several is one."""
    found = {}
    for document in DOCUMENTS:
        reader = of_readme if document.endswith(".md") else of_list if document == LIST else of_manual
        for example in reader(document, read(document)):
            known = found.setdefault(example.text, example)
            known.printed = known.printed or example.printed
            known.question = known.question or example.question
            known.documents |= example.documents
    return found


if __name__ == "__main__":
    for one in examples().values():
        print(one)
