# SPDX-License-Identifier: GPL-2.0-or-later
"""Which test knows the true answer of which example; and how an example is run as it stands in its document."""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TESTS = os.path.dirname(HERE)
ROOT = os.path.dirname(TESTS)
sys.path[:0] = [os.path.join(TESTS, name) for name in ("hook", "kvm", "kvm-lab", "linux", "libvirt")]
# pylint: disable=wrong-import-position
import documents
from lib.outsight import Trace
from lib.pace import limit

# Ends hangs only.
LIMIT = limit(240)
EXAMPLES = documents.examples()
KNOWN = {}  # text of an example: the name of its test


def truth(*texts):
    """A test that holds these examples against what is known to be true. It gets the documents' examples."""
    def decorate(test):
        for text in texts:
            if text in KNOWN:
                raise ValueError(f"{text!r} has two truths: {KNOWN[text]} and {test.__qualname__}")
            KNOWN[text] = test.__qualname__

        def run(self):
            missing = [text for text in texts if text not in EXAMPLES]
            self.assertEqual(missing, [], "no document has these examples any more")
            test(self, *(EXAMPLES[text] for text in texts))
        run.__name__, run.__doc__ = test.__name__, test.__doc__
        return run
    return decorate


def shape(message):
    """What fits a message of a document, whatever numbers and names stand in it. (A pattern is made of the text.)"""
    pattern = re.escape(re.sub(r"\s+", " ", message))
    pattern = re.sub(r"\d+(\\\.\d+)?", r"\\d+(\\.\\d+)?", pattern)
    return re.sub(r"\b(time|site)s?(?=\\)", r"\1s?", re.sub(r":foo:", r":\\w+:", pattern))


class Examples(unittest.TestCase):
    """Commands run in a folder of their own in which the documents' files have the documents' names."""

    maxDiff = 4000
    build = outsight = small_guest = None

    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="outsight-examples-")
        self.addCleanup(shutil.rmtree, self.dir)
        self.env = dict(os.environ, PATH=f"{self.build}/bin:{os.environ['PATH']}", XDG_RUNTIME_DIR=self.dir,
                        XDG_CACHE_HOME=f"{self.dir}/cache", LC_ALL="C", TZ="UTC", TERM="dumb")
        os.makedirs(f"{self.dir}/build")
        os.symlink(self.build, f"{self.dir}/build/release")

    def path(self, name):
        return os.path.join(self.dir, name)

    def link(self, **files):
        """The documents' names, with _ for a dot."""
        for name, path in files.items():
            os.symlink(path, self.path(name.replace("_", ".")))

    def start(self, example, more="", **replaced):
        """Run it as it stands there: MORE behind it; what a document leaves open is replaced."""
        line = getattr(example, "text", example)
        for old, new in replaced.get("replace", {}).items():
            self.assertIn(old, line)
            line = line.replace(old, new)
        trace = Trace("bash", ["-c", f"exec {line} {more}"], self.env, cwd=self.dir)
        self.addCleanup(self.end, trace)
        return trace

    @staticmethod
    def end(trace):
        with contextlib.suppress(ProcessLookupError):
            trace.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            trace.process.wait(limit(20))
        if trace.process.poll() is None:
            trace.kill()
        trace.process.stdout.close()
        trace.process.stderr.close()

    # Everything is counted, however much it costs the guest; and a line says when every probe is in place.
    TRACING = "-x maxcost=0 -x switchrate=20hz -x aggrate=20hz -n 'BEGIN { printf(\"tracing\\n\"); }'"

    def trace(self, example, more="", **replaced):
        """A trace that runs until it is stopped; it is tracing when this returns."""
        return self.start(example, f"{self.TRACING} {more}", **replaced).wait_for("tracing", LIMIT)

    def done(self, example, more="", status=0, **replaced):
        """One that ends by itself; what it has printed."""
        trace = self.start(example, more, **replaced)
        self.assertEqual(trace.finish(LIMIT), status, trace.story())
        return trace.out + "\n"
