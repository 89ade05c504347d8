#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The toolkit: each tool runs while a known load does, and prints what is known of it."""
import re
import sys
from typing import NamedTuple

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.pace import FULL
from lib.scenario import Scenario, main

DISK = ("dd if=/dev/zero of=/mnt/tool bs=4k count=8 conv=fsync; echo 3 >/proc/sys/vm/drop_caches; "
        "dd if=/mnt/tool of=/dev/null bs=4k; rm /mnt/tool")
# One connection over loopback: 9 bytes there, 6 back.
TCP = ("(echo hello; sleep 0.2) | nc -l -p 7777 >/tmp/there & until netstat -ltn | grep -q :7777; do :; done; "
       "echo hi-there | nc -w 2 127.0.0.1 7777; wait; rm /tmp/there")
SPIN = "spin 1 8"
ROW = r" \|[@ ]{40} +"


class Row(NamedTuple):
    """@load: a command in the guest. @expected: patterns, each of which must be in the output, if once the load has
    ended; a pattern with a group {name}: the number that the load itself printed as name. @default: always run."""
    tool: str
    load: str
    expected: tuple
    args: tuple = ()
    default: bool = False


ROWS = (
    Row("opensnoop", "cat /proc/version /nosuch", (r"cat +3 +0 /proc/version$", r"cat +-1 +2 /nosuch$"), ("cat",), True),
    Row("execsnoop", "env one two=2; /bin/true a b", (r" 0 +0 /bin/true a b$",), (), True),
    Row("exitsnoop", "/bin/sh -c 'exit 3'; true", (r" exit 3$",)),
    Row("statsnoop", "/bin/stat /nosuch", (r"stat +2 newfstatat +/nosuch$",), ("stat",)),
    Row("killsnoop", "kill -15 99999", (r"kill +99999 +15 +3$",)),
    Row("syncsnoop", DISK, (r"dd +fsync +\d+ +0 /mnt/tool$",)),
    Row("iosnoop", DISK, (r"dd +loop0 +W +\d+ +\d+ +\d+$", r"dd +loop0 +R +\d+ +\d+ +\d+$")),
    Row("iotop", DISK, (r"dd +loop0 +R +\d+$",)),
    Row("biolatency", DISK, (r"^loop0 W, us$", r"^loop0 R, us$", ROW + r"[1-9]"), (), True),
    Row("biosize", DISK, (r"^loop0 R, bytes$", rf"^ +(4096|8192|16384){ROW}[1-9]")),
    Row("bitesize", DISK, (r"^dd, bytes$", rf"^ +(4096|8192|16384){ROW}[1-9]")),
    Row("runqlat", SPIN, (r"^waiting for a CPU, us$", ROW + r"[1-9]")),
    Row("runqlen", SPIN, (r"^CPU 0$", r"^CPU 3$", rf"^ +[1-9]{ROW}[1-9]")),
    Row("offcpu", "sleep 0.3", (r"^  sleep$", r"^vmlinux`do_nanosleep\+0x", r"^ +(29|3\d)\d ms$|^ +[4-9]\d\d ms$"),
        ("sleep",)),
    Row("cpudist", SPIN, (r"^spin, us$", ROW + r"[1-9]"), ("spin",)),
    Row("cpuwalk", SPIN, (r"^spin$", rf"^ +[0-3]{ROW}[1-9]"), ("spin",)),
    Row("wakeuptime", "sleep 0.3", (r"^  sleep woken by \S+$", r"^vmlinux`try_to_wake_up(\+0x4)?$"), ("sleep",)),
    Row("syscount", "reads 5000", (r"^read +5000$",), ("1000", "1", "reads"), True),
    Row("syslat", "reads 500", (r"^read, ns$", ROW + r"[1-9]"), ("reads",)),
    Row("errsnoop", "cat /nosuch || true", (r"cat +2 openat$",), ("cat",)),
    Row("rwtop", "reads 500", (r"reads +read +{bytes}$",), ("1000",)),
    Row("filetop", "reads 500", (r"^reads +reads.dat +R +{bytes}$",), ("1000",)),
    Row("filelife", "echo a >/tmp/short-lived; rm /tmp/short-lived", (r"rm +\d+ short-lived$",)),
    Row("vfsstat", "reads 500", (r"^ +\d{3,}( +\d+){5}$",), ("1000",)),
    Row("vfscount", "reads 500", (r"^vfs_read +[5-9]\d\d$", r"^vfs_write +[1-9]"), ("1000",)),
    Row("fileslower", "reads 5", (r"reads +R +\d+ +\d+ reads.dat$", r"reads +W +65536 +\d+ reads.dat$"), ("0",)),
    Row("ext4slower", DISK, (r"dd +ext4_sync_file +\d+ tool$", r"dd +ext4_file_open +\d+ tool$"), ("0",)),
    Row("tcpconnect", TCP, (r"nc +127.0.0.1:\d+ +127.0.0.1:7777$",), ("nc",), True),
    Row("tcpaccept", TCP, (r"nc +127.0.0.1:7777 +127.0.0.1:\d+$",), ("nc",)),
    Row("tcplife", TCP, (r"nc +127.0.0.1:\d+ +127.0.0.1:7777 +1[01] +[67] +\d+$",)),
    Row("tcptop", TCP, (r"nc +127.0.0.1:7777 +W +9$", r"nc +127.0.0.1:7777 +R +6$"), ("1000",)),
    Row("tcpretrans", TCP, (r"^TIME +LOCAL +REMOTE +STATE$",)),
    Row("tcpstates", TCP, (r"127.0.0.1:7777 +state-syn-sent +state-established +\d+$",)),
    Row("udpsnoop", "nslookup -type=a nosuch 127.0.0.1 || true", (r"nslookup +W +\d+ 127.0.0.1:53 +\d+$",)),
    Row("netlat", TCP, (r"^connecting to 127.0.0.1, us$", r"^round trips to 127.0.0.1, us$", ROW + r"1\b")),
    Row("softirqs", SPIN, (r"^run_timer_softirq +[1-9]\d* +\d+$",), ("1000",)),
    Row("hardirqs", "true", (r" virtio0-\S+ +[1-9]\d* +\d+$",), ("1000",)),
    Row("timers", "sleep 2", (r"^vmlinux`\w+ +[1-9]\d* +\d+$",), ("1000",)),
    Row("lockstat", "sleep 2; echo a | cat", (r"^vmlinux`\S+ +[1-9]\d* +\d+$",), ("1000",)),
    Row("lockcontend", "mixed 3", (r"^  (\w+_slowpath|__mutex_lock\S*)$", r"^ +\d+ us$")),
    Row("slabtop", "true; true", (r"^task_struct +[1-9]\d* +\d+ +\d+$",), ("1000",)),
    Row("kmemleaks", "touch /tmp/kept; rm /tmp/kept", (r"^\S+ +vmlinux`\S+ +[1-9]\d* +\d+$",)),
    Row("pagefaults", "/bin/true", (r"^true +[1-9]\d* +0$",), ("1000",)),
    Row("oomkill", "true", (r"^ VICTIM PROGRAM",)),
    Row("swapin", "true", (r"PID PROGRAM +PAGES +us$",), ("1000",)),
    Row("forks", "/bin/true; /bin/true", (r"^ +\d+ +\d+ sh$",), (), True),
    Row("threads", "getppid_loop 3 10", (r"^ +\d+ +\d+ getppid_loop$",), ("getppid_loop",)),
    Row("modsnoop", "rmmod dummy; insmod /modules/dummy.ko", (r"rmmod +unload +dummy$", r"insmod +load +dummy$")),
    Row("hotkernel", SPIN, (r"^vmlinux`\S+ +[1-9]\d*$", r"^all in the kernel +[1-9]")),
    Row("profile", SPIN, (r"^  spin$", r"^--$"), ("spin",)),
    Row("functime", "reads 500", (r"^vfs_read, ns$", ROW + r"[1-9]"), ("vfs_read",)),
    Row("funccount", "reads 500", (r"^ksys_read +[5-9]\d\d$",), ("ksys_*",)),
    Row("functrace", "reads 5", (r"reads +vfs_read +[0-9a-f]+ [0-9a-f]+ [0-9a-f]+ [0-9a-f]+$",), ("vfs_read", "reads")),
    Row("argdist", "reads 500", (r"^vfs_read, argument 2$", ROW + r"[1-9]"), ("vfs_read", "2")),
    Row("argdist", "reads 500", (r"^vfs_read, result$", ROW + r"[1-9]"), ("vfs_read", "r")),
    Row("stackcount", "reads 500", (r"^vmlinux`vfs_read(\+0x4)?$", r"^vmlinux`ksys_read\+0x", r"^ +500$"), ("vfs_read", "reads")),
)


class Tools(Scenario):
    def run_row(self, guest, row):
        trace = self.outsight.tool(guest, row.tool, *row.args)
        status, said = guest.run(row.load)  # some loads fail, and that is what their tool shows
        trace.stop()
        own = re.search(r"bytes (\d+)", said)
        for pattern in row.expected:
            pattern = pattern.replace("{bytes}", own.group(1) if own else "")
            self.assertRegex(trace.out, re.compile(pattern, re.M), f"{trace.story()}\nthe load: {status} {said}")

    def test_tools(self):
        """What each prints about its load; without OUTSIGHT_FULL=1 the rows with default."""
        rows = [row for row in ROWS if FULL or row.default]
        with self.guest() as guest:
            for row in rows:
                with self.subTest(tool=row.tool, args=row.args):
                    self.run_row(guest, row)


if __name__ == "__main__":
    sys.exit(main())
