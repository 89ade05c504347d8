#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The guest's own tracepoints compared with the view from outside: exact on both views, in any state of the module."""
import re
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib import agent as ga
from lib.agent_scenario import AgentScenario
from lib.outsight import Trace, keyed, numbers
from lib.pace import rounds
from lib.scenario import main, only_full

GETPPID = 110
TRACING_OFF = "cd /sys/kernel/tracing && echo 0 >tracing_on && echo 0 >events/enable && echo 7 >buffer_size_kb && echo >trace"


class Views(AgentScenario):
    def test_none_without_the_module(self):
        """What only the module reports: its own tracepoints, and those whose events the kernel makes only once enabled."""
        for probe in ("sdt:::outsight_task", "sdt:raw_syscalls::sys_enter"):
            status, out, err = self.outsight.run(self.vm, "-qn", probe + " { exit(0); }")
            self.assertNotEqual(status, 0, out)
            self.assertIn("does not match any probes", err)

    @only_full
    def test_listing(self):
        """-lv shows a tracepoint with the types of its arguments."""
        self.load()
        status, out, err = self.outsight.run(self.vm, "-lvn", "sdt:sched::sched_switch")
        self.assertEqual(status, 0, err)
        self.assertRegex(out, r"sdt +sched +sched_switch")
        self.assertRegex(out, r"args\[0\]: _*[bB]ool")
        self.assertIn("args[1]: struct task_struct *", out)
        self.assertIn("args[2]: struct task_struct *", out)
        status, out, _ = self.outsight.run(self.vm, "-ln", "sdt:::")
        self.assertGreater(out.count("sdt"), 500)

    def test_both_views_count_the_same(self):
        """10,000 calls of four threads on four vCPUs, from inside and from outside."""
        self.load()
        program = (f"sdt:raw_syscalls::sys_enter /args[1] == {GETPPID}/ {{ @[view] = count(); }} "
                   "syscall::getppid:entry { @[view] = count(); }")
        for round_number in range(rounds(1, 3)):
            with self.subTest(round=round_number):
                job = self.vm.spawn("getppid_loop 4 10000 wait")
                job.wait_output("waiting")
                trace = self.outsight.trace(self.vm, program)
                job.send("go")
                job.wait_end()
                trace.stop()
                self.assertEqual(keyed(trace.out), {"inside": 40000, "outside": 40000}, trace.story())
        self.vm.check("rmmod outsight")
        self.assert_unharmed()

    def test_calls_of_32_bits(self):
        """64 is getppid there, and semget here: neither view counts it as anything."""
        self.load()
        trace = self.outsight.trace(self.vm, 'syscall:vmlinux:getppid:,syscall:vmlinux:semget: /execname == "abis"/ '
                                             "{ @[strjoin(view, strjoin(probefunc, probename))] = count(); }",
                                    "-x", "view=both")
        self.vm.check("abis 11 25")
        trace.stop()
        self.assertEqual(keyed(trace.out), {f"{view}getppid{name}": 11 for view in ("inside", "outside")
                                            for name in ("entry", "return")}, trace.story())

    def test_built_ins(self):
        """pid, tid, execname, cpu and arguments are those of the event, not of who runs when it is read."""
        self.load()
        program = (f"sdt:raw_syscalls::sys_enter /args[1] == {GETPPID} && execname == \"getppid_loop\"/ "
                   "{ @p[pid, execname] = count(); @c[cpu] = count(); @t[tid] = count(); "
                   "@same = sum(((struct task_struct *)curthread)->pid == tid); }")
        job = self.vm.spawn("getppid_loop 4 2000 wait")
        job.wait_output("waiting")
        pid = int(self.vm.check("pidof getppid_loop"))
        trace = self.outsight.trace(self.vm, program)
        job.send("go")
        job.done()
        trace.stop()
        rows = [line.split() for line in trace.lines if line.strip()]
        self.assertIn([str(pid), "getppid_loop", "8000"], rows, trace.story())
        for cpu in range(4):
            self.assertIn([str(cpu), "2000"], rows, trace.story())

    def test_view_option(self):
        """-x view: one program, either view or both; arguments, results and errno are the same on both."""
        self.load()
        program = ('syscall::openat:entry /execname == "cat"/ { self->path = 1; @a[view, "flags", arg2] = count(); } '
                   'syscall::openat:return /execname == "cat" && self->path/ { @a[view, "errno", errno] = count(); '
                   '@a[view, "failed", (int64_t)arg1 < 0] = count(); }')
        rows = {}
        for view in ("outside", "inside", "both"):
            trace = self.outsight.trace(self.vm, program, "-x", f"view={view}")
            self.vm.run("cat /nosuch")
            self.vm.run("cat /proc/version")
            trace.stop()
            rows[view] = sorted(tuple(line.split()) for line in trace.lines if len(line.split()) == 4)
            self.assertEqual({row[0] for row in rows[view]}, {"inside", "outside"} if view == "both" else {view},
                             trace.story())
        for view in ("outside", "inside"):
            self.assertIn((view, "errno", "2", "1"), rows[view], rows)
            self.assertEqual([row for row in rows["both"] if row[0] == view], rows[view])
        self.assertEqual([row[1:] for row in rows["inside"]], [row[1:] for row in rows["outside"]])

    def test_functions(self):
        """fbt by the guest's kprobes: as many entries and returns, with the same arguments and results."""
        self.load()
        program = ('fbt::vfs_write:entry /execname == "deepcall"/ { @[view, probename, '
                   'stringof(args[0]->f_path.dentry->d_name.name), args[2]] = count(); } '
                   'fbt::vfs_write:return /execname == "deepcall"/ { @[view, probename, "result", arg1] = count(); }')
        trace = self.outsight.trace(self.vm, program, "-x", "view=both")
        self.vm.check("deepcall /tmp/some-file 7")
        trace.stop()
        rows = sorted(tuple(line.split()) for line in trace.lines if len(line.split()) == 5)
        inside = [row[1:] for row in rows if row[0] == "inside"]
        self.assertEqual(inside, [row[1:] for row in rows if row[0] == "outside"], trace.story())
        self.assertIn(("entry", "some-file", "8192", "7"), inside, trace.story())
        self.assertIn(("return", "result", "8192", "7"), inside, trace.story())

    @only_full
    def test_compare(self):
        """One table: key, outside, inside, difference. What only one view has is 0 in the other."""
        self.load()
        program = ('syscall::getppid:entry /execname == "getppid_loop"/ { @[probefunc] = count(); } '
                   'sdt:raw_syscalls::sys_exit /execname == "getppid_loop" && args[1] == 12345/ { @["never"] = count(); } '
                   'syscall::write:entry /view == "outside" && execname == "getppid_loop"/ { @["one sided"] = count(); }')
        trace = Trace(self.outsight.binary, ["compare", "-g", self.vm.name, "-q", "-n", 'BEGIN { printf("tracing\\n"); }',
                                             "-n", program], self.outsight.environment(self.vm)).wait_for("tracing")
        self.vm.check("getppid_loop 4 5000")
        trace.stop()
        rows = [line.split() for line in trace.lines]
        self.assertIn(["outside", "inside", "difference"], rows, trace.story())
        self.assertIn(["getppid", "20000", "20000", "+0"], rows, trace.story())
        self.assertRegex(trace.out, r"(?m)^times inside are exact to [1-9]\d* ns$")
        sided = next(row for row in rows if row[:2] == ["one", "sided"])
        self.assertEqual(int(sided[2]), -int(sided[4]))
        self.assertEqual(sided[3], "0")

    def test_refused_by_the_guest(self):
        """A function in which the guest allows no kprobe: reported, not ignored."""
        self.load()
        status, _, err = self.outsight.run(self.vm, "-x", "view=inside", "-qn",
                                           "fbt::exc_int3:entry { @ = count(); } tick-1 { exit(0); }")
        self.assertEqual(status, 0, err)
        self.assertIn("1 probe refused by the guest", err)

    def test_view_without_the_module(self):
        """What only one view has fires there."""
        trace = self.outsight.trace(self.vm, "syscall::getppid:entry /execname == \"getppid_loop\"/ { @[view] = count(); }",
                                    "-x", "view=both")
        self.vm.check("getppid_loop 1 1000")
        trace.stop()
        self.assertEqual(keyed(trace.out), {"outside": 1000}, trace.story())

    def test_order_and_time(self):
        """Events of both views in one stream: times increase on each vCPU, and each return follows its entry."""
        self.load()
        program = (f"sdt:raw_syscalls::sys_enter /args[1] == {GETPPID} && execname == \"getppid_loop\"/ "
                   "{ printf(\"%s %d %d\\n\", view, cpu, timestamp); } "
                   "syscall::getppid:entry /execname == \"getppid_loop\"/ "
                   "{ printf(\"%s %d %d\\n\", view, cpu, timestamp); }")
        trace = self.outsight.trace(self.vm, program)
        self.vm.check("getppid_loop 2 500")
        trace.stop()
        rows = [line.split() for line in trace.lines if line.startswith(("inside", "outside"))]
        self.assertEqual(len(rows), 2000, trace.story())
        for cpu in {row[1] for row in rows}:
            mine = [row for row in rows if row[1] == cpu and row[0] == "inside"]
            times = [int(row[2]) for row in mine]
            self.assertEqual(times, sorted(times))
        # Entered the kernel, then the function: on one vCPU the two take turns, but for the clocks' error.
        inside = {cpu: [int(r[2]) for r in rows if r[1] == cpu and r[0] == "inside"] for cpu in {r[1] for r in rows}}
        outside = {cpu: [int(r[2]) for r in rows if r[1] == cpu and r[0] == "outside"] for cpu in {r[1] for r in rows}}
        apart = [b - a for cpu in inside for a, b in zip(inside[cpu], outside[cpu])]
        apart.sort()
        self.assertLess(abs(apart[len(apart) // 2]), 2000000, apart[::100])

    @only_full
    def test_sched_switch_names(self):
        """The task that a tracepoint's argument points to has the name in the guest's own trace. Pointers are
        followed a little later, so only tasks that keep their names are compared."""
        settled = {"reader", "writer", "looper"}
        self.load()
        self.vm.check("cd /sys/kernel/tracing && echo 0 >tracing_on && echo >trace && "
                      "echo 1 >events/sched/sched_switch/enable && echo 8192 >buffer_size_kb")
        program = ("sdt:sched::sched_switch { printf(\"S %d %s %d\\n\", cpu, "
                   "stringof(((struct task_struct *)args[1])->comm), ((struct task_struct *)args[1])->pid); }")
        with self.vm.load():
            # A pointer is followed a little later: each has its name by then, and for long.
            self.vm.check("while ! pidof spawner >/dev/null; do sleep 0.1; done; sleep 1")
            trace = self.outsight.trace(self.vm, program)
            self.vm.check("echo 1 >/sys/kernel/tracing/tracing_on; until [ $(grep -cE ' prev_comm=(reader|writer|looper) ' "
                          "/sys/kernel/tracing/trace) -gt 1000 ]; do sleep 1; done; echo 0 >/sys/kernel/tracing/tracing_on")
            trace.stop()
        text = self.vm.read_file("/sys/kernel/tracing/trace").decode()
        self.vm.check(TRACING_OFF)
        told = [(int(m.group(1)), m.group(2)) for m in
                re.finditer(r"\[(\d+)\].*sched_switch: prev_comm=(.*?) prev_pid=\d+ ", text)]
        seen = [line.split(None, 2)[1:] for line in trace.lines if line.startswith("S ")]
        self.assertGreater(len([name for _, name in told if name in settled]), 1000)
        # Ours began earlier and ended later: the guest's is a stretch of it, CPU by CPU.
        for cpu in range(4):
            ours = [rest.rsplit(None, 1)[0] for c, rest in seen if int(c) == cpu]
            ours = [name for name in ours if name in settled]
            theirs = [name for c, name in told if c == cpu and name in settled]
            if theirs:
                joined, part = "\n" + "\n".join(ours) + "\n", "\n" + "\n".join(theirs) + "\n"
                self.assertTrue(part in joined, f"cpu {cpu}: {theirs[:5]} … of {len(theirs)}; {ours[:5]} … of {len(ours)}")


class Unloading(AgentScenario):
    def test_unloaded_while_tracing(self):
        """rmmod in the middle of a trace: earlier events count, the outside view continues."""
        self.load()
        mine = 'execname == "getppid_loop"'
        trace = self.outsight.trace(self.vm, f"sdt:raw_syscalls::sys_enter /args[1] == {GETPPID} && {mine}/ "
                                             "{ @[view] = count(); } "
                                             f"syscall::getppid:entry /{mine}/ {{ @[view] = count(); }}")
        self.vm.check("getppid_loop 2 1000")
        self.vm.check("rmmod outsight")
        self.vm.check("getppid_loop 2 1000")
        trace.stop()
        self.assertEqual(keyed(trace.out), {"inside": 2000, "outside": 4000}, trace.story())
        self.assertNotIn("left behind", self.vm.check("dmesg"))
        self.assert_unharmed()

    def test_outsight_killed(self):
        """kill -9 of the operator's process: the engine turns everything off, and the module unloads at once."""
        self.load()
        trace = self.outsight.trace(self.vm, "sdt:raw_syscalls:: { @ = count(); }")
        trace.kill()
        agent = ga.Agent(self.vm)
        agent.wait(lambda: agent.header()["armed"] == 0, "the engine to turn the agent off")
        self.vm.check("rmmod outsight")
        self.assertNotIn("left behind", self.vm.check("dmesg"))
        self.assert_unharmed()

    @only_full
    def test_probed(self):
        """A probe in a module's text ends with the module, and begins again with the next load, in a trace of before too."""
        program = 'fbt:outsight:ga_poll:entry { @ = count(); } fbt:outsight:ga_poll:entry /++n == 7/ { printf("enough\\n"); }'
        self.load()
        old = self.outsight.trace(self.vm, program).wait_for("enough")
        self.vm.check("rmmod outsight")
        self.load()
        new = self.outsight.trace(self.vm, program).wait_for("enough")
        new.stop()
        self.assertGreater(numbers(new.out)[-1], 5, new.story())
        old.stop()
        self.assertGreater(numbers(old.out)[-1], numbers(new.out)[-1] + 5, old.story())
        for trace in (old, new):
            self.assertNotIn("lost", trace.err)
        self.assert_unharmed()

    @only_full
    def test_many_times_during_a_trace(self):
        """One trace, many loads of the module: what each passes on arrives, nothing is left behind, no warning."""
        self.load()
        trace = self.outsight.trace(self.vm, f"sdt:raw_syscalls::sys_enter /args[1] == {GETPPID} && "
                                             'execname == "getppid_loop"/ { @ = count(); }')
        expected = 0
        for _ in range(rounds(5, 50)):
            # A new one is found within a second; one that is unloaded before is not waited for.
            agent = ga.Agent(self.vm)
            agent.wait(lambda a=agent: a.header()["armed"] == 1, "the new module to be used")
            self.vm.check("getppid_loop 2 20")
            expected += 40
            self.vm.check("rmmod outsight && insmod /modules/outsight.ko")
        trace.stop()
        self.assertEqual(numbers(trace.out)[-1], expected, trace.story())
        self.assertNotIn("left behind", self.vm.check("dmesg"))
        self.vm.check("rmmod outsight")
        self.assert_unharmed()

    @only_full
    def test_many_times_while_traces_come_and_go(self):
        """rmmod and insmod at any moment of a session."""
        job = self.vm.spawn(f"i=0; while [ $i -lt {rounds(5, 50)} -o ! -e /tmp/enough ]; do insmod /modules/outsight.ko || exit 1; "
                            "sleep 0.2; rmmod outsight || exit 2; i=$((i + 1)); done")
        done = 0
        while not job.ended():
            self.outsight.run(self.vm, "-qn", "sdt:raw_syscalls:: { @ = count(); } tick-300ms { exit(0); }")
            done += 1
            if done == 4:
                self.vm.check("touch /tmp/enough")
        job.done()
        self.assertNotIn("left behind", self.vm.check("dmesg"))
        self.assert_unharmed()


if __name__ == "__main__":
    sys.exit(main())
