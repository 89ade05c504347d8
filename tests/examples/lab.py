# SPDX-License-Identifier: GPL-2.0-or-later
"""Examples on stock kernels on a KVM that runs them well: here, or in scripts/kvm-lab's host."""
import re
import shlex
import time

from lib.guest import Guest, image_dir
from lib.outsight import keyed
from truths import LIMIT, Examples, truth

KERNEL = "6.1"
QEMU = "qemu-system-x86_64 -accel kvm -m 1G -smp 2 … & PID=$!"
RUN = ("outsight run --vmm builtin --kernel bzImage --initrd initrd.img --smp 2 -- "
       "-n 'syscall:::entry { @[execname] = count(); }'")


class DocumentedGuest(Guest):
    """Its QEMU is started by the README's own words, with a kernel in place of the "…"."""

    STARTED_ANEW = False

    def __init__(self):
        super().__init__(KERNEL, memory=1 << 30, cpu="host")

    def command(self):
        rest = super().command()
        for option in ("-accel", "-machine", "-object", "-smp"):
            at = rest.index(option)
            del rest[at:at + 2]
        return shlex.split(QEMU.replace(" … & PID=$!", "")) + ["-machine", "q35"] + rest[1:]


class Kvm(Examples):
    def setUp(self):
        super().setUp()
        image = image_dir(KERNEL)
        self.link(bzImage=f"{image}/vmlinuz", initrd_img=f"{image}/initrd")

    @truth(QEMU, "outsight attach $PID", "outsight -g $PID -n 'syscall:::entry { @[execname] = count(); }'",
           "outsight detach $PID", "outsight -g $PID -n 'profile-99 { @[func(arg0)] = count(); }'",
           "outsight -g $PID -l -n 'fbt::vfs_*:'")
    def test_sequence(self, _, attach, calls, detach, profile, listed):
        """One after the other, as in the README: after the detach the guest is sampled externally."""
        guest = self.enterContext(DocumentedGuest())
        self.env["XDG_RUNTIME_DIR"] = guest.dir
        pid = {"replace": {"$PID": str(guest.pid)}}
        self.assertRegex(self.done(attach, **pid), "attached in .* 2 vCPUs")
        trace = self.trace(calls, **pid)
        self.assertRegex(guest.check("reads 3000"), "reads 3000")
        trace.stop()
        # A read and a seek each; a program's start and end take fewer than a hundred calls.
        self.assertIn(keyed(trace.out)["reads"], range(6000, 6100), trace.story())
        self.assertEqual(self.done(detach, **pid).strip(), f"{guest.pid}: detached")
        load = guest.spawn("sh -c 'while [ ! -e /tmp/enough ]; do ls -l /bin >/dev/null; done'")
        trace = self.trace(profile, **pid)
        time.sleep(4)
        trace.stop()
        self.assertRegex(trace.err, "sampled from outside")
        names = [name for name in keyed(trace.out) if name.startswith("vmlinux`")]
        self.assertGreater(len(names), 3, trace.story())
        self.assertEqual(self.unknown(guest, [name.split("`")[1] for name in names]), "")
        guest.check("touch /tmp/enough")
        load.wait()
        functions = {line.split()[-2] for line in self.done(listed, **pid).splitlines() if line.endswith(" entry")}
        self.assertEqual(self.unknown(guest, functions), "")
        traceable = guest.check("grep ^vfs_ /sys/kernel/tracing/available_filter_functions | cut -d' ' -f1").split()
        self.assertGreater(len(traceable), 30)
        self.assertLessEqual(set(traceable), functions)

    @staticmethod
    def unknown(guest, names):
        """Those that are not in the guest's own /proc/kallsyms."""
        guest.check("[ -e /tmp/names ] || cut -d' ' -f3 /proc/kallsyms | sort -u >/tmp/names")
        asked = " ".join(shlex.quote(name) for name in sorted(names))
        return guest.check(f"for n in {asked}; do grep -qxF $n /tmp/names || echo $n; done")

    @truth(RUN)
    def test_run_builtin(self, example):
        """The guest's only program makes system calls: that many of one kind end the trace."""
        trace = self.start(example, "-x maxcost=0 -n 'syscall::getppid:entry /execname == \"getppid_loop\" && ++n == 1000/ "
                           "{ exit(5); }'",
                           replace={" -- ": " --append 'console=ttyS0 quiet rdinit=/bin/getppid_loop -- 1 1000000000' -- "})
        self.assertEqual(trace.finish(LIMIT), 5, trace.story())
        count = int(re.search(r"^  getppid_loop +(\d+)$", trace.out, re.M).group(1))
        self.assertIn(count, range(1000, 1200), trace.story())
