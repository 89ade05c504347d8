# SPDX-License-Identifier: GPL-2.0-or-later
"""The page of a flame graph in a browser (browser.py) against the stacks that it was made of."""
import collections
import json

# What is drawn: depth, name, value, left edge, width, and whether it is dimmed.
DRAWN = """[...document.querySelectorAll("#graph div")].map(d => [Number(d.dataset.depth), d.textContent, Number(d.dataset.value),
    parseFloat(d.style.left), parseFloat(d.style.width), d.classList.contains("dim")])"""


def frames_of(folded):
    """{(depth, name): [value of each frame, in order]} of lines "a;b;c 5"; frames of equal names below one another's are one."""
    values = collections.Counter()
    for line in folded:
        stack, _, count = line.rpartition(" ")
        parts = stack.split(";")
        for depth in range(len(parts) + 1):
            values[tuple(parts[:depth])] += int(count)
    found = collections.defaultdict(list)
    for path, value in values.items():
        found[len(path), path[-1] if path else "all"].append(value)
    return {key: sorted(of) for key, of in found.items()}


def drawn_frames(browser):
    found = collections.defaultdict(list)
    for depth, name, value, *_ in browser.value(DRAWN):
        found[depth, name].append(value)
    return {key: sorted(of) for key, of in found.items()}


def click(browser, name):
    browser.value(f"""[...document.querySelectorAll("#graph div")].find(d => d.textContent === {json.dumps(name)}).click()""")


def check(test, browser, path, folded):
    """Every stack of @folded is drawn with its sum, each frame within the one below it; a click, the search and the
    pointer do what they say; nothing is loaded."""
    whole = frames_of(folded)
    total = whole[0, "all"][0]
    browser.open(path)
    test.assertEqual(drawn_frames(browser), whole)
    test.assertEqual(browser.value('document.getElementById("title").textContent.replace(/[^0-9]/g, "")'), str(total))
    width = browser.value('document.getElementById("graph").clientWidth')
    for depth, name, value, left, wide, _ in browser.value(DRAWN):
        test.assertAlmostEqual(wide, width * value / total, 1, (depth, name))
        test.assertGreaterEqual(left, 0)
        test.assertLessEqual(left + wide, width + 0.1)
    name = max(folded, key=lambda line: int(line.rpartition(" ")[2])).rpartition(" ")[0].split(";")[-1]
    check_pointed_at(test, browser, name, total)
    check_search(test, browser, name, folded, total)
    click(browser, name)
    test.assertAlmostEqual(max(wide for _, shown, _, _, wide, _ in browser.value(DRAWN) if shown == name), width, 1)
    browser.value('document.getElementById("reset").click()')
    test.assertEqual(drawn_frames(browser), whole)
    test.assertEqual((browser.requests, browser.errors), ([f"file://{path}"], []))


def check_pointed_at(test, browser, name, total):
    said = browser.value(f"""(() => {{
        const d = [...document.querySelectorAll("#graph div")].find(d => d.textContent === {json.dumps(name)});
        d.dispatchEvent(new MouseEvent("mouseenter"));
        return [document.getElementById("details").textContent, d.dataset.value];
    }})()""")
    test.assertTrue(said[0].startswith(f"{name}: {int(said[1]):,} of {total:,}, "), said)


def check_search(test, browser, name, folded, total):
    """What is found is said in per cent of all, and the rest is dimmed."""
    def search(text):
        browser.value(f"""(() => {{ const s = document.getElementById("search"); s.value = {json.dumps(text)};
            s.dispatchEvent(new Event("input")); }})()""")
        return browser.value('document.getElementById("found").textContent')
    wanted = name.lower()
    found = sum(int(line.rpartition(" ")[2]) for line in folded
                if any(wanted in part.lower() for part in line.rpartition(" ")[0].split(";")))
    test.assertEqual(search(name), f"{100 * found / total:.2f} %")
    for _, shown, _, _, _, dim in browser.value(DRAWN):
        test.assertEqual(dim, wanted not in shown.lower(), shown)
    test.assertEqual(search(""), "")
