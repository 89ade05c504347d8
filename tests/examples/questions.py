# SPDX-License-Identifier: GPL-2.0-or-later
"""What `outsight examples` prints, in the guest of stock.py: each command line is run beside a load that knows the answer, or,
where no load does, compiled."""
import json
import os
import re

from documents import LIST
from lib.outsight import distribution, keyed
from lib.scenario import only_full
from truths import EXAMPLES, KNOWN, LIMIT, truth

TEXTS = {example.question: text for text, example in EXAMPLES.items() if LIST in example.documents}
TCP = ("ip link set lo up; nc -l -p 7777 >/dev/null & while ! grep -q ':1E61 .*:0000 0A ' /proc/net/tcp*; do usleep 10000; done; "
       "echo hello | nc 127.0.0.1 7777; wait; nslookup -type=a nosuch 127.0.0.1 || true")
DISK = "dd if=/dev/zero of=/tmp/disk6 bs=1M count=1 2>/dev/null; losetup /dev/loop6 /tmp/disk6; sync"
FILES = ("mkdir /tmp/q; dd if=/dev/zero of=/tmp/q/zeros bs=4096 count=50 conv=fsync 2>/dev/null; cat /nosuch 2>/dev/null; "
         "rm /tmp/q/zeros; rmdir /tmp/q")


def answer(*questions):
    """A test that knows the true answers to these."""
    return truth(*(TEXTS[question] for question in questions))


def rows(trace):
    """The words of each line."""
    return [line.split() for line in trace.lines]


def of_key(trace, key):
    """The distribution of a key, which stands on a line of its own."""
    found = re.search(rf"^  {re.escape(key)} +\n((?: +.*\n)+)", trace.out + "\n", re.M)
    return distribution(found.group(1)) if found else {}


class Questions:
    """Mixed into the class that has the guest."""

    def watch(self, load, *examples):
        """Trace with all of them, while the load runs; they have ended."""
        traces = [self.trace(example) for example in examples]
        self.vm.check(load)
        return [trace.stop() for trace in traces]

    @answer("Which program makes the most system calls?", "Which system calls take long?", "How long does a kernel function take?",
            "Which program has page faults?")
    def test_calls_in_questions(self, *examples):
        most, long, function, faults = self.watch("getppid_loop 2 1000; reads 3000", *examples)
        self.assertGreaterEqual(keyed(most.out)["getppid_loop"], 2000, most.story())
        self.assertGreaterEqual(keyed(most.out)["reads"], 6000, most.story())
        self.assertGreaterEqual(sum(of_key(long, "getppid").values()), 2000, long.story())
        self.assertGreaterEqual(sum(of_key(long, "read").values()), 3000, long.story())
        self.assertGreaterEqual(sum(of_key(function, "reads").values()), 3000, function.story())
        self.assertGreater(keyed(faults.out)["getppid_loop"], 5, faults.story())

    @answer("Which system calls fail, and with what error?", "Which files does a program open?",
            "Who searches for files that do not exist?", "Which files are removed?", "Which files are written most?",
            "Which program asks for its data to be on disk?")
    def test_files_in_questions(self, *examples):
        failed, opened, missing, removed, written, synced = self.watch(FILES, *examples)
        for trace, row in ((failed, ["cat", "openat", "2", "1"]), (opened, ["cat", "/nosuch", "1"]), (missing, ["cat", "/nosuch", "1"]),
                           (removed, ["rm", "/tmp/q/zeros"]), (written, ["dd", "/tmp/q/zeros", str(50 * 4096)]),
                           (synced, ["dd", "/tmp/q/zeros", "1"])):
            self.assertIn(row, rows(trace), trace.story())

    @answer("Which programs are started?", "Which processes are killed?", "Who sends a signal to whom?",
            "Which program makes new processes?")
    def test_processes_in_questions(self, *examples):
        load = "sleep 1234 & pid=$!; while ! grep -q 1234 /proc/$pid/cmdline; do :; done; kill $pid; wait $pid; echo $pid >/tmp/pid"
        started, killed, sent, made = self.watch(load, *examples)
        pid = self.vm.check("cat /tmp/pid").strip()
        self.assertIn([pid, "sleep", "1234"], rows(started), started.story())
        self.assertIn([pid, "sleep"], rows(killed), killed.story())
        self.assertIn(["sh", "15", "->", "sleep"], rows(sent), sent.story())
        self.assertGreaterEqual(keyed(made.out)["sh"], 2, made.story())

    @answer("Which program uses the CPU?", "In which function of its own is a program?", "In which kernel function is the CPU?")
    def test_cpu_in_questions(self, *examples):
        program, own, kernel = self.watch("spin 2", *examples)
        counts = keyed(program.out)
        # init runs the commands of this test, and on a busy host the samples in which it waits for that are many
        others = [name for name in counts if not name.startswith("swapper") and name != "init"]
        self.assertEqual(max(others, key=counts.get), "spin", program.story())
        self.assertTrue(any(row[0] == "spin" and row[1].startswith("spin`") for row in rows(own) if len(row) == 3), own.story())
        self.assert_known([name for name in keyed(kernel.out) if name.startswith("vmlinux`")])

    def start_program(self, command, name):
        """One of lib/programs.py, which works one round at each SIGUSR1."""
        pid = int(self.vm.check(f"{command} >/tmp/said.{name} 2>&1 & echo $!"))
        self.vm.check(f"until grep -q ready /tmp/said.{name}; do sleep 0.1; done")
        return pid

    def work(self, pid, name, last="^done$"):
        count = f"grep -c '{last}' /tmp/said.{name}"
        self.vm.check(f"n=$({count}); kill -USR1 {pid}; until [ $({count}) -gt $n ]; do sleep 0.1; done")

    @answer("How much memory do programs ask for at a time?")
    def test_memory_in_questions(self, example):
        """Of two programs, one of which begins later."""
        pids = {"first": self.start_program("allocating 500 3000", "first")}
        trace = self.trace(example)
        pids["second"] = self.start_program("allocating 700 100000", "second")
        for name, pid in pids.items():
            self.work(pid, name)
        trace.stop()
        self.vm.check("killall -9 allocating")
        sizes = of_key(trace, "allocating")
        self.assertEqual((sizes.get(2048), sizes.get(65536)), (500, 700), trace.story())

    @answer("Which functions does a program call, from its start on?")
    def test_start_in_questions(self, example):
        trace = self.start(example, self.TRACING, replace={"nginx": "counted"}).wait_for("waiting for a process counted", LIMIT)
        pid = self.start_program("counted 300", "counted")
        trace.wait_for("tracing", LIMIT)
        self.work(pid, "counted", "^called$")
        trace.stop()
        self.vm.check(f"kill -9 {pid}")
        self.assertEqual(keyed(trace.out).get("work"), 300, trace.story())

    @only_full
    @answer("In which function and line of a Python program is the CPU?", "Where is the CPU in the next run of a Python program?")
    def test_python_in_questions(self, by_number, awaited):
        if not self.programs.python:
            self.skipTest("this host's Python has no static probes, so that it is not put into the guest")
        command, shown = "/usr/bin/python3 -IS /bin/calling.py", "-n 'tick-4hz { printa(@); }'"
        pid = self.start_program(command, "one")
        self.assert_lines(self.trace(by_number, shown, replace={"-p 1": f"-p {pid}"}), pid, "one")
        trace = self.start(awaited, f"{self.TRACING} {shown}").wait_for("waiting for a process python3", LIMIT)
        pid = self.start_program(command, "two")
        self.assert_lines(trace.wait_for("tracing", LIMIT), pid, "two")

    def assert_lines(self, trace, pid, name):
        """It works until a sample has its functions."""
        while not re.search(r"/bin/calling\.py:\d+ \((work|leaf)\)", trace.out):
            self.work(pid, name)
        trace.stop()
        self.vm.check(f"kill -9 {pid}")

    @answer("Which process makes the disk busy?", "How large are the requests to a disk?", "How fast is the disk?",
            "From where in the kernel does disk I/O come?")
    def test_disk_in_questions(self, *examples):
        self.vm.check(DISK)
        busy, large, fast, stacks = self.watch("dd if=/dev/loop6 of=/dev/null bs=64k count=16 2>/dev/null", *examples)
        self.vm.check("losetup -d /dev/loop6; rm /tmp/disk6")
        self.assertIn(["dd", "loop6", str(1 << 20)], rows(busy), busy.story())
        self.assertGreater(sum(of_key(large, "loop6").values()), 1, large.story())
        self.assertEqual(sum(of_key(fast, "read").values()), sum(of_key(large, "loop6").values()), fast.story())
        self.assertRegex(stacks.out, r"(?s)  dd +\n +vmlinux`\S+\n.*vmlinux`ksys_read", stacks.story())

    @only_full
    @answer("Who connects to whom?", "Who is connected to?", "Where does the guest send data to?", "How large are the segments of TCP?",
            "Does the network lose segments?", "Who asks name servers?")
    def test_network_in_questions(self, *examples):
        connects, accepts, sends, sizes, losses, names = self.watch(TCP, *examples)
        self.assertIn(["nc", "->", "127.0.0.1:7777"], rows(connects), connects.story())
        self.assertIn(["7777", "127.0.0.1", "1"], rows(accepts), accepts.story())
        self.assertGreater(keyed(sends.out)["127.0.0.1"], 6, sends.story())
        # one segment with "hello\n"
        self.assertEqual(sum(count for part in re.findall(r"(?m)((?:^ +-?\d+ \|.*\n)+)", sizes.out + "\n")
                             for low, count in distribution(part).items() if low == 4), 1, sizes.story())
        self.assertGreater(keyed(losses.out)["tcpOutSegs"], 4, losses.story())
        self.assertTrue(any(row[:2] == ["nslookup", "127.0.0.1"] for row in rows(names)), names.story())

    @only_full
    @answer("Who calls a kernel function?", "Who wakes whom?", "Which interrupts arrive?")
    def test_kernel_in_questions(self, *examples):
        calls, wakes, interrupts = self.watch("reads 10; for i in 1 2 3; do echo x | cat >/dev/null; sleep 0.1; done", *examples)
        self.assertRegex(calls.out, r"(?m)^ +vmlinux`vfs_open\n +vmlinux`do_open|^ +vmlinux`vfs_open\n +vmlinux`path_openat")
        self.assertTrue(any(len(row) == 3 and row[2].isdigit() and row[0].startswith("swapper") for row in rows(wakes)), wakes.story())
        told = self.vm.check("cat /proc/interrupts")
        seen = [row for row in rows(interrupts) if len(row) == 3 and row[2].isdigit()]
        self.assertTrue(seen, interrupts.story())
        for number, name, _ in seen:
            self.assertRegex(told, rf"(?m)^ *{number}:.*\b{re.escape(name)}\b")

    @answer("Which functions can be probed?", "What are a probe's arguments?", "What has a process mapped?")
    def test_listed_in_questions(self, functions, arguments, maps):
        listed = [line.split()[-2:] for line in self.done(functions).splitlines() if " fbt " in line]
        self.assertGreater(len(listed), 100)
        self.assertEqual([row for row in listed if not row[0].startswith("tcp_") or row[1] != "entry"], [])
        self.assert_known([function for function, _ in listed])
        self.assertRegex(self.done(arguments), r"args\[0\]: bufinfo_t \*\n\s*args\[1\]: devinfo_t \*\n\s*args\[2\]: fileinfo_t \*")
        told = self.vm.check("cat /proc/1/maps")
        self.assertEqual([line.split()[0] for line in self.done(maps).splitlines() if "/" in line],
                         [line.split()[0] for line in told.splitlines() if "/" in line])

    @answer("Where does the guest spend its time, as a picture?")
    def test_flame_in_questions(self, example):
        self.done(example, replace={"-d 30": "-d 1"})
        with open(self.path("flame.html"), encoding="utf-8") as f:
            page = f.read()
        self.assertGreater(len(json.loads(re.search(r'type="application/json">(.*?)</script>', page, re.S).group(1))), 1)

    @only_full  # stock.Stock.test_heatmap makes one
    @answer("How long do requests to disks take, over time, as a picture?")
    def test_heatmap_in_questions(self, example):
        self.vm.check(DISK)
        trace = self.start(example, "-i 100", replace={"-d 30": "-d 3"})
        while trace.process.poll() is None:
            self.vm.check("echo 3 >/proc/sys/vm/drop_caches; dd if=/dev/loop6 of=/dev/null bs=64k count=16 2>/dev/null")
        self.assertEqual(trace.finish(LIMIT), 0, trace.story())
        self.vm.check("losetup -d /dev/loop6; rm /tmp/disk6")
        self.assertIn("@[read]", [series["title"] for series in self.map("heatmap.html")["series"]])

    @answer("What do the guests of this host do?")
    def test_top_in_questions(self, example):
        titles, *rows = self.done(example).splitlines()
        self.assertEqual(titles.replace("*", "").split()[:4], ["GUEST", "PID", "VCPU", "%CPU"])
        self.assertIn(["web01", str(self.vm.pid), "2"], [row.split()[:3] for row in rows])

    @truth(*(text for text in TEXTS.values() if text not in KNOWN))
    def test_other_questions(self, *examples):
        """They compile for this guest."""
        for example in examples:
            with self.subTest(example.question):
                self.done(example, "-e")
        self.assertEqual([name for name in os.listdir(self.dir) if name.endswith(".html")], [])
