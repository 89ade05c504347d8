#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""A guest's programs, read from outside: what they have mapped equals what their guest says of it, and the names of their
addresses are those that nm(1) gives."""
import os
import re
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.program_scenario import ProgramScenario
from lib.programs import library_symbols, load_bias, names_of, symbols
from lib.scenario import main, only_full


def without_names(text):
    """/proc/PID/maps without the names of what is no file, but for the vdso's, which we have too."""
    return [re.sub(r" +\[(?!vdso\]).*\]$", " ", line) for line in text.splitlines()]


class Maps(ProgramScenario):
    aslr = True
    names = "spin one two"

    def agrees(self, pid):
        """--dump-maps is the guest's own /proc/PID/maps, once that no longer changes; returns it."""
        before = None
        while True:
            status, out, err = self.outsight.run(self.vm, "--dump-maps", str(pid))
            self.assertEqual((status, err), (0, ""))
            after = self.vm.check(f"cat /proc/{pid}/maps")
            if before == after:
                break
            before = after
        self.assertEqual(out.splitlines(), without_names(after))
        return out

    def start(self, command):
        """The PID of a command that is started in the background."""
        return int(self.vm.check(f"{command} >/dev/null 2>&1 & echo $!"))

    def test_maps(self):
        """The shell, a program, a program with many mappings; files behind mounts, renamed and deleted ones."""
        self.agrees(1)
        self.assertIn(" /bin/spin\n", self.agrees(self.start("spin 1000 20")))
        self.vm.check("killall -9 spin; mkdir -p /mnt/a/b /tmp/over && cp /bin/counted /mnt/a/b/one && cp /bin/counted /mnt/a/b/two")
        self.vm.check("mount -o bind /mnt/a /tmp/over")
        pids = [self.start_idle(f"{path} 1", name)
                for path, name in (("/mnt/a/b/one", "one"), ("/tmp/over/b/one", "over"), ("/mnt/a/b/two", "two"))]
        self.vm.check("mv /mnt/a/b/one /mnt/a/b/three; rm /mnt/a/b/two")
        one, over, two = (self.agrees(pid) for pid in pids)
        self.assertIn(" /mnt/a/b/three\n", one)
        self.assertIn(" /tmp/over/b/three\n", over)
        self.assertIn(" /mnt/a/b/two (deleted)\n", two)
        self.vm.check("killall -9 one two; umount -l /tmp/over; rm -r /mnt/a /tmp/over")

    def test_no_such_process(self):
        """A number that is no process's, a kernel thread's, and a word that is none."""
        for pid, why in (("1000000", "no process 1000000"), ("2", "process 2 has no memory of its own")):
            status, out, err = self.outsight.run(self.vm, "--dump-maps", pid)
            self.assertEqual((status, out), (1, ""))
            self.assertIn(why, err)
        status, out, err = self.outsight.run(self.vm, "--dump-maps", "init")
        self.assertEqual((status, out), (2, ""))
        self.assertIn("it takes the PID of a process in the guest", err)


class Names(ProgramScenario):
    names = "callers bare solid padded"

    def start(self, command):
        return int(self.vm.check(f"{command} >/dev/null 2>&1 & echo $!"))

    def sysroot(self):
        """A folder for copies of the guest's files."""
        return self.enterContext(tempfile.TemporaryDirectory(prefix="outsight-sysroot-"))

    def stack(self, name, *options, path=None, maps=None):
        """The frames of the system call of a program that is killed before they are printed; and what was said."""
        trace = self.outsight.trace(
            self.vm, f'syscall::getppid:entry /execname == "{name}"/ {{ @[ustack()] = count(); }} '
                     f'syscall::getppid:entry /execname == "{name}" && !seen++/ {{ ustack(); printf("seen\\n"); }}', *options)
        pid = self.start(path or name)
        trace.wait_for("seen")
        if maps is not None:
            maps.append(self.vm.check(f"cat /proc/{pid}/maps"))
        self.vm.check(f"kill -9 {pid}")
        trace.stop()
        found = [s for s in (re.findall(r"^ {14}(\S+)$", part, re.M) for part in re.split(r"\n\n|seen", trace.out)) if s]
        self.assertIn(len(found), (2, 3), trace.story())  # with and without rules for the C library's frames
        for other in found[1:]:
            self.assertEqual(found[0], other[:len(found[0])], "the others were printed when the process had ended")
        return found[0], trace.err

    def assert_frames(self, name, files, path=None, options=()):
        """Each frame is what nm(1) says of that address; returns the frames."""
        maps = []
        frames, said = self.stack(name, *options, path=path, maps=maps)
        plain, _ = self.stack(name, "-x", "noresolve", path=path)
        self.assertEqual(said, "")
        self.assertEqual(len(frames), len(plain))
        for frame, pc in zip(frames, plain):
            module, _, text = frame.partition("`")
            self.assertIn(module, files, frames)
            path, table = files[module]
            right = names_of(int(pc, 16), load_bias(path, maps[0], module), table)
            if right:
                self.assertIn(text, right, frames)
            else:
                self.assertRegex(text, r"^sub_[0-9a-f]+\+0x[0-9a-f]+$")
        return [frame.partition("+")[0] for frame in frames]

    def files(self, *more):
        p = self.programs
        return {"libleaf.so": (p.libleaf, symbols(p.libleaf)), "libc.so.6": (p.libc, library_symbols(p.libc)),
                **{name: (path, symbols(path)) for name, path in more}}

    def test_dynamic(self):
        """A program, its library and the C library."""
        frames = self.assert_frames("callers", self.files(("callers", self.programs.callers)))
        self.assertEqual(frames[:4], ["libleaf.so`leaf", "callers`inner", "callers`outer", "callers`main"])
        self.assertTrue(frames[4].startswith("libc.so.6`"), frames)

    @only_full
    def test_static(self):
        frames = self.assert_frames("solid", self.files(("solid", self.programs.path("bin/solid"))))
        self.assertEqual(frames[:4], ["solid`leaf", "solid`inner", "solid`outer", "solid`main"])

    def test_stripped(self):
        """A function without a name is called by its place; with --sysroot it has its name."""
        p = self.programs
        places = {name: at for at, _, name in symbols(p.callers)}
        frames, said = self.stack("bare")
        self.assertEqual(said, "")
        self.assertEqual([frame.partition("+")[0] for frame in frames[:4]],
                         ["libleaf.so`leaf"] + [f"bare`sub_{places[name]:x}" for name in ("inner", "outer", "main")])
        sysroot = self.sysroot()
        p.put_debug(sysroot)
        frames, said = self.stack("bare", "--sysroot", sysroot)
        self.assertEqual(said, "")
        self.assertEqual([frame.partition("+")[0] for frame in frames[:4]],
                         ["libleaf.so`leaf", "bare`inner", "bare`outer", "bare`main"])

    @only_full
    def test_missing_pages(self):
        """A file whose symbols are not in the guest's memory: that is said, and the operator's copy has them."""
        self.vm.check("cp /bin/padded /mnt/padded && sync && echo 3 >/proc/sys/vm/drop_caches")
        frames, said = self.stack("padded", path="/mnt/padded")
        self.assertRegex(frames[1], r"^padded`sub_")
        self.assertRegex(said, r"^dtrace: padded: \d+ of \d+ pages are not in the guest's memory \(section headers\): --sysroot")
        sysroot = self.sysroot()
        os.makedirs(os.path.join(sysroot, "mnt"))
        shutil.copy(self.programs.path("bin/padded"), os.path.join(sysroot, "mnt/padded"))
        frames, said = self.stack("padded", "--sysroot", sysroot, path="/mnt/padded")
        self.assertEqual(said, "")
        self.assertEqual([frame.partition("+")[0] for frame in frames[:4]],
                         ["libleaf.so`leaf", "padded`inner", "padded`outer", "padded`main"])

    @only_full
    def test_functions(self):
        """usym(), ufunc(), umod() and uaddr() of the caller."""
        trace = self.outsight.trace(
            self.vm, 'syscall::getppid:entry /execname == "callers" && !seen++/ { usym(ucaller); printf("|"); ufunc(ucaller); '
                     'printf("|"); umod(ucaller); printf("|"); uaddr(ucaller); printf("|"); umod(1); printf("|seen\\n"); }')
        self.start("callers")
        trace.wait_for("seen")
        trace.stop()
        texts = [text.strip() for text in trace.out.split("|")]
        self.assertEqual(texts[0].split()[-1], "callers`inner", trace.story())
        self.assertEqual(texts[1:3], ["callers`inner", "callers"])
        self.assertRegex(texts[3], r"^callers`inner\+0x[0-9a-f]+$")
        self.assertEqual(texts[4], "0x1")


if __name__ == "__main__":
    sys.exit(main())
