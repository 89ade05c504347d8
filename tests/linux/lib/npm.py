# SPDX-License-Identifier: GPL-2.0-or-later
"""Readers of profiles that others have made, from npm: pprof-format, which programs in JavaScript read pprof with, and speedscope,
which draws profiles in a browser. They are in $OUTSIGHT_NODE_MODULES, or in the cache, where scripts/test --full puts them."""
import base64
import glob
import json
import os
import shutil
import subprocess
import tempfile
import time

from lib import browser
from lib.guest import cache_dir
from lib.pace import limit

FOLDER = os.environ.get("OUTSIGHT_NODE_MODULES") or os.path.join(cache_dir(), "tools", "node_modules")
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pprof_format.js")


def why_no(package):
    if not os.path.isdir(os.path.join(FOLDER, package)):
        return f"npm's {package} is not installed (npm i --prefix {os.path.dirname(FOLDER)} {package})"
    return None


NO_PPROF_FORMAT = why_no("pprof-format") or (None if shutil.which("node") else "node is not installed (package nodejs)")
NO_SPEEDSCOPE = why_no("speedscope") or browser.MISSING


def check_pprof_format(data, profile):
    """pprof-format finds what pprof.py has read as @profile: types, frames with their modules, labels, values."""
    with tempfile.NamedTemporaryFile(suffix=".pprof") as f:
        f.write(data)
        f.flush()
        done = subprocess.run(["node", SCRIPT, f.name], capture_output=True, text=True, timeout=limit(60), check=False,
                              env=dict(os.environ, NODE_PATH=FOLDER))
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    found = json.loads(done.stdout)
    assert [tuple(t) for t in found["types"]] == profile.types
    assert [(frames, dict(labels), values) for frames, labels, values in found["samples"]] == profile.samples


# Its own export says what it has read; a link that it makes to save that is not to be followed.
EXPORT = """window.URL.createObjectURL = blob => { blob.text().then(text => { window.exported = text; }); return "#"; };
    HTMLAnchorElement.prototype.click = () => {};
    window.dispatchEvent(new KeyboardEvent("keydown", { key: "s", ctrlKey: true }))"""


def until(chromium, expression):
    end = time.monotonic() + browser.LIMIT
    while not (found := chromium.value(expression)):
        assert time.monotonic() < end and not chromium.errors, (expression, chromium.errors)
        time.sleep(0.1)
    return found


def by_speedscope(name, data):
    """What it exports of the file @name of these bytes, which is opened as its command opens one: in an object of its own format."""
    (page,) = glob.glob(os.path.join(FOLDER, "speedscope", "dist", "release", "index.html"))
    with browser.Browser() as chromium, tempfile.NamedTemporaryFile("w", suffix=".js") as f:
        f.write(f"speedscope.loadFileFromBase64({json.dumps(name)}, {json.dumps(base64.b64encode(data).decode())});")
        f.flush()
        chromium.open(f"{page}#localProfilePath={f.name}")
        until(chromium, f"document.title.startsWith({json.dumps(name)})")
        chromium.value(EXPORT)
        return json.loads(until(chromium, "window.exported"))


def folded_by_speedscope(name, data):
    """{(frames, outermost first): value} of the profile that it has read."""
    found = by_speedscope(name, data)
    frames = [frame["name"] for frame in found["shared"]["frames"]]
    (profile,) = found["profiles"]
    values, stack = {}, []
    if profile["type"] == "sampled":
        for sample, weight in zip(profile["samples"], profile["weights"]):
            key = tuple(frames[i] for i in sample)
            values[key] = values.get(key, 0) + weight
        return values
    before = profile["startValue"]
    for event in profile["events"]:
        if event["at"] != before:
            values[tuple(stack)] = values.get(tuple(stack), 0) + event["at"] - before
            before = event["at"]
        if event["type"] == "O":
            stack.append(frames[event["frame"]])
        else:
            assert stack.pop() == frames[event["frame"]]
    return values
