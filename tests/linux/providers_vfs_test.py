#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""fsinfo, vfs, sysinfo, lockstat, callout_execute of a stock kernel, without anything in the guest: counts and arguments
against what a load is known to do, and against what the guest's own tracing counts."""
import contextlib
import re
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.outsight import keyed
from lib.scenario import Scenario, main, only_full
from lib.truth import BUFFER_KB, EMPTY_KB, TRACING, Truth, agree, note

# Each program does to one file after the other what it is named for.
LOAD = ("cd /tmp && mkdir v && cd v && mkdir d1 d2 d3 && rmdir d1 d2 && "
        "dd if=/proc/self/exe of=a bs=10 count=7 2>/dev/null && ln a b && ln -s a s1 && ln -s a s2 && "
        "mv b c && readlink s1 >/dev/null && readlink s2 >/dev/null && mknod p p && chmod 600 a && chmod 640 c && "
        "ls d3 >/dev/null && dd if=a of=e bs=10 conv=fsync 2>/dev/null && rm p s1 s2 a; cd / && rm -r /tmp/v")

# Probe, the program it fires in, and how often the load makes it fire there.
KNOWN = (("mkdir", "mkdir", 4), ("rmdir", "rmdir", 2), ("link", "ln", 1), ("symlink", "ln", 2), ("rename", "mv", 1),
         ("readlink", "readlink", 2), ("mknod", "mknod", 1), ("setattr", "chmod", 2), ("fsync", "dd", 1))


def is_realtime(guest):
    """PREEMPT_RT: mutexes and rwlock_t are other locks there, which do not report that they spin."""
    return "PREEMPT_RT" in guest.check("uname -v")


class Files(Scenario):
    def traced(self, guest, program):
        trace = self.outsight.trace(guest, program)
        guest.check(LOAD)
        trace.stop()
        self.assertNotIn("drops", trace.err, trace.story())
        return trace

    def test_listing(self):
        """Each probe is there; what this kernel has not is listed by -v with the reason."""
        providers = ("fsinfo", "vfs", "sysinfo", "lockstat", "callout_execute")
        with self.guest() as guest:
            realtime = is_realtime(guest)
            _, out, err = self.outsight.run(guest, "-lv", *(word for name in providers for word in ("-P", name)))
            for wrong, said in (("fbt:nosuch_module::entry", "no module nosuch_module"), ("sysinfo:::nosuch_count", "-l -P sysinfo"),
                                ("syscall::kevent:return", "did you mean syscall::epoll_wait:return?")):
                self.assertIn(said, self.outsight.run(guest, "-n", wrong)[2])
        for probe in ("fsinfo open", "fsinfo rename", "vfs vop vop_read return", "vfs namei lookup entry",
                      "vfs namecache lookup hit-negative", "sysinfo readch", "lockstat rw-block",
                      "lockstat spin-spin", "callout_execute callout_end", "callout_execute callout-start"):
            # one without a module and a function of its own has the kernel's
            words = r"( +\S+)* +".join(probe.split())
            self.assertRegex(out, rf"(?m)^ *\d+ +{words} *$", err)
        # where unlocking is a few instructions in each function, there is no place for it
        missing = {("lockstat", "spin-release")}
        if realtime:
            missing |= {("lockstat", "adaptive-spin"), ("lockstat", "rw-spin")}
        refused = re.findall(r"(?m)^ *\d+ +(\S.*?) *\n\n\tCannot be enabled: (.*)", out)
        self.assertLessEqual({(name.split()[0], name.split()[-1]) for name, _ in refused}, missing, out)
        for _, reason in refused:
            self.assertRegex(reason, "^this kernel has (none of its places|no type)")

    def test_operations(self):
        """fsinfo counts each operation of the load, and so does vfs at entry and return, without an error."""
        program = "".join(f'fsinfo:::{name} /execname == "{by}"/ {{ @["f-{name}"] = count(); }} '
                          f'vfs::vop_{name}:entry /execname == "{by}"/ {{ @["e-{name}"] = count(); }} '
                          f'vfs::vop_{name}:return /execname == "{by}" && args[2] == 0/ {{ @["r-{name}"] = count(); }} '
                          for name, by, _ in KNOWN)
        with self.guest() as guest:
            trace = self.traced(guest, program)
        seen = keyed(trace.out)
        kinds = {"f": "fsinfo:::{}", "e": "vfs::vop_{}:entry", "r": "vfs::vop_{}:return"}
        for kind, form in kinds.items():
            for name, _, count in KNOWN:
                agree(self, form.format(name), seen.get(f"{kind}-{name}"), count, story=trace.story())

    def test_arguments(self):
        """Names, directories, bytes and errors."""
        program = ('fsinfo:::mkdir, fsinfo:::remove, fsinfo:::rename, fsinfo:::link, fsinfo:::symlink '
                   '/execname == "mkdir" || execname == "rm" || execname == "mv" || execname == "ln"/ '
                   '{ printf("N %s %s %s\\n", probename, args[0]->fi_pathname, stringof((char *)args[2]->d_name.name)); } '
                   'fsinfo:::read /execname == "dd" && args[0]->fi_name == "a"/ { @["read"] = sum(args[1]); } '
                   'fsinfo:::write /execname == "dd" && args[0]->fi_name == "a"/ { @["write"] = sum(args[1]); '
                   '@["writes"] = sum(1); } '
                   'fsinfo:::create /execname == "dd"/ { @["create"] = sum(1); } '
                   'fsinfo:::open /args[0]->fi_pathname == "/tmp/v/e"/ { @["open"] = sum(1); } '
                   'fsinfo:::close /args[0]->fi_name == "e"/ { @["close"] = sum(1); } '
                   'fsinfo:::readdir /args[0]->fi_name == "d3" && execname == "ls"/ { @["readdir"] = sum(1); } '
                   'vfs::vop_write:entry /execname == "dd" && args[1]->f_path.dentry->d_inode == args[0]/ '
                   '{ @["same"] = sum(1); } ')
        with self.guest() as guest:
            trace = self.traced(guest, program)
        lines = [line.split()[1:] for line in trace.lines if line.startswith("N ")]
        for expected in (["mkdir", "/tmp", "v"], ["mkdir", "/tmp/v", "d1"], ["rename", "/tmp/v", "b"],
                         ["link", "/tmp/v", "b"], ["symlink", "/tmp/v", "s2"], ["remove", "/tmp/v", "p"],
                         ["remove", "/tmp/v", "a"]):
            self.assertIn(expected, lines, trace.story())
        seen = keyed(trace.out)
        for key, count in {"read": 70, "write": 70, "writes": 7, "create": 2, "open": 1, "close": 1}.items():
            name = {"read": "read, bytes", "write": "write, bytes", "writes": "write"}.get(key, key)
            agree(self, f"fsinfo:::{name}", seen.get(key), count, story=trace.story())
        self.assertEqual(seen["readdir"], 2, trace.story())  # the entries, then their end
        self.assertGreaterEqual(seen["same"], 14, trace.story())

    @only_full
    def test_opens_that_fail(self):
        """What was never opened is not closed, though the kernel takes its structure back by the same function."""
        program = ('fsinfo:::close /execname == "cat"/ { @[args[0]->fi_fs, args[0]->fi_name] = count(); } '
                   'vfs::vop_close:entry /execname == "cat" && args[1]->f_path.dentry == NULL/ { @["none", ""] = count(); } '
                   'END { printa("C %s %s %@d\\n", @); }')
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program)
            guest.check("for i in 1 2 3; do cat /tmp/no-such 2>/dev/null; cat /proc/version >/dev/null; done; :")
            trace.stop()
        closed = [line.split()[1:] for line in trace.out.splitlines() if line.startswith("C ")]
        self.assertIn(["proc", "version", "3"], closed, trace.story())
        self.assertNotIn("none", [words[0] for words in closed], trace.story())
        self.assertNotIn("invalid address", trace.err, trace.story())

    @only_full
    def test_names(self):
        """namei and the name cache: a missing name is looked up once in the file system, then the cache knows that."""
        program = ('vfs:namei:lookup:entry /execname == "stat" && stringof(args[1]) == "/tmp/no-such"/ '
                   '{ @["namei"] = count(); self->looks = 1; } '
                   'vfs:namei:lookup:return /self->looks/ { @[args[0] == 2 ? "ENOENT" : "else"] = count(); self->looks = 0; } '
                   'vfs:namecache:lookup:miss /self->looks && execname == "stat"/ { @["miss"] = count(); } '
                   'vfs:namecache:lookup:hit-negative /self->looks/ { @["negative"] = count(); } '
                   'vfs:namecache:lookup:hit /self->looks && args[2] != NULL/ { @["hit"] = count(); } '
                   'sysinfo:::namei /execname == "stat"/ { @["all"] = count(); }')
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program)
            guest.check("for i in 1 2 3; do stat /tmp/no-such 2>/dev/null; done; :")
            trace.stop()
        seen = keyed(trace.out)
        calls = seen["namei"]
        self.assertGreaterEqual(calls, 3, trace.story())
        self.assertEqual(seen.get("ENOENT"), calls, trace.story())
        self.assertEqual(seen.get("miss", 0) + seen.get("negative", 0), calls, trace.story())
        self.assertGreaterEqual(seen["hit"], calls, trace.story())  # "tmp"
        self.assertGreaterEqual(seen["all"], calls, trace.story())


class Counters(Scenario):
    def compared(self, program, load, events):
        """(the trace, what the guest told of these events), with the guest's own counting around ours."""
        with self.guest() as guest, Truth(guest, {event: ((), None) for event in events}) as truth:
            trace = self.outsight.trace(guest, program)
            guest.check(load)
            trace.stop()
            return trace, truth.read()

    def test_sysinfo(self):
        """System calls and their bytes, of a load of known size."""
        mine = '/execname == "dd"/'
        program = (f"sysinfo:::sysread {mine} {{ @[probename] = sum(arg0); }} "
                   f"sysinfo:::readch {mine} {{ @[probename] = sum(arg0); }} "
                   f"sysinfo:::syswrite {mine} {{ @[probename] = sum(arg0); }} "
                   f"sysinfo:::writech {mine} {{ @[probename] = sum(arg0); }} "
                   "sysinfo:::pswitch { @[probename] = sum(arg0); } sched:::off-cpu { @[probename] = sum(1); } "
                   'sysinfo:::idlethread { @[probename] = sum(arg0); } sched:::on-cpu /pid == 0/ { @["idle"] = sum(1); } '
                   'sysinfo:::sysexec /execname == "kp"/ { @[probename] = sum(arg0); } '
                   'sysinfo:::sysfork, sysinfo:::sysvfork /execname == "kp"/ { @["forks"] = sum(arg0); }')
        load = ("dd if=/dev/zero of=/dev/null bs=100 count=50 status=none; "
                "sh -c 'printf kp >/proc/$$/comm; for i in 1 2 3; do getppid_loop 1 1; done; :'")
        trace, _ = self.compared(program, load, ())
        seen = keyed(trace.out)
        self.assertGreaterEqual(seen["sysread"], 50, trace.story())
        agree(self, "sysinfo:::writech", seen["writech"], 5000, story=trace.story())
        self.assertGreaterEqual(seen["readch"], 5000, trace.story())
        agree(self, "sysinfo:::syswrite", seen["syswrite"], 50, story=trace.story())
        agree(self, "sysinfo:::sysfork, sysvfork", seen["forks"], 3, story=trace.story())
        agree(self, "sysinfo:::sysexec", seen["sysexec"], 3, story=trace.story())
        self.assertLessEqual(abs(seen["pswitch"] - seen["off-cpu"]), 4, trace.story())
        self.assertGreater(seen["idlethread"], 4, trace.story())
        # An idle thread for which there is work again already does not wait: seldom, but with PREEMPT_RT, where threads
        # do what interrupts do elsewhere.
        self.assertLessEqual(seen["idlethread"], seen["idle"] + 4, trace.story())
        self.assertGreaterEqual(seen["idlethread"], 0.95 * seen["idle"] - 4, trace.story())

    @only_full
    def test_timers(self):
        """Each timer's function begins and ends, under both names, and as often as the guest counts at most."""
        program = ('callout_execute:::callout-start { @["start"] = count(); this->timer = arg0; } '
                   'callout_execute:::callout_start { @["start_"] = count(); } '
                   'callout_execute:::callout-end { @["end"] = count(); } '
                   'callout_execute:::callout-end /args[0] == (struct timer_list *)this->timer/ { @["same"] = count(); } '
                   'callout_execute:::hrtimer-start { @["hr"] = count(); }')
        trace, told = self.compared(program, "sleep 2", ("timer/timer_expire_entry", "timer/hrtimer_expire_entry"))
        seen = keyed(trace.out)
        self.assertGreater(seen["start"], 0, trace.story())
        self.assertEqual(seen["start"], seen["start_"], trace.story())
        self.assertLessEqual(abs(seen["start"] - seen["end"]), 4, trace.story())
        self.assertLessEqual(seen["start"], told.hits("timer/timer_expire_entry"), trace.story())
        self.assertGreaterEqual(seen["same"], seen["end"] - 4, trace.story())
        self.assertGreater(seen["hr"], 0, trace.story())
        self.assertLessEqual(seen["hr"], told.hits("timer/hrtimer_expire_entry"), trace.story())


class Locks(Scenario):
    def test_pairs(self):
        """A process releases as many mutexes and semaphores as it acquires, all of which it has acquired."""
        program = ('lockstat:::adaptive-acquire /execname == "kp"/ { @["a"] = count(); held[arg0, tid] = 1; } '
                   'lockstat:::adaptive-release /execname == "kp"/ { @["r"] = count(); } '
                   'lockstat:::adaptive-release /execname == "kp" && held[arg0, tid]/ { @["held"] = count(); '
                   "held[arg0, tid] = 0; } "
                   'lockstat:::rw-acquire /execname == "kp"/ { @[arg1 == RW_READER ? "ra" : "wa"] = count(); } '
                   'lockstat:::rw-release /execname == "kp"/ { @[arg1 == RW_READER ? "rr" : "wr"] = count(); } '
                   'lockstat:::rw-downgrade /execname == "kp"/ { @["down"] = count(); }')
        load = ("sh -c 'printf kp >/proc/$$/comm; i=0; while [ $i -lt 20 ]; do echo $i | read x; "
                "echo $i >/tmp/kp.1; i=$((i + 1)); done'; rm /tmp/kp.1")
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program)
            guest.check(load)
            trace.stop()
        seen = keyed(trace.out)
        self.assertGreater(seen.get("a", 0), 60, trace.story())
        # execve() changes the name between a lock and its release
        self.assertLessEqual(abs(seen["a"] - seen["r"]), 8, trace.story())
        self.assertLessEqual(abs(seen["a"] - seen["held"]), 8, trace.story())
        self.assertGreater(seen["wa"], 20, trace.story())
        self.assertLessEqual(abs(seen["wa"] - seen["wr"] - seen.get("down", 0)), 8, trace.story())

    @only_full
    def test_contention(self):
        """Waits for locks, as many as the guest's own trace has, and none longer than the load ran."""
        kinds = {"MUTEX": "adaptive-block", "SPIN|MUTEX": "adaptive-spin", "READ": "rw-block", "WRITE": "rw-block"}
        with self.guest() as guest:
            if is_realtime(guest):  # one event for its mutexes and its spinlocks
                kinds = {"READ|RT": "rw-block", "WRITE|RT": "rw-block"}
        probes = sorted(set(kinds.values()))
        program = ("BEGIN { began = timestamp; } " +
                   "".join(f'lockstat:::{name} {{ @["{name}"] = count(); }} '
                           f'lockstat:::{name} /arg1 > timestamp - began || arg1 == 0/ {{ @["wrong"] = count(); }} '
                           for name in probes) +
                   'lockstat:::rw-block /arg2 != RW_READER && arg2 != RW_WRITER/ { @["wrong"] = count(); }')
        load = ("for k in 1 2 3 4 5 6; do (i=0; while [ $i -lt 60 ]; do echo x >/tmp/c.$k; mv /tmp/c.$k /tmp/d.$k; "
                "i=$((i + 1)); done) & done; wait; rm /tmp/d.*")
        with self.guest() as guest, self.lock_events(guest) as text:
            trace = self.outsight.trace(guest, program)
            guest.check(load)
            trace.stop()
            told = self.waits(text(), kinds) if text else None
        seen = keyed(trace.out)
        self.assertNotIn("wrong", seen, trace.story())
        self.assertGreater(seen.get("rw-block", 0), 0, trace.story())
        for name in probes if told else ():  # the guest's trace begins before ours and ends behind it
            note(f"lockstat:::{name}, at most the truth", seen.get(name, 0), told[name], "contention_begin")
            self.assertLessEqual(seen.get(name, 0), told[name], f"{name} {told}\n{trace.story()}")
            self.assertGreaterEqual(seen.get(name, 0), told[name] * 9 // 10 - 8, f"{name} {told}\n{trace.story()}")

    @staticmethod
    @contextlib.contextmanager
    def lock_events(guest):
        """The guest traces its waits for locks; a function that gives the text of that. None: it has no such events."""
        enable = f"{TRACING}/events/lock/enable"
        if guest.run(f"[ -e {enable} ]")[0]:
            yield None
            return

        def text():
            guest.check(f"echo 0 >{enable}")
            return guest.read_file(f"{TRACING}/trace").decode(errors="replace")

        guest.check(f"echo {BUFFER_KB} >{TRACING}/buffer_size_kb; echo 1 >{enable}")
        try:
            yield text
        finally:
            guest.check(f"echo 0 >{enable}; echo >{TRACING}/trace; echo {EMPTY_KB} >{TRACING}/buffer_size_kb")

    @staticmethod
    def waits(text, kinds):
        """{probe: waits that ended with the lock}, from the text of the guest's trace, whose flags mean these probes."""
        found, under_way = dict.fromkeys(kinds.values(), 0), {}
        for line in text.splitlines():
            m = re.match(r".*-(\d+) +\[\d+\].*contention_(begin|end): (\S+) \((?:flags=|ret=)(\S+)\)", line)
            if not m:
                continue
            pid, what, lock, how = m.groups()
            if what == "begin" and how in kinds:
                under_way.setdefault((pid, lock), set()).add(kinds[how])
            elif what == "end":
                for kind in under_way.pop((pid, lock), ()) if how == "0" else ():
                    found[kind] += 1
        return found


if __name__ == "__main__":
    sys.exit(main())
