#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Standing programs and /metrics, without a guest: metrics_test.py OUTSIGHT-SERVE [Class.test…].

Texts are read by a strict reader (lib/prometheus.py), and by promtool where it is installed.
"""
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.append(os.path.join(ROOT, "tests", "linux"))
# pylint: disable=wrong-import-position
from lib import prometheus
from lib.pace import limit
from lib.scenario import run_module

SERVE = os.path.abspath(sys.argv[1])
TICKS = """BEGIN { @begun = count(); }
tick-20ms { @ticks["a"] = count(); @bytes["a"] = sum(3); @sizes = quantize(5); @line = lquantize(4, 0, 10, 5); @most = max(7); }
"""


class Serve:
    """outsight-serve with a configuration of its own."""

    def __init__(self, case, programs, more="", metrics="0"):
        self.case = case
        self.dir = tempfile.mkdtemp(prefix="outsight-metrics-")
        case.addCleanup(shutil.rmtree, self.dir)
        for folder in ("standing.d", "state"):
            os.mkdir(self.path(folder), 0o755)
        for name, (text, conf) in programs.items():
            self.put(name, text, conf)
        with open(self.path("serve.conf"), "w", encoding="utf-8") as f:
            f.write(f"name h1\nmetrics {metrics}\nstate {self.path('state')}\nstanding {self.path('standing.d')}\n{more}")
        env = {k: v for k, v in os.environ.items() if k != "RUNTIME_DIRECTORY"}
        with open(self.path("log"), "wb") as log:
            self.process = subprocess.Popen([SERVE, "--conf", self.path("serve.conf"), "--verbose"], stdin=subprocess.DEVNULL,
                                            stdout=log, stderr=log, env=env)
        case.addCleanup(self.end)
        self.port = int(self.await_log(r"metrics: served at port (\d+)\n")[1])

    def path(self, *names):
        return os.path.join(self.dir, *names)

    def put(self, name, text, conf="guests none\n"):
        for suffix, content in ((".conf", conf), (".d", text)):
            with open(self.path("standing.d", name + suffix), "w", encoding="utf-8") as f:
                f.write(content)

    def log(self):
        with open(self.path("log"), encoding="utf-8") as f:
            return f.read()

    def await_(self, what, condition):
        """What condition() gives once that is true."""
        end = time.monotonic() + limit(60)
        while time.monotonic() < end:
            found = condition()
            if found:
                return found
            time.sleep(0.02)
        return self.case.fail(f"{what}: not within {limit(60)} s:\n{self.log()}")

    def await_log(self, pattern):
        return self.await_(pattern, lambda: re.search(pattern, self.log()))

    def ask(self, method="GET", url="/metrics", body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=limit(60))
        try:
            connection.request(method, url, body)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def text(self):
        status, text = self.ask()
        self.case.assertEqual(status, 200, text)
        return text

    def families(self):
        return prometheus.parse(self.text())

    def value(self, name, **labels):
        """Of the series with these labels; None: there is none."""
        family = self.families().get(name)
        return next((v for _, has, v in family.samples if has == labels), None) if family else None

    def await_value(self, condition, name, **labels):
        def found():
            value = self.value(name, **labels)
            return (value,) if value is not None and condition(value) else None
        return self.await_(f"{name}{labels}", found)[0]

    def children(self, of=None):
        """{PID: its command line} of the processes that it has started."""
        with open(f"/proc/{of or self.process.pid}/task/{of or self.process.pid}/children", encoding="ascii") as f:
            return {int(pid): command(pid) for pid in f.read().split()}

    def child(self, name):
        """The PID of a program's process."""
        script = self.path("standing.d", name + ".d")
        return self.await_(name, lambda: next((pid for pid, args in self.children().items() if args[-2:-1] == [script]), None))

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()
            status = self.process.wait(limit(60))
            self.case.assertEqual(status, 0, self.log())
        for bad in ("AddressSanitizer", "runtime error:"):
            self.case.assertNotIn(bad, self.log())


def command(pid):
    """Its command line; nothing of one that has ended, also if nobody has waited for it."""
    try:
        with open(f"/proc/{pid}/cmdline", encoding="utf-8") as f:
            text = f.read()
    except OSError:
        return []
    return text.split("\0") if text else []


class Case(unittest.TestCase):
    maxDiff = None

    def serve(self, *args, **kwargs):
        return Serve(self, *args, **kwargs)


class Metrics(Case):
    def test_functions(self):
        """Counters grow over the program's life; edges of histograms are the greatest integers of their buckets."""
        serve = self.serve({"ticks": (TICKS, "guests none\n")})
        ticks = serve.await_value(lambda v: v > 3, "outsight_ticks_total", program="ticks", key0="a")
        more = serve.await_value(lambda v: v > ticks, "outsight_ticks_total", program="ticks", key0="a")
        found = serve.families()
        n = found["outsight_ticks_total"].samples[0][2]
        self.assertGreaterEqual(n, more)
        self.assertEqual([found[f"outsight_{name}"].type for name in ("ticks_total", "bytes_total", "sizes", "line", "most")],
                         ["counter", "counter", "histogram", "histogram", "gauge"])
        self.assertEqual(found["outsight_begun_total"].values(), {("ticks",): 1})
        self.assertEqual(found["outsight_bytes_total"].values(), {("ticks", "a"): 3 * n})
        self.assertEqual(found["outsight_most"].values(), {("ticks",): 7})
        self.assertEqual(found["outsight_sizes"].histogram(program="ticks"), {"3": 0, "7": n, "15": n, "+Inf": n})
        self.assertEqual(found["outsight_line"].histogram(program="ticks"), {"-1": 0, "4": n, "9": n, "+Inf": n})
        self.assertEqual(found["outsight_session_drops_total"].values(), {("ticks",): 0})
        self.assertEqual(found["outsight_serve_program_up"].values(), {("ticks",): 1})
        self.assertEqual(found["outsight_serve_programs"].values(), {(): 1})
        self.assertGreater(found["outsight_serve_program_cpu_seconds_total"].values()[("ticks",)], 0)

    def test_several(self):
        """A family that two programs have stands there once; of two types the first program's is kept, and the log has it."""
        serve = self.serve({"a": ("BEGIN { @n[1] = count(); @x = max(4); }", "guests none\n"),
                            "b": ("BEGIN { @n[2] = count(); @x = quantize(1); @y = min(5); }", "guests none\n")})
        serve.await_value(lambda v: v == 5, "outsight_y", program="b")
        serve.await_value(lambda v: v == 4, "outsight_x", program="a")
        found = serve.families()
        self.assertEqual(found["outsight_n_total"].values(), {("a", "1"): 1, ("b", "2"): 1})
        self.assertEqual(found["outsight_x"].type, "gauge")
        self.assertEqual(found["outsight_serve_program_left_out"].values(), {("a",): 0, ("b",): 1})
        serve.await_log("program=b: 1 families or lines of its metrics are left out")

    @unittest.skipUnless(shutil.which("promtool"), "SKIP: promtool is not installed (package prometheus)")
    def test_promtool(self):
        serve = self.serve({"ticks": (TICKS, "guests none\n"), "other": (TICKS, "guests none\n"),
                            "bad": ("BEGIN { nonsense(); }", "guests none\n")})
        for program in ("ticks", "other"):
            serve.await_value(lambda v: v, "outsight_most", program=program)
        done = subprocess.run(["promtool", "check", "metrics"], input=serve.text(), capture_output=True, timeout=limit(60), check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))

    def test_series(self):
        """The greatest rows are kept, those that have no room are counted, and no pragma allows more."""
        rows = " ".join(f"@n[{i}] = sum({i});" for i in range(1, 9))
        serve = self.serve({"few": (f"BEGIN {{ {rows} }}", "guests none\nseries 3\n"),
                            "cheat": (f"#pragma D option promseries=8\nBEGIN {{ {rows} }}", "guests none\nseries 3\n")})
        serve.await_value(lambda v: v == 5, "outsight_session_rows_left_out", program="few")
        self.assertEqual(serve.families()["outsight_n_total"].values(), {("few", "6"): 6, ("few", "7"): 7, ("few", "8"): 8})
        serve.await_log("program=cheat: .*Option cannot be used from within a D program")

    def test_bytes(self):
        long = "x" * 200
        serve = self.serve({"big": (f'BEGIN {{ @n["{long}"] = count(); }}', "guests none\nbytes 300\n")})
        serve.await_value(lambda v: v == 1, "outsight_serve_program_left_out", program="big")
        self.assertNotIn("outsight_n_total", serve.families())
        serve.await_log("program=big: its metrics are left out: they exceed its limit of 300")

    def test_broken(self):
        """It is said once, tried again with a pause, and begins when it is mended; others run."""
        serve = self.serve({"bad": ("BEGIN { nonsense(); }", "guests none\n"), "good": (TICKS, "guests none\n")})
        serve.await_value(lambda v: v >= 2, "outsight_serve_program_failures_total", program="bad")
        self.assertEqual(serve.value("outsight_serve_program_failing", program="bad"), 1)
        self.assertEqual(serve.value("outsight_serve_program_up", program="good"), 1)
        self.assertEqual(serve.log().count("undefined function name: nonsense"), 1)
        serve.put("bad", "BEGIN { @mended = count(); }")
        serve.process.send_signal(signal.SIGHUP)
        serve.await_value(lambda v: v == 1, "outsight_mended_total", program="bad")
        self.assertEqual(serve.value("outsight_serve_program_failing", program="bad"), 0)
        self.assertEqual(serve.value("outsight_serve_program_starts_total", program="good"), 1)

    def test_no_guest(self):
        """A program whose guests are not there is tried again."""
        serve = self.serve({"waits": (TICKS, "guests no-such-guest-*\n")})
        serve.await_value(lambda v: v >= 2, "outsight_serve_program_starts_total", program="waits")
        serve.await_log("program=waits: .*no running guest that can be traced has such a name")

    def test_crash(self):
        """It is a line, and the program begins again; its figures from then on are those of the new run."""
        serve = self.serve({"ticks": (TICKS, "guests none\n")})
        before = serve.await_value(lambda v: v > 200, "outsight_ticks_total", program="ticks", key0="a")
        os.kill(serve.child("ticks"), signal.SIGKILL)  # which no sanitizer answers
        serve.await_log(r"program=ticks: its process was ended by signal 9 \(Killed\); again in 1 s")
        self.assertLess(serve.await_value(lambda v: v < before, "outsight_ticks_total", program="ticks", key0="a"), before)
        self.assertEqual(serve.value("outsight_serve_program_starts_total", program="ticks"), 2)
        self.assertEqual(serve.value("outsight_serve_program_failures_total", program="ticks"), 1)

    def test_ends_by_itself(self):
        serve = self.serve({"once": ("BEGIN { exit(0); }", "guests none\n")})
        serve.await_log("program=once: has ended by itself")
        self.assertEqual(serve.value("outsight_serve_program_starts_total", program="once"), 1)

    def test_nobody_reads(self):
        """Nobody reads for a program's ttl: it is stopped. The next who does has it begin again."""
        serve = self.serve({"ticks": (TICKS, "guests none\nttl 1s\n")})
        serve.await_log("program=ticks: its metrics were not read for 1 s: stopped until the next scrape")
        serve.await_("no process", lambda: not serve.children())
        self.assertEqual(serve.value("outsight_serve_program_idle", program="ticks"), 1)
        serve.await_value(lambda v: v > 0, "outsight_ticks_total", program="ticks", key0="a")
        self.assertEqual(serve.value("outsight_serve_program_failures_total", program="ticks"), 0)

    def test_end(self):
        """All programs end with it, also if it is killed, and no file of theirs is left by one that was asked."""
        serve = self.serve({"ticks": (TICKS, "guests none\n")})
        child = serve.child("ticks")
        serve.await_value(lambda v: v > 0, "outsight_ticks_total", program="ticks", key0="a")
        serve.end()
        self.assertEqual((command(child), os.listdir(serve.path("state", "standing"))), ([], []))
        serve = self.serve({"ticks": (TICKS, "guests none\n")})
        child = serve.child("ticks")
        serve.await_value(lambda v: v > 0, "outsight_ticks_total", program="ticks", key0="a")
        serve.process.kill()
        serve.process.wait()
        serve.await_("the program ends", lambda: not command(child))


class Http(Case):
    def test_methods(self):
        serve = self.serve({})
        self.assertEqual(serve.ask("POST", body="x" * 100000)[0], 405)
        self.assertEqual(serve.ask("DELETE")[0], 405)
        self.assertEqual(serve.ask("HEAD"), (200, b""))
        self.assertEqual(serve.ask(url="/")[0], 404)
        self.assertEqual(serve.ask(url="/metrics/../etc/passwd")[0], 404)

    def test_address(self):
        """By default nobody but this machine is listened to."""
        serve = self.serve({})
        with open(f"/proc/{serve.process.pid}/net/tcp", encoding="ascii") as f:
            listening = [fields[1] for fields in map(str.split, f) if fields[3] == "0A" and fields[1].endswith(f":{serve.port:04X}")]
        self.assertEqual(listening, [f"0100007F:{serve.port:04X}"])

    def test_taken_port(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            s.listen()
            first = self.serve({})
            with open(first.path("serve.conf"), "a", encoding="utf-8") as f:
                f.write("# the same, but for the port\n")
            with open(first.path("serve.conf"), encoding="utf-8") as f:
                text = f.read().replace("metrics 0", f"metrics {s.getsockname()[1]}")
            with open(first.path("taken.conf"), "w", encoding="utf-8") as f:
                f.write(text)
            done = subprocess.run([SERVE, "--conf", first.path("taken.conf")], capture_output=True, text=True, timeout=limit(60), check=False)
            self.assertEqual((done.returncode, done.stdout), (1, ""))
            self.assertIn("metrics can't be served at the address of serve.conf", done.stderr)

    def test_silent_readers(self):
        """Whoever connects and says nothing, or half a request, keeps no program and no other reader waiting."""
        serve = self.serve({"ticks": (TICKS, "guests none\n")})
        ticks = serve.await_value(lambda v: v > 0, "outsight_ticks_total", program="ticks", key0="a")
        for i in range(6):
            s = socket.create_connection(("127.0.0.1", serve.port))
            self.addCleanup(s.close)
            s.sendall((b"", b"GET /metrics HTTP/1.1\r\nHost: ")[i % 2])
        serve.await_value(lambda v: v > ticks, "outsight_ticks_total", program="ticks", key0="a")

    def test_garbage(self):
        serve = self.serve({})
        for garbage in (b"\0" * 5000 + b"\r\n\r\n", b"GET " + b"/" * 100000 + b" HTTP/1.1\r\n\r\n", b"\r\n\r\nX\r\n\r\n"):
            with socket.create_connection(("127.0.0.1", serve.port)) as s:
                try:
                    s.sendall(garbage)
                except OSError:
                    pass  # it hung up, which is an answer
        self.assertEqual(serve.ask()[0], 200)


@unittest.skipUnless(shutil.which("nats-server"), "SKIP: nats-server is not installed")
class Daemon(Case):
    """Beside the daemon, which has the host's key and the broker."""

    def broker(self):
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        process = subprocess.Popen(["nats-server", "-a", "127.0.0.1", "-p", str(port)], stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        end = time.monotonic() + limit(60)
        while True:
            try:
                socket.create_connection(("127.0.0.1", port)).close()
                return port
            except OSError:
                if time.monotonic() > end:
                    raise
                time.sleep(0.02)

    def daemon(self):
        port = self.broker()
        key = os.path.join(tempfile.mkdtemp(prefix="outsight-metrics-"), "host.key")
        self.addCleanup(shutil.rmtree, os.path.dirname(key))
        subprocess.run([SERVE, "--make-key", key], check=True, stdout=subprocess.DEVNULL, timeout=limit(60))
        serve = self.serve({"ticks": (TICKS, "guests none\n")}, more=f"nats nats://127.0.0.1:{port}\nkey {key}\n")
        serve.await_log("serves 0 operators")
        return serve, port

    def metrics_pid(self, serve):
        return serve.await_("its process", lambda: next((pid for pid, args in serve.children().items() if "--standing" in args), None))

    def test_requests(self):
        """What a stranger asks by the broker is counted."""
        serve, port = self.daemon()
        serve.await_value(lambda v: v > 0, "outsight_ticks_total", program="ticks", key0="a")
        self.assertEqual(serve.value("outsight_serve_requests_refused_total"), 0)
        with socket.create_connection(("127.0.0.1", port)) as s:
            s.sendall(b'CONNECT {"verbose":false}\r\n' + b"PUB os.v1.run.h1 _INBOX.x 3\r\nabc\r\n" * 3 + b"PING\r\n")
            while b"PONG" not in s.recv(4096):
                pass
            serve.await_value(lambda v: v == 3, "outsight_serve_requests_refused_total")
        self.assertEqual(serve.value("outsight_serve_requests_total"), 3)
        self.assertEqual(serve.value("outsight_serve_sessions_running"), 0)

    def test_killed(self):
        """The process of the metrics is started again, with its programs; the daemon goes on."""
        serve, _ = self.daemon()
        pid = self.metrics_pid(serve)
        os.kill(pid, signal.SIGKILL)
        serve.await_log("metrics: their process was ended by signal 9")
        serve.await_("another", lambda: len(re.findall(r"served at port (\d+)", serve.log())) == 2)
        serve.port = int(re.findall(r"served at port (\d+)", serve.log())[1])
        serve.await_value(lambda v: v > 0, "outsight_ticks_total", program="ticks", key0="a")
        self.assertNotEqual(self.metrics_pid(serve), pid)


class Dashboard(Case):
    def test_names(self):
        """Each metric that the dashboard asks for is one that the examples' programs or outsight-serve have."""
        with open(os.path.join(ROOT, "share", "grafana", "outsight.json"), encoding="utf-8") as f:
            dashboard = json.load(f)
        queries = [t["expr"] for panel in dashboard["panels"] for t in panel.get("targets", ())]
        queries += [v["query"] for v in dashboard["templating"]["list"] if v["type"] == "query"]
        self.assertGreater(len(queries), 10)
        names = {re.sub("_(bucket|count)$", "", n) for q in queries for n in re.findall(r"\boutsight_\w+", q)}
        folder = os.path.join(ROOT, "share", "standing")
        aggregations = set()
        for file in sorted(os.listdir(folder)):
            with open(os.path.join(folder, file), encoding="utf-8") as f:
                if file.endswith(".d"):
                    aggregations |= {f"outsight_{name}" for name in re.findall(r"@(\w+)", f.read())}
        serve = self.serve({"ticks": (TICKS, "guests none\n")})
        serve.await_value(lambda v: v > 0, "outsight_ticks_total", program="ticks", key0="a")
        known = set(serve.families()) | aggregations | {name + "_total" for name in aggregations}
        self.assertEqual(names - known, set())


if __name__ == "__main__":
    run_module(sys.argv[2:])
