# SPDX-License-Identifier: GPL-2.0-or-later
"""What all runs of a part of the soak come to: seconds and counts, in a file, so that a run that is stopped goes on."""
import json
import os
import time


class Total:
    """In the file @path; without one, of this run. A number in it is the seconds only, as an older soak wrote them."""

    def __init__(self, path):
        self.path, self.counts, self.seconds = path, {}, 0.0
        if path and os.path.exists(path):
            with open(path, encoding="ascii") as f:
                kept = json.load(f)
            self.seconds = float(kept["seconds"] if isinstance(kept, dict) else kept)
            self.counts = dict(kept["counts"]) if isinstance(kept, dict) else {}
        self.start = time.monotonic()

    def begin(self):
        """The time from here on counts."""
        self.start = time.monotonic()

    def add(self, what, n=1):
        self.counts[what] = self.counts.get(what, 0) + n

    def now(self):
        return self.seconds + time.monotonic() - self.start

    def write(self):
        if self.path:
            os.makedirs(os.path.dirname(os.path.abspath(self.path)), exist_ok=True)
            with open(self.path + ".new", "w", encoding="ascii") as f:
                json.dump({"seconds": round(self.now()), "counts": self.counts}, f)
            os.replace(self.path + ".new", self.path)

    def forget(self):
        """After a failure all begins again."""
        if self.path and os.path.exists(self.path):
            os.remove(self.path)

    def __str__(self):
        counts = ", ".join(f"{n} {what}" for what, n in sorted(self.counts.items()))
        return f"{self.now() / 3600:.2f} h in all" + (f": {counts}" if counts else "")
