# SPDX-License-Identifier: GPL-2.0-or-later
"""Examples without a guest, and that all have a truth; that the manual has every option, and none that is not there."""
import gzip
import json
import os
import re
import shutil
import subprocess
import time

# Each has examples, and with them truths. (None runs what it needs when it is imported.)
import domains  # pylint: disable=unused-import
import lab  # pylint: disable=unused-import
import small  # pylint: disable=unused-import
import stock  # pylint: disable=unused-import
from documents import DOCUMENTS, LIST, read
from lib.pace import limit
from lib.perfetto import Trace
from truths import EXAMPLES, KNOWN, ROOT, Examples, truth

VERBS = ("run", "compare", "guests", "attach", "doctor", "examples", "flame", "heatmap", "top")


class Documents(Examples):
    def test_every_example_has_a_truth(self):
        """Each example is run by a test, and each test's example is still in a document."""
        self.assertEqual([EXAMPLES[text] for text in EXAMPLES if text not in KNOWN], [], "examples without a @truth")
        self.assertEqual([text for text in KNOWN if text not in EXAMPLES], [], "truths of what no document has")
        for document in DOCUMENTS:
            self.assertGreater(sum(document in example.documents for example in EXAMPLES.values()), 2)

    def help(self, program, *verb):
        done = subprocess.run([os.path.join(self.build, "bin", program), *verb, "--help"], capture_output=True, text=True,
                              timeout=limit(60), check=True)
        return done.stdout

    def manual(self, page):
        """Its text, as it is read."""
        done = subprocess.run(["groff", "-mdoc", "-Tascii", "-P-cbou", "-rLL=1000n", os.path.join(ROOT, "docs", page)],
                              capture_output=True, text=True, timeout=limit(60), check=True)
        return done.stdout

    def setUp(self):
        super().setUp()
        if self._testMethodName in ("test_options_are_in_the_manual", "test_examples_are_rendered") and not shutil.which("groff"):
            self.skipTest("groff is not installed here")

    def test_examples_are_rendered(self):
        """What a reader sees is what stands in the source and is run: no macro has eaten a quote."""
        for document in ("docs/outsight.1", "docs/outsight-vmm.1"):
            text = re.sub(r"\s+", " ", self.manual(os.path.basename(document)))
            for example in EXAMPLES.values():
                if document in example.documents:
                    self.assertIn(example.text, text.replace(" \\ ", " "))

    def test_options_are_in_the_manual(self):
        text = self.manual("outsight.1")
        told = self.help("outsight")
        for letter in re.findall(r"(?m)^\s+-(\w+)\s", told):
            self.assertRegex(text, rf"(?<![\w-])-(\[?\w*)?{letter}", f"-{letter}")
        for verb in ("", *VERBS):
            said = self.help("outsight", verb) if verb else told
            for option in re.findall(r"(?<![\w-])--([a-z][\w-]+)", said):
                if option not in ("help",):
                    self.assertIn(f"--{option}", text, f"outsight {verb}")
        for option in re.findall(r"(?m)^\s+-(\w{2,}) ", self.help("outsight", "run")):
            self.assertRegex(text, rf"(?<![\w-])-{option}\b", "outsight run")
        for verb in (*VERBS, "detach"):
            self.assertRegex(text, rf"(?m)^ +{verb}\b|outsight {verb}\b", verb)

    def test_options_of_d_are_in_the_manual(self):
        """All options of -x, and no others."""
        source = re.search(r"(?s)\.Ss Options of D\n(.*?)\n\.Ss ", read("docs/outsight.1")).group(1)
        told = set(re.search(r"(?s)Options of -x.*?:\n(.*?)\n\n", self.help("outsight")).group(1).split())
        words = set(re.findall(r"[a-z]+", " ".join(re.findall(r"(?m)^\.(?:It )?Cm (.*?)(?: Ta .*)?$", source))))
        self.assertEqual(told - words, set())
        values = {"auto", "text", "step", "hw", "outside", "inside", "both", "yes", "no", "on", "off", "force", "ok", "error"}
        self.assertEqual(words - told - values, set())

    def test_options_of_serve_are_in_the_manual(self):
        """All of outsight-serve's, and no others; and every setting of serve.conf."""
        options = set(re.findall(r"--([a-z-]+)", self.help("outsight-serve"))) - {"help", "version"}
        self.assertEqual(set(re.findall(r"(?m)^\.It Fl -([a-z-]+)", read("docs/outsight-serve.8"))), options)
        manual = read("docs/outsight-serve.conf.5").partition(".Ss Standing programs")
        for part, path, least in ((0, "fleet/serve/conf.c", 10), (2, "fleet/serve/standing/limits.c", 4)):
            settings = set(re.findall(r'\{ "([a-z-]+)", set_', read(path)))
            self.assertGreater(len(settings), least)
            self.assertEqual(set(re.findall(r"(?m)^\.It Ic ([a-z-]+)", manual[part])), settings)

    def test_options_of_the_monitor_are_in_the_manual(self):
        options = set(re.findall(r"--(\w+)", self.help("outsight-vmm")))
        self.assertEqual(set(re.findall(r"(?m)^\.It Fl -(\w+)", read("docs/outsight-vmm.1"))), options - {"help"})


class Questions(Examples):
    def test_printed(self):
        """As they stand in the list; with words, those that have them all."""
        text = re.sub(r"(?m)^#.*\n", "", read(LIST)).strip() + "\n"
        self.assertEqual(self.done("outsight examples").strip(), text.strip())
        told = [example.question for example in EXAMPLES.values() if LIST in example.documents]
        self.assertEqual(len(told), len(set(told)))
        self.assertGreaterEqual(len(told), 40)

    @truth("outsight examples disk")
    def test_by_word(self, example):
        disk = [one for one in EXAMPLES.values() if LIST in one.documents and "disk" in f"{one.question} {one.text}"]
        out = self.done(example)
        for one in disk:
            self.assertIn(f"{one.question}\n    {one.text}\n    ", out)
        for part in out.strip().split("\n\n"):
            self.assertIn("disk", part)
        self.assertIn("Which process makes the disk busy?", self.done("outsight examples DISK busy"))
        self.assertEqual(self.done("outsight examples DISK busy").count("?\n"), 1)
        self.assertEqual(self.done("outsight examples nosuch", status=1), "\n")


class Building(Examples):
    def presets(self):
        with open(os.path.join(ROOT, "CMakePresets.json"), encoding="ascii") as f:
            return json.load(f)

    @truth("cmake --preset release && cmake --build --preset release", "ctest --preset release")
    def test_presets(self, *_):
        """Each that the documents name is there in all three forms; the README's table has all of them."""
        shown = {name for kind in ("configurePresets", "buildPresets", "testPresets") for name in
                 (preset["name"] for preset in self.presets()[kind] if not preset.get("hidden"))}
        self.assertEqual(set(re.findall(r"(?m)^\| `(\w+)` \| ", read("README.md"))) & shown, shown)
        for kind in ("configurePresets", "buildPresets", "testPresets"):
            self.assertIn("release", [preset["name"] for preset in self.presets()[kind]])

    @truth("cmake --install build/release --strip", "cmake --install build/release --strip --prefix /opt/outsight",
           "man outsight", "man outsight-vmm", "man liboutsight", "dkms add PREFIX/src/outsight-0.1.0")
    def test_install(self, install, elsewhere, page, monitors, librarys, dkms):
        """What runs from there is checked by tests/install."""
        self.env["DESTDIR"] = self.path("root")
        self.done(install)
        self.done(elsewhere)
        for root in (f"{self.dir}/root/usr/local", f"{self.dir}/root/opt/outsight"):
            self.assertEqual(self.done(f"{root}/bin/outsight -g none -qn 'BEGIN {{ printf(\"%d\", SIGKILL); exit(0); }}'").strip(), "9")
            for example, section in ((page, 1), (monitors, 1), (librarys, 3)):
                self.assertTrue(os.path.exists(f"{root}/share/man/man{section}/{example.text.split()[1]}.{section}"))
            folder = dkms.text.split()[-1].replace("PREFIX", root)
            with open(f"{folder}/dkms.conf", encoding="ascii") as f:
                conf = dict(re.findall(r'(?m)^(\w+)="(.*)"$', f.read()))
            self.assertEqual(f"{conf['PACKAGE_NAME']}-{conf['PACKAGE_VERSION']}", os.path.basename(folder))

    @truth("./scripts/demo", "./scripts/demo --seeds", "./scripts/demo --fleet", "./scripts/test")
    def test_scripts(self, demo, seeds, fleet, test):
        """They run for long, and check what they print themselves: here, that they take what the documents give them."""
        for example, words in ((demo, ["scripts/demo"]), (seeds, ["--seeds"]), (fleet, ["--fleet"]), (test, ["unit", "kvm-lab"])):
            script = example.text.split()[0]
            told = subprocess.run(["bash", os.path.join(ROOT, script), "--help"], capture_output=True, text=True, check=True,
                                  timeout=limit(60)).stdout
            for word in words:
                self.assertIn(word, told)


class Words(Examples):
    """What the manual quotes."""

    @truth("ssh -T -o BatchMode=yes -o ConnectTimeout=10 -o RemoteCommand=none -o ClearAllForwardings=yes")
    def test_ssh(self, example):
        """As outsight runs it: d.fleet_ssh shows what it is for."""
        words, = re.findall(r'#define FL_SSH_WORDS[\s\\]+"(.*)"', read("fleet/link/carrier.h"))
        self.assertEqual(words, example.text)

    def script(self, text, name="script.d"):
        with open(self.path(name), "w", encoding="ascii") as f:
            f.write(text)
        return name

    @truth("-x ttl=1h")
    def test_ttl(self, example):
        """Scaled to a second."""
        began = time.monotonic()
        out = self.done(f"outsight -g none {example.text.replace('1h', '1s')} -qn 'END {{ printf(\"ended\"); }}'")
        self.assertIn("ended", out)
        self.assertIn(int(time.monotonic() - began), range(1, 30))
        self.assertEqual(self.done(f"outsight -g none {example.text} -qn 'BEGIN {{ printf(\"on\"); exit(0); }}'").strip(), "on")

    @truth("-x oformat=json")
    def test_oformat(self, example):
        out = self.done(f"outsight -g none {example.text} -n 'BEGIN {{ trace(7); exit(0); }}'")
        self.assertEqual(json.loads(out)["dtrace"]["probes"][0]["output"], [{"value": 7}])

    @truth("-o FILE.prom")
    def test_prometheus(self, example):
        out = self.done(f"outsight -g none {example.text} -qn 'BEGIN {{ @began = count(); exit(0); }}'")
        self.assertEqual(out.strip(), "")
        with open(self.path("FILE.prom"), encoding="utf-8") as f:
            self.assertIn("outsight_began_total 1\n", f.read())

    @truth("-o FILE.pprof")
    def test_pprof(self, example):
        out = self.done(f"outsight -g none {example.text} -qn 'BEGIN {{ @[stack()] = count(); exit(0); }}'")
        self.assertEqual(out.strip(), "")
        with gzip.open(self.path("FILE.pprof")) as f:
            self.assertIn(b"samples", f.read())

    @truth("-o FILE.pftrace")
    def test_perfetto(self, example):
        out = self.done(f"outsight -g none {example.text} -qn 'BEGIN {{ trace(7); exit(0); }}'")
        self.assertEqual(out.strip(), "")
        with open(self.path("FILE.pftrace"), "rb") as f:
            self.assertEqual(Trace(f.read()).tracks[0].events[0].notes, {"value": 7})

    @truth("#pragma D option")
    def test_pragma(self, example):
        name = self.script(f"{example.text} quiet\n{example.text} strsize=8\n"
                           "BEGIN { s = \"123456789\"; printf(\"%s\", s); exit(0); }\n")
        # quiet: no heading; strsize: all of its bytes are the string's
        self.assertEqual(self.done(f"outsight -g none -s {name}").strip(), "12345678")

    @truth("@name[keys] = count()")
    def test_aggregation(self, example):
        action = example.text.replace("keys", '"a", 1')
        out = self.done(f"outsight -g none -qn 'tick-10ms {{ {action}; }} tick-10ms /++n == 7/ {{ exit(0); }}'")
        self.assertEqual(out.split(), ["a", "1", "7"])

    @truth("DTRACE_OPT_BUFSIZE=8m")
    def test_environment(self, example):
        """A record of 5 MiB fits; it would not fit the default buffer of 4 MiB."""
        strings = "trace(\"there\"); " * 5
        program = f"outsight -g none -q -x strsize=1m -x bufresize=manual -n 'BEGIN {{ {strings} exit(0); }}'"
        for value, want in ((example.text.split("=")[1], "there" * 5), ("", "")):
            self.env[example.text.split("=")[0]] = value
            trace = self.start(program)
            trace.finish()
            self.assertEqual(trace.out.strip(), want, trace.story())

    @truth("#!/usr/bin/outsight -s")
    def test_script(self, example):
        name = self.script(example.text.replace("/usr", self.build) + "\n#pragma D option quiet\n"
                           "BEGIN { printf(\"%d %s\", $1 * 2, $$2); exit(0); }\n")
        os.chmod(self.path(name), 0o755)
        self.assertEqual(self.done(f"./{name} -g none 21 words").strip(), "42 words")
