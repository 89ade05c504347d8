#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Providers of memory management on a stock kernel, without anything in the guest: vmstat and vminfo against
/proc/vmstat and the kernel's own counters, dtmalloc against histograms of the guest's own tracing."""
import collections
import re
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.outsight import keyed
from lib.scenario import Scenario, main, only_full

# Processes that copy pages, a program that touches 1024 new ones, pages that are locked and files that are forgotten.
LOAD = ("for i in 1 2 3 4 5 6 7 8 9 10; do (:); ls / >/dev/null; done; dd if=/dev/zero of=/dev/null bs=4M count=1 2>/dev/null; "
        "dd if=/dev/zero of=/tmp/mem bs=64k count=32 2>/dev/null; cat /tmp/mem >/dev/null; rm /tmp/mem; "
        "sync; echo 1 >/proc/sys/vm/drop_caches")
EVENTS = "/sys/kernel/tracing/events/kmem"
# What the load must have counted for the comparison to mean something.
BUSY = ("pgfault", "pgreuse", "pgfree", "drop_pagecache")


def vmstat(text):
    return {name: int(value) for name, value in (line.split() for line in text.splitlines())}


def signed_keyed(lines, columns):
    """Lines 'tag key… value' of aggregations that printa() has printed."""
    found = collections.defaultdict(dict)
    for line in lines:
        words = line.split()
        if len(words) == columns + 2:
            found[words[0]][tuple(words[1:-1])] = int(words[-1])
    return found


class Vmstat(Scenario):
    def test_listing(self):
        """Each item of the kernel is listed; those that are found by an index can't be enabled, with the reason."""
        with self.guest() as guest:
            items = vmstat(guest.check("cat /proc/vmstat"))
            _, out, err = self.outsight.run(guest, "-lv", "-P", "vmstat")
            _, info, _ = self.outsight.run(guest, "-lv", "-P", "vminfo")
        names = re.findall(r"(?m)^ *\d+ +vmstat +vmlinux +(\w+) *$", out)
        refused = re.findall(r"(?m)^ *\d+ +vmstat +vmlinux +(\w+) *\n\n\tCannot be enabled: (.*)", out)
        self.assertEqual([name for name in names if name not in items], [], err)
        self.assertLess(len(refused), len(names) // 2, out)
        self.assertIn("pgfault", names)
        for name, why in refused:
            self.assertNotIn(name, BUSY)
            self.assertIn("by an index", why)
        self.assertIn("pgalloc_normal", [name for name, _ in refused])
        self.assertEqual(re.findall(r"(?m)^\tCannot be enabled: (.*)", info), [], info)

    def test_counters(self):
        """By as much as each CPU's counter has grown from the first event to the last, the events have counted."""
        program = ('vmstat::: { @lo[probename, cpu] = min(*args[1]); @hi[probename, cpu] = max(*args[1] + arg0); '
                   '@sum[probename, cpu] = sum(args[0]); } '
                   'END { printa("lo %s %d %@d\\n", @lo); printa("hi %s %d %@d\\n", @hi); '
                   'printa("sum %s %d %@d\\n", @sum); }')
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program)
            guest.check(LOAD)
            trace.stop()
        found = signed_keyed(trace.lines, 2)
        self.assertTrue(found["sum"], trace.story())
        grown = {key: found["hi"][key] - found["lo"][key] for key in found["sum"]}
        self.assertEqual(found["sum"], grown, trace.story())
        seen = collections.Counter()
        for (name, _), value in found["sum"].items():
            seen[name] += value
        for name in BUSY:
            self.assertGreater(seen[name], 0, trace.story())
        self.assertEqual(seen["drop_pagecache"], 1, trace.story())

    @only_full
    def test_proc(self):
        """/proc/vmstat has grown by what was counted between the two moments at which it was added up."""
        program = ("int at; fbt::vmstat_start:entry, fbt::vmstat_start:return { at++; } "
                   "vmstat::: { @[probename, at] = sum(arg0); } "
                   'END { printf("moments %d\\n", at); printa("n %s %d %@d\\n", @); }')
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program)
            before = vmstat(guest.check("cat /proc/vmstat"))
            guest.check(LOAD)
            after = vmstat(guest.check("cat /proc/vmstat"))
            trace.stop()
        moments = int(re.search(r"moments (\d+)", trace.out).group(1))
        self.assertTrue(moments and moments % 4 == 0, trace.story())
        least, most = collections.Counter(), collections.Counter()
        for (name, at), value in signed_keyed(trace.lines, 2)["n"].items():
            least[name] += value if int(at) == moments // 2 else 0
            most[name] += value if 0 < int(at) < moments else 0
        for name in most:
            unit = 2 if name in ("pgpgin", "pgpgout") else 1  # sectors are counted, kilobytes are shown
            grown = after[name] - before[name]
            self.assertLessEqual(least[name] // unit, grown, f"{name}\n{trace.story()}")
            self.assertLessEqual(grown, -(-most[name] // unit), f"{name}\n{trace.story()}")
        for name in BUSY:
            self.assertGreater(least[name], 0, trace.story())


class Vminfo(Scenario):
    def test_faults(self):
        """Solaris's names: as_fault is pgfault; a program touches 1024 new pages, and a child copies its parent's."""
        program = ('vmstat:::pgfault { @["pgfault"] = sum(arg0); } vminfo:::as_fault { @["as_fault"] = sum(args[0]); } '
                   'vminfo:::zfod /execname == "dd"/ { @["zfod"] = sum(1); } '
                   'vminfo:::dfree { @["dfree"] = sum(arg0); } vmstat:::pgfree { @["pgfree"] = sum(arg0); } '
                   'vminfo:::cow_fault { @["cow"] = sum(1); } vmstat:::pgreuse { @["reuse"] = sum(arg0); } '
                   'vminfo:::prot_fault /execname == "ls"/ { @["prot"] = sum(1); }')
        with self.guest() as guest:
            guest.check("echo never >/sys/kernel/mm/transparent_hugepage/enabled || :")
            trace = self.outsight.trace(guest, program)
            guest.check(LOAD)
            trace.stop()
        seen = keyed(trace.out)
        self.assertEqual(seen["as_fault"], seen["pgfault"], trace.story())
        self.assertEqual(seen["dfree"], seen["pgfree"], trace.story())
        self.assertGreaterEqual(seen["zfod"], 1024, trace.story())
        self.assertLess(seen["zfod"], 1024 + 400, trace.story())  # what else the two programs need
        self.assertGreaterEqual(seen["cow"], seen["reuse"], trace.story())
        self.assertGreaterEqual(seen["cow"], 10, trace.story())
        self.assertNotIn("prot", seen, trace.story())


def small(sizes):
    """The allocations of kmalloc that a cache serves."""
    return {size: count for size, count in sizes.items() if int(size) <= 8192}


class Dtmalloc(Scenario):
    EVENTS = {"kmem_cache_alloc": "bytes_req", "kmalloc": "bytes_alloc", "kmem_cache_free": "name"}

    def truth(self, guest, load):
        """{event: {key: count}} by the guest's own histograms, of processes whose name is kp."""
        found = {}
        for event in self.EVENTS:
            text = guest.check(f"cat {EVENTS}/{event}/hist")
            self.assertEqual(re.findall(r"Dropped: (\d+)", text), ["0"], load)
            found[event] = {m.group(1): int(m.group(2))
                            for m in re.finditer(r"\{ \w+:\s*(\S+)[^}]*\} hitcount:\s*(\d+)", text)}
        return found

    def triggers(self, guest, sign=""):
        for event, key in self.EVENTS.items():
            guest.check(f"echo '{sign}hist:keys={key} if COMM == \"kp\"' >{EVENTS}/{event}/trigger")

    def between(self, least, seen, most, trace):
        """A process whose parent has seen its end may still be about to leave its vCPU, where an interrupt frees in its
        name: what was counted is held against the guest's numbers of just before the session's end and just after."""
        for key in {*least, *seen, *most}:
            counts = [table.get(key, 0) for table in (least, seen, most)]
            self.assertEqual(counts, sorted(counts), f"{key}: {trace.story()}")

    def test_histograms(self):
        """Allocations of each size and objects freed of each cache are as many as the guest itself counts."""
        program = ('dtmalloc:::malloc /execname == "kp"/ { @[substr(probefunc, 0, 7) == "kmalloc" ? "kmalloc" : "cache", '
                   'args[3], args[0]->size, args[0]->object_size] = count(); } '
                   'dtmalloc::filp:free, dtmalloc::dentry:free, dtmalloc::vm_area_struct:free, dtmalloc::pid:free, '
                   'dtmalloc::kmalloc-*:free /execname == "kp"/ { @free[probefunc] = count(); } '
                   'END { printa("malloc %s %d %d %d %@d\\n", @); printa("free %s %@d\\n", @free); }')
        load = "for i in 1 2 3 4 5 6; do (:); cat /proc/uptime >/tmp/kp.out; done"
        with self.guest() as guest:
            self.triggers(guest)
            try:
                trace = self.outsight.trace(guest, program)
                guest.check(f"sh -c 'printf kp >/proc/$$/comm; {load}'")
                least = self.truth(guest, load)
                trace.stop()
                most = self.truth(guest, load)
            finally:
                self.triggers(guest, "!")
        caches, kmallocs = collections.Counter(), collections.Counter()
        for (kind, bytes_, size, object_size), count in signed_keyed(trace.lines, 4)["malloc"].items():
            if kind == "cache":
                caches[object_size] += count
                self.assertEqual(bytes_, object_size, trace.story())
            else:
                kmallocs[size] += count
                self.assertLessEqual(int(bytes_), int(size), trace.story())
        self.between(least["kmem_cache_alloc"], caches, most["kmem_cache_alloc"], trace)
        self.between(small(least["kmalloc"]), kmallocs, small(most["kmalloc"]), trace)
        freed = {name: count for (name,), count in signed_keyed(trace.lines, 1)["free"].items()}
        # what RCU frees is freed by whatever runs when its grace period is over: sometimes no process of the load
        self.assertGreater(sum(freed.values()), 0, trace.story())
        named = ("filp", "dentry", "vm_area_struct", "pid")
        self.between(*({name: table.get(name, 0) for name in named}
                       for table in (least["kmem_cache_free"], freed, most["kmem_cache_free"])), trace)
        self.assertTrue(any(name.startswith("kmalloc") for name in freed), trace.story())

    def test_object(self):
        """What a cache gives is what it takes back, when RCU's grace period is over; each open file is one."""
        program = ('int n; int back; int done; dtmalloc::filp:malloc /execname == "kp"/ { n++; was[(uintptr_t)args[1]] = 1; '
                   '@["name"] = sum(stringof((char *)args[0]->name) == "filp"); @["caller"] = sum(args[2] != 0); } '
                   'dtmalloc::filp:free /was[(uintptr_t)args[1]]/ { was[(uintptr_t)args[1]] = 0; back++; } '
                   'syscall::kill:entry /execname == "kp" && arg1 == 0/ { done = 1; } '
                   'dtmalloc::filp:free, syscall::kill:return /done && n == back/ { printf("%d\\n", n); exit(0); }')
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program)
            guest.check("sh -c 'printf kp >/proc/$$/comm; for i in 1 2 3 4 5 6 7; do : </proc/uptime; done; kill -0 $$'")
            self.assertEqual(trace.finish(), 0, trace.story())
        given = int(re.search(r"(?m)^(\d+)$", trace.out).group(1))
        self.assertGreaterEqual(given, 7, trace.story())
        self.assertEqual(keyed(trace.out).get("name"), given, trace.story())
        self.assertEqual(keyed(trace.out).get("caller"), given, trace.story())


if __name__ == "__main__":
    sys.exit(main())
