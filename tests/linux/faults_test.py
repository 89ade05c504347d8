#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Things end badly: outsight killed, QEMU killed, wrong words. The guest must not notice."""
import json
import os
import random
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.guest import GuestError
from lib.outsight import Trace, numbers
from lib.memory_group import MemoryGroup, NoGroup
from lib.pace import LIMIT, rounds
from lib.scenario import Scenario, main, only_full

KILLS = rounds(2, 20)


def listed(outsight, guest):
    """What `outsight guests` says."""
    done = subprocess.run([outsight.binary, "guests", "--json"], env=outsight.environment(guest), timeout=LIMIT,
                          capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


class Kill(Scenario):
    @only_full
    def test_outsight_under_load(self):
        """kill -9 at a random moment of a trace of every function; the workload's result stays right."""
        chance = random.Random(1)
        program = 'fbt:::entry /pid == 1/ { @[probefunc] = count(); }'
        with self.guest() as guest:
            for kill in range(KILLS):
                with self.subTest(kill=kill):
                    job = guest.spawn("getppid_loop 2 200000")
                    if kill % 2:
                        # Somewhere in attaching and enabling.
                        trace = self.outsight.start(guest, "-q", "-n", program)
                        time.sleep(chance.uniform(0, 2))
                    else:
                        # Every function's callback is in place.
                        trace = self.outsight.trace(guest, program)
                        time.sleep(chance.uniform(0, 0.5))
                    trace.kill()
                    self.assertRegex(job.done(600), r"^calls 400000 parent \d+$")
                    # The next one attaches at once, and sees all.
                    trace = self.outsight.trace(guest, 'syscall::read:entry /execname == "reads"/ { @ = count(); }')
                    guest.check("reads 300")
                    trace.stop()
                    self.assertEqual(numbers(trace.out), [300], trace.story())
            self.assertNotRegex(guest.console(), r"BUG|Oops|panic|WARNING")

    @only_full
    def test_qemu(self):
        """kill -9 of QEMU: outsight says so, prints what it has and ends with 1; it is no guest any more."""
        with self.own_guest(smp=1) as guest:
            trace = self.outsight.trace(guest, 'syscall::read:entry /execname == "reads"/ { @ = count(); } '
                                               'tick-10hz { printf("tick\\n"); }')
            guest.check("reads 500")
            # Two more ticks: what was collected by then has been handed over (aggrate 20hz).
            seen = trace.lines.count("tick")
            while trace.lines.count("tick") < seen + 4:
                time.sleep(0.05)
                self.assertIsNone(trace.process.poll(), trace.story())
            guest.kill()
            status = trace.finish()
            with self.assertRaises(GuestError):
                guest.check("true")
            # The dead guest's socket is still a file.
            self.assertNotIn(guest.name, [g["name"] for g in listed(self.outsight, guest)])
        self.assertEqual(status, 1, trace.story())
        self.assertRegex(trace.err, r"(?m)^dtrace: .*(ended|gone|exited)", trace.story())
        self.assertEqual(numbers(trace.out), [500], trace.story())


class TheEnd(Scenario):
    PROGRAM = 'syscall::read:entry /execname == "reads"/ { @ = count(); } fbt::vfs_read:entry { @all = count(); }'

    def ended(self, guest, how, expected=0):
        trace = self.outsight.trace(guest, self.PROGRAM)
        guest.check("reads 300")
        how()
        status = trace.finish()
        reads, all_reads = numbers(trace.out)
        self.assertEqual((status, reads), (expected, 300), trace.story())
        self.assertGreaterEqual(all_reads, 300)
        return trace

    @only_full
    def test_powered_off(self):
        """The guest powers itself off: all that was counted is printed, inline counters too; no error."""
        with self.own_guest(smp=1) as guest:
            trace = self.ended(guest, lambda: guest.spawn("sleep 0.1; poweroff -f"))
            self.assertRegex(trace.err, rf"(?m)^dtrace: guest {guest.name} powered off$", trace.story())

    # Memory in four backends: two nodes, of which the second has the vCPU, a DIMM of that node, and one to be
    # plugged. The second's is a file, the DIMM's a private mapping of one. New tasks are in the DIMM, which is
    # the only memory above 4 GiB.
    PIECES = ["-machine", "q35", "-m", "512M,slots=4,maxmem=8G",
              "-object", "memory-backend-ram,id=m0,size=256M",
              "-object", "memory-backend-memfd,id=m1,size=256M,share=on",
              "-object", "memory-backend-memfd,id=m2,size=256M,share=off",
              "-numa", "node,memdev=m0", "-numa", "node,memdev=m1,cpus=0",
              "-device", "pc-dimm,id=d2,memdev=m2,node=1"]

    def pieces_are_read(self, guest):
        """What is in the DIMM is found there: a task, and its name."""
        trace = self.outsight.trace(guest, 'syscall::read:entry /execname == "reads"/ '
                                           '{ @[((uint64_t)curthread - *(uint64_t *)&`page_offset_base) >> 32] = count(); }')
        guest.check("reads 200")
        trace.stop()
        self.assertEqual(trace.out.split()[1:], ["1", "200"], trace.story())

    def plugged_and_unplugged(self, guest):
        """Memory that comes or goes ends a session; what has gone is unmapped after that, and the guest runs on."""
        guest.check("echo offline > /sys/devices/system/memory/auto_online_blocks")

        def plug():
            guest.qemu_command("object_add memory-backend-ram,id=m3,size=128M")
            guest.qemu_command("device_add pc-dimm,id=d3,memdev=m3,node=0")

        def unplug():
            guest.qemu_command("device_del d3")
            end = time.monotonic() + LIMIT
            while "d3" in guest.qemu_command("info memory-devices"):
                self.assertLess(time.monotonic(), end, "the guest does not give the DIMM back")
                time.sleep(0.1)
            guest.qemu_command("object_del m3")

        for how in (plug, unplug):
            trace = self.ended(guest, how, expected=1)
            self.assertRegex(trace.err, rf"(?m)^dtrace: guest {guest.name} was given other memory or vCPUs", trace.story())
        self.assertNotIn("m3", guest.qemu_command("info memdev"))

    def test_rebooted(self):
        """The guest reboots and QEMU runs on: what is traced has ended. Before, its memory is in pieces that come and go."""
        for how in ("reboot -f", "system_reset")[:rounds(1, 2)]:
            with self.subTest(how=how), self.own_guest(smp=1, layout=self.PIECES, append="memhp_default_state=online",
                                                       qemu_args=["-action", "reboot=reset"]) as guest:
                self.pieces_are_read(guest)
                self.plugged_and_unplugged(guest)
                trace = self.ended(guest, lambda guest=guest, how=how: guest.qmp(how) if how == "system_reset"
                                   else guest.spawn(f"sleep 0.1; {how}"))
                self.assertRegex(trace.err, rf"(?m)^dtrace: guest {guest.name} rebooted: ", trace.story())
                self.assertTrue(guest.alive())


class Sessions(Scenario):
    def test_several_at_once(self):
        """Three sessions on one guest, started and ended at different times, each with its own counts."""
        programs = ['syscall::read:entry /execname == "reads"/ { @ = count(); }',
                    'syscall::read:return /execname == "reads"/ { @ = sum(arg1); }',
                    'fbt::vfs_read:entry /execname == "reads"/ { @ = sum(args[2]); }']
        with self.guest() as guest:
            first = self.outsight.trace(guest, programs[0])
            once = guest.check("reads 100")
            second = self.outsight.trace(guest, programs[1])
            third = self.outsight.trace(guest, programs[2])
            twice = guest.check("reads 200")
            third.stop()
            guest.check("reads 300")
            second.kill()
            guest.check("reads 400")
            first.stop()
        total = int(re.search(r"bytes (\d+)", twice).group(1))
        self.assertIn("reads 100", once)
        self.assertEqual(numbers(first.out), [1000], first.story())
        self.assertEqual(numbers(third.out), [total], third.story())

    @only_full
    def test_memory_limit(self):
        """A QEMU limited to 64 MiB more: buffers of 200 MiB are not charged to it, and larger requests are refused."""
        try:
            group = self.enterContext(MemoryGroup())
        except NoGroup as err:
            self.skipTest(str(err))
        with self.own_guest(smp=2) as guest:
            group.add(guest.pid)
            group.leave_room(64 << 20)
            job = guest.spawn("getppid_loop 2 1000000000")
            status, out, err = self.outsight.run(
                guest, "-q", "-b", "50m", "-x", "strsize=64k", "-x", "bufpolicy=ring", "-n",
                "syscall::getppid:entry { trace(probefunc); n++; } tick-10hz /n > 2000/ { exit(0); }")
            self.assertEqual(status, 0, err)
            # A ring holds almost 800 of these records; nearly all calls may have run on one vCPU.
            self.assertGreater(out.count("getppid"), 780)
            self.assertLess(group.usage(), 60 << 20)
            group.leave_room(2 << 20)
            status, out, err = self.outsight.run(guest, "-n", "syscall::getppid:entry { @ = count(); }")
            self.assertEqual(status, 1, out + err)
            self.assertRegex(err, r"would take up to .* MiB of the memory of its VMM")
            group.leave_room(1 << 30)
            guest.run("killall -q getppid_loop")
            job.wait_end()

    def test_exit_ends_the_trace(self):
        """exit() in a guest's probe ends outsight with that status."""
        with self.guest() as guest:
            trace = self.outsight.trace(guest, 'syscall::read:entry /execname == "reads"/ { exit(7); } '
                                               'END { printf("over\\n"); }')
            guest.check("reads 10")
            self.assertEqual(trace.finish(), 7, trace.story())
            self.assertIn("over", trace.lines)

    def test_paused_guest(self):
        """A guest that does not run can be attached and left; BEGIN and tick fire meanwhile."""
        with self.guest() as guest:
            guest.qmp("stop")
            trace = self.outsight.start(guest, "-q", "-x", "switchrate=20hz", "-n",
                                        'BEGIN { printf("begin\\n"); } tick-10hz { printf("tick\\n"); }')
            trace.wait_for("tick").stop()
            guest.qmp("cont")
            self.assertIn("reads 5 ", guest.check("reads 5"))

    def state(self, guest):
        return {g["pid"]: (g["state"], g["how"]) for g in listed(self.outsight, guest)}[guest.pid]

    @staticmethod
    def ticks(trace, enough):
        """What the lines "n COUNT" from now on say, until that is enough."""
        mark, end, counts = len(trace.lines), time.monotonic() + LIMIT, []
        while not enough(counts) and trace.process.poll() is None and time.monotonic() < end:
            time.sleep(0.1)
            counts = [int(line.split()[1]) for line in trace.lines[mark:] if line.startswith("n ")]
        return counts

    @only_full
    def test_paused_guest_gives_no_samples(self):
        """A running guest returns them, idle or busy; a paused guest returns none, and tracing continues."""
        with self.guest() as guest:
            job = guest.spawn("spin 3600")
            trace = self.outsight.trace(guest, 'profile-97 { @n = count(); } tick-4hz { printa("n %@d\\n", @n); '
                                               "clear(@n); }")
            trace.wait_for("n ")
            self.assertEqual(self.state(guest), ("running", "now"))
            guest.qmp("stop")
            self.assertEqual(self.state(guest), ("paused", "once resumed"))
            paused = self.ticks(trace, lambda counts: counts[-3:] == [0, 0, 0])[-3:]
            guest.qmp("cont")
            self.assertEqual(self.state(guest), ("running", "now"))
            running = self.ticks(trace, lambda counts: sum(counts) > 20)
            trace.stop()
            self.assertEqual(paused, [0, 0, 0], trace.story())
            self.assertGreater(sum(running), 20, trace.story())
            guest.run("killall spin")
            job.wait_end()


class BadInput(Scenario):
    def refused(self, guest, status, pattern, *args):
        got, out, err = self.outsight.run(guest, *args)
        lines = [line for line in err.splitlines() if line.strip()]
        hints = [line for line in lines if re.fullmatch(r"  \(.*\)", line)]
        self.assertEqual(got, status, err)
        self.assertEqual(out.strip(), "")
        self.assertEqual(len(lines) - len(hints), 1, err)
        self.assertLessEqual(len(hints), 1, err)
        self.assertRegex(lines[0], pattern)

    def test_wrong_words(self):
        """A probe, a function and a file that do not exist: one clear line each, with a hint at most."""
        with self.guest() as guest:
            self.refused(guest, 1, r"^dtrace: invalid probe specifier .*fbt::nosuch:entry.*probe",
                         "-n", "fbt::nosuch:entry { @ = count(); }")
            self.refused(guest, 1, r"^dtrace: invalid probe specifier .*nosuch", "-n", "BEGIN { nosuch(1); }")
            self.refused(guest, 1, r"does not match any probes: fbt:vmlinux:start_kernel:entry can't be enabled: init",
                         "-n", "fbt::start_kernel:entry { @ = count(); }")
            self.refused(guest, 1, r"^dtrace: this guest's probes need no traps", "-x", "trap=text", "-n", "BEGIN")
            self.refused(guest, 1, r"^dtrace: failed to open /nosuch\.d: No such file", "-s", "/nosuch.d")
            self.refused(guest, 1, r"^dtrace: .*--symbols|^dtrace: .*/nosuch", "--symbols", "/nosuch", "-l")

    def test_plan(self):
        """--plan where nothing needs a trap: the places all the same, and nothing is traced."""
        with self.guest() as guest:
            status, out, err = self.outsight.run(guest, "--plan", "-n", "syscall::read:entry,fbt::vfs_read:")
            self.assertEqual(status, 0, err)
            lines = [line.split() for line in out.splitlines()[1:]]
            self.assertEqual({line[1] for line in lines}, {"none"})
            places = [line[-1] for line in lines]
            self.assertIn("vmlinux`__x64_sys_read", [place.split("+")[0] for place in places])
            self.assertGreater(len([p for p in places if p.startswith("vmlinux`vfs_read")]), 1)

    def test_wrong_guest(self):
        """No such guest, a process that is no VMM, a QEMU without the engine."""
        with self.plain_guest() as plain:
            env = self.outsight.environment(plain)
            for target in ("nosuch", plain.name, str(plain.pid), str(os.getpid()), "/nosuch/socket"):
                with self.subTest(target=target):
                    trace = Trace(self.outsight.binary, ["-g", target, "-l"], env)
                    self.assertEqual(trace.finish(), 1, trace.story())
                    self.assertEqual(trace.out, "")
                    self.assertEqual(sum(1 for line in trace.errors if line), 1, trace.story())
                    self.assertTrue(trace.errors[0].startswith("dtrace: "), trace.story())
            self.assertIn("reads 5 ", plain.check("reads 5"))

    def test_full_disk(self):
        """-o to a full disk ends with an error; the guest is left alone."""
        with self.guest() as guest:
            trace = self.outsight.start(guest, "-q", "-x", "switchrate=20hz", "-o", "/dev/full", "-n",
                                        'tick-10hz { printf("x\\n"); }')
            self.assertEqual(trace.finish(), 1, trace.story())
            self.assertRegex(trace.err, r"(?m)^dtrace: .*No space left on device")
            self.assertIn("reads 5 ", guest.check("reads 5"))

    def test_engine_refuses_strangers(self):
        """The control socket is the owner's alone, and nonsense on it does not harm the guest."""
        with self.guest() as guest:
            path = os.path.join(guest.dir, "outsight")
            sockets = [os.path.join(path, name) for name in os.listdir(path)]
            self.assertEqual(len(sockets), 1, sockets)
            self.assertEqual(os.stat(sockets[0]).st_mode & 0o777, 0o600)
            script = ("import os, socket, sys\n"
                      "for size in (1, 7, 64, 4096, 60000):\n"
                      "    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
                      "    s.connect(sys.argv[1])\n"
                      "    try:\n"
                      "        s.send(os.urandom(size)); s.send(bytes(size))\n"
                      "    except OSError: pass\n"
                      "    s.close()\n")
            subprocess.run([sys.executable, "-c", script, sockets[0]], check=True, timeout=LIMIT)
            trace = self.outsight.trace(guest, 'syscall::read:entry /execname == "reads"/ { @ = count(); }')
            guest.check("reads 50")
            trace.stop()
            self.assertEqual(numbers(trace.out), [50], trace.story())


if __name__ == "__main__":
    sys.exit(main())
