#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The cpc provider on /dev/kvm: cpc_test.py OUTSIGHT SMALL-GUEST. Ends with 77 where there is no KVM.

The host's clock is the event, which needs no PMU. The truth is the kernel's own record of each overflow: a record in the
ring of each counter, 8 bytes each, which this process maps too."""
import ctypes
import mmap
import os
import re
import signal
import subprocess
import time
import unittest

from small_guest import OUTSIGHT, GuestTest, counts_of, main
from lib.pace import limit

PERIOD = 2000000
CLOCK = f"cpc:::cpu_clock-all-{PERIOD}"
FIRINGS = 100
RECORD = 8
DATA_HEAD = 1024  # in struct perf_event_mmap_page
GETFD = 438


def counters_of(pid):
    """The descriptors of a process's perf events."""
    found = []
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            if os.readlink(f"/proc/{pid}/fd/{fd}") == "anon_inode:[perf_event]":
                found.append(int(fd))
        except FileNotFoundError:
            pass
    return found


class Counter:
    """A perf event of another process."""

    def __init__(self, pid, fd):
        pidfd = os.pidfd_open(pid)
        self.fd = ctypes.CDLL(None, use_errno=True).syscall(GETFD, pidfd, fd, 0)
        os.close(pidfd)
        if self.fd < 0:
            raise unittest.SkipTest(f"pidfd_getfd: {os.strerror(ctypes.get_errno())}")
        self.page = mmap.mmap(self.fd, 2 * mmap.PAGESIZE, mmap.MAP_SHARED, mmap.PROT_READ)

    def overflows(self):
        return int.from_bytes(self.page[DATA_HEAD:DATA_HEAD + 8], "little") // RECORD

    def value(self):
        return int.from_bytes(os.read(self.fd, 8), "little")

    def close(self):
        self.page.close()
        os.close(self.fd)


class Cpc(GuestTest):
    def start(self, vm, program):
        """A tracer, which has said that it fires."""
        tracer = subprocess.Popen(vm.command(program + 'tick-100ms { printf("on\\n"); }', "-x", "switchrate=10ms"),
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(lambda: (tracer.kill(), tracer.communicate()))
        if "on" not in tracer.stdout.readline():
            self.fail(tracer.communicate()[1])
        return tracer

    def stop(self, tracer):
        tracer.send_signal(signal.SIGINT)
        out, err = tracer.communicate(timeout=limit(60))
        self.assertEqual(tracer.returncode, 0, err)
        return out

    def run_on(self, vm, *args):
        return subprocess.run([OUTSIGHT, "-g", vm.socket, "--no-cache", "--vmlinux", vm.kernel, *args],
                              capture_output=True, text=True, timeout=limit(60), check=False)

    def await_counters(self, vm, n):
        end = time.monotonic() + limit(60)
        while len(counters_of(vm.process.pid)) != n:
            self.assertLess(time.monotonic(), end, counters_of(vm.process.pid))
            time.sleep(0.01)

    @unittest.skipUnless(hasattr(os, "pidfd_open"), "no pidfd_open here")
    def test_truth(self):
        """Every overflow fires, or the next firing tells that it was missed; and none fires that the clock did not count."""
        vm = self.vm(2)
        tracer = self.start(vm, CLOCK + " { @n = count(); @m = sum(arg2); } "
                                'END { printf("all"); printa(" %@d", @n); printa(" %@d\\n", @m); }')
        counters = [Counter(vm.process.pid, fd) for fd in counters_of(vm.process.pid)]
        self.assertEqual(len(counters), 2)
        for c in counters:
            self.addCleanup(c.close)
        before = sum(c.overflows() for c in counters)
        end = time.monotonic() + limit(60)
        while sum(c.overflows() for c in counters) < before + FIRINGS:
            self.assertLess(time.monotonic(), end)
            time.sleep(0.01)
        least = sum(c.overflows() for c in counters) - before
        out = self.stop(tracer)
        most, value = (sum(of(c) for c in counters) for of in (Counter.overflows, Counter.value))
        fired, missed = (int(n) for n in re.search(r"all (\d+) (\d+)", out).groups())
        # A vCPU may be on its way out with one when the tracing ends.
        self.assertGreaterEqual(fired + missed, least - len(counters))
        self.assertLessEqual(fired + missed, most)
        self.assertLessEqual(fired + missed, value // PERIOD + len(counters))
        self.assertGreater(fired, FIRINGS / 2)
        self.await_counters(vm, 0)
        self.check_unharmed(vm)

    def test_arguments(self):
        """As profile's: where the guest is, in its kernel; there its stack begins."""
        out = self.vm(2).trace(CLOCK + r' { printf("\n%a %d %d", arg0, arg1, cpu); stack(1); n++; } ' +
                               CLOCK + " /n > 50/ { exit(0); }")
        firings = re.findall(r"(?m)^(\S+) (\d+) ([01])\n +(\S+)\n", out)
        self.assertGreaterEqual(len(firings), 50, out)
        for place, user, _, top in firings:
            self.assertRegex(place, r"^vmlinux`\w+")
            self.assertEqual((user, top), ("0", place))

    def test_modes(self):
        """This guest has no user code."""
        out = self.vm(2).trace(f"cpc:::cpu_clock-user-{PERIOD} {{ @[\"user\"] = count(); }} "
                               f"cpc:::cpu_clock-kernel-{PERIOD} {{ @[\"kernel\"] = count(); n++; }} "
                               f"cpc:::cpu_clock-kernel-{PERIOD} /n > 20/ {{ exit(0); }}")
        self.assertEqual(set(counts_of(out)), {("kernel",)})

    def test_beside_others(self):
        """Traps and profile in the same session."""
        vm = self.vm(2)
        out = vm.trace(CLOCK + " { @[\"clock\"] = count(); c++; } profile-97 { @[\"profile\"] = count(); p++; } "
                       "fbt::probed_nop:entry { @[\"nop\"] = count(); } profile-97 /c > 20 && p > 20/ { exit(0); }")
        self.assertEqual(set(counts_of(out)), {("clock",), ("profile",), ("nop",)})
        self.check_unharmed(vm)

    def test_shared_and_closed(self):
        """Two sessions share the counters of an event, which go with the last of them, even if it is killed."""
        vm = self.vm(2)
        self.assertEqual(counters_of(vm.process.pid), [])
        first = self.start(vm, CLOCK + " { @ = count(); } ")
        self.assertEqual(len(counters_of(vm.process.pid)), 2)
        second = self.start(vm, CLOCK + f" {{ @ = count(); }} cpc:::task_clock-all-{PERIOD} {{ @t = count(); }} ")
        self.assertEqual(len(counters_of(vm.process.pid)), 4)
        first.kill()
        first.wait()
        second.kill()
        second.wait()
        self.await_counters(vm, 0)
        self.check_unharmed(vm)

    def test_no_pmu(self):
        """An event of the CPU's fires; or -lv, the message and `doctor` say why it can't be counted here."""
        vm = self.vm(1)
        probe = "cpc:::instructions-all-100000"
        doctor = subprocess.run([OUTSIGHT, "doctor"], capture_output=True, text=True, timeout=limit(60), check=False).stdout
        if re.search(r"(?m)^cpc +yes", doctor):
            out = vm.trace(f"{probe} {{ n++; }} {probe} /n > 100/ {{ printf(\"%d\", n); exit(0); }}")
            self.assertEqual(out.strip(), "101")
            return
        reason = re.search(r"(?m)^cpc +no: (.*)$", doctor)[1]
        done = self.run_on(vm, "-lv", "-n", probe)
        self.assertIn(f"\n\tCannot be enabled: {reason}\n", done.stdout)
        done = self.run_on(vm, "-n", probe)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"does not match any probes: {probe} can't be enabled: {reason}\n", done.stderr)
        # a wildcard matches those that can be
        done = self.run_on(vm, "-l", "-n", "cpc:::*-1000000000")
        self.assertIn("cpu_clock-all-1000000000", done.stdout)
        self.assertNotIn("instructions", done.stdout)

    def test_names(self):
        vm = self.vm(1)
        for name, reason in (("cpu_clock-all-5000", "200000 is the smallest: cpc:::cpu_clock-all-200000"),
                             ("cpu_clock-usr-5000000", "a mode is user, kernel or all"),
                             ("cpu_clok-all-5000000", "did you mean the event cpu_clock?")):
            done = self.run_on(vm, "-n", f"cpc:::{name}")
            self.assertEqual(done.returncode, 1)
            self.assertIn(reason, done.stderr)


if __name__ == "__main__":
    main()
