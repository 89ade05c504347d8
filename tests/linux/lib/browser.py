# SPDX-License-Identifier: GPL-2.0-or-later
"""A page in headless Chromium, which is told what to do through a pipe: the DevTools protocol, a JSON object and a NUL each."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

from lib.pace import limit

MISSING = None if shutil.which("chromium") else "chromium is not installed (package chromium)"
LIMIT = limit(120)
# Root can have no sandbox, and a container no large /dev/shm.
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--hide-scrollbars", "--remote-debugging-pipe"]


class Browser:
    """with Browser() as b: b.open("/x.html"); b.value("1 + 1"). What the page asks of a network, and its errors, are kept."""

    def __init__(self, width=1200, height=800):
        self.dir = tempfile.mkdtemp(prefix="outsight-chromium-")
        to_read, self.out = os.pipe()
        self.inp, to_write = os.pipe()
        # it reads from descriptor 3, and writes to 4
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$0" "$@" 3<&{to_read} 4>&{to_write}', "chromium", *OPTIONS, f"--window-size={width},{height}",
             f"--user-data-dir={self.dir}/profile", "about:blank"], pass_fds=(to_read, to_write), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "HOME": self.dir}, start_new_session=True)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.number, self.session = b"", 0, None
        self.requests, self.errors, self.loaded = [], [], False

    def __enter__(self):
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Network", "Runtime", "Log"):
                self.call(f"{domain}.enable")
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.inp)
        shutil.rmtree(self.dir, ignore_errors=True)

    def message(self, end):
        """The next one that it sends."""
        while b"\0" not in self.buffer:
            assert select.select([self.inp], [], [], max(0, end - time.monotonic()))[0], "Chromium does not answer"
            data = os.read(self.inp, 1 << 16)
            assert data, f"Chromium has ended with {self.process.wait()}"
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def note(self, event):
        kind, what = event.get("method"), event.get("params", {})
        if kind == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])
        elif kind == "Runtime.exceptionThrown":
            self.errors.append(what["exceptionDetails"])
        elif kind == "Log.entryAdded" and what["entry"]["level"] == "error":
            self.errors.append(what["entry"]["text"])
        elif kind == "Page.loadEventFired":
            self.loaded = True

    def call(self, method, **params):
        self.number += 1
        request = {"id": self.number, "method": method, "params": params}
        if self.session:
            request["sessionId"] = self.session
        os.write(self.out, json.dumps(request).encode() + b"\0")
        end = time.monotonic() + LIMIT
        while (answer := self.message(end)).get("id") != self.number:
            self.note(answer)
        assert "error" not in answer, (method, answer["error"])
        return answer["result"]

    def open(self, path):
        self.requests, self.errors, self.loaded = [], [], False
        self.call("Page.navigate", url=f"file://{path}")
        end = time.monotonic() + LIMIT
        while not self.loaded:
            self.note(self.message(end))

    def value(self, expression):
        """Of JavaScript, in the page; as JSON has it."""
        found = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        assert "exceptionDetails" not in found, found
        return found["result"].get("value")

    def picture(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))
