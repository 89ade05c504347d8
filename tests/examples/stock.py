# SPDX-License-Identifier: GPL-2.0-or-later
"""Examples on a stock kernel that QEMU translates. All share one guest, started by the README's own line."""
import glob
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time

from lib import agent as ga
from lib.guest import KERNEL_ARGS, Guest, cache_dir, image_dir
from lib.outsight import distribution, keyed
from lib.pace import rounds
from lib.perfetto import Trace
from lib.programs import Programs
from lib.scenario import only_full, parse_symbols
from questions import Questions
from truths import EXAMPLES, LIMIT, ROOT, TESTS, Examples, truth

KERNEL = "6.1"
MODULE = "make -C guest-agent KDIR=/lib/modules/$(uname -r)/build"
MODULE_FOR = "make -C guest-agent KDIR=/lib/modules/VERSION/build"
QEMU = ("qemu-system-x86_64 -accel tcg,thread=multi -smp 2 -m 1G -machine q35,memory-backend=mem "
        "-object memory-backend-memfd,id=mem,size=1G,share=on "
        "-plugin build/release/lib/liboutsight-tcg.so,name=web02 …")
STUB = "qemu -gdb tcp:127.0.0.1:1234"
HIDDEN = "outsight compare -g web01 --tasks"
UNLISTED = "outsight compare -g web01 --inside ss.txt"
READ_SIZES = ("outsight -g demo-6.1 -q -n 'BEGIN { printf(\"tracing\\n\"); } syscall::read:entry /execname == \"reads\"/ "
              "{ @ = quantize(arg2); } syscall::exit_group:entry /execname == \"reads\"/ { exit(0); }'")
WRITES = ("outsight -g demo-6.1 -q -n 'fbt::shmem_write_begin:entry /execname == \"writer\"/ { @[stack()] = count(); } "
          "tick-3s { exit(0); }'")
PROFILE = ("outsight -g demo-6.1 -q -n 'profile-997 /arg0/ { @[func(arg0)] = count(); } tick-3s { exit(0); } "
           "END { trunc(@, 12); }'")
ON_CPU = ("outsight -g web01 -n 'sched:::on-cpu { self->ts = timestamp; } sched:::off-cpu /self->ts/ { @[execname] = "
          "quantize(timestamp - self->ts); self->ts = 0; }'")
LATENCY = ("outsight -g web01 -n 'syscall::read:entry { self->ts = timestamp; } syscall::read:return /self->ts/ { "
           "@[execname] = quantize(timestamp - self->ts); self->ts = 0; }'")
# Behind a guest's name: it is that of the one that runs.
DEMO = {"replace": {"demo-6.1": "web01"}}


class DocumentedGuest(Guest):
    """Its QEMU is started by the documents' own words, with a kernel in place of the "…"."""

    def __init__(self, build, folder, archive):
        super().__init__(KERNEL, memory=1 << 30, append="initcall_debug log_buf_len=16M", name="web01", more_files=archive)
        self.build, self.folder = build, folder

    def command(self):
        rest = super().command()
        for option in ("-accel", "-machine", "-object", "-smp"):
            at = rest.index(option)
            del rest[at:at + 2]
        words = shlex.split(QEMU.replace("build/release", self.build).replace("web02", "web01").replace(" …", ""))
        return words + rest[1:] + shlex.split(STUB)[1:]


def build_module(line, folder, where):
    """Make the module as a document says; its path."""
    copy = os.path.join(folder, where, "guest-agent")
    shutil.copytree(os.path.join(ROOT, "guest-agent"), copy)
    headers, = glob.glob(os.path.join(cache_dir(), "headers", KERNEL, "usr/src/linux-headers-*amd64"))
    for at in ("/lib/modules/$(uname -r)/build", "/lib/modules/VERSION/build"):
        line = line.replace(at, headers)
    subprocess.run(["bash", "-c", line], cwd=os.path.dirname(copy), check=True, stdout=subprocess.DEVNULL, timeout=LIMIT)
    return os.path.join(copy, "outsight.ko")


def stacks(text):
    """[(frames without offsets, count)] of a table by stack()."""
    found = []
    for block in re.findall(r"((?:^ +\S*[`x]\S+\n)+) +(\d+)$", text, re.M):
        frames = [re.sub(r"\+0x[0-9a-f]+$", "", line.strip()) for line in block[0].splitlines()]
        found.append(([frame.split("`")[-1] for frame in frames], int(block[1])))
    return found


class Stock(Questions, Examples):
    vm, names = None, set()

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="outsight-examples-")
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        module = build_module(MODULE, cls.folder, "one")
        root = os.path.join(cls.folder, "root")
        os.makedirs(os.path.join(root, "guest-agent"))
        shutil.copy(module, os.path.join(root, "guest-agent"))
        shutil.copy(ga.module_path(KERNEL, "hide"), root)
        archive = os.path.join(cls.folder, "more.cpio")
        cls.programs = Programs(os.path.join(cls.folder, "programs"), python=True)
        with open(archive, "wb") as out:
            subprocess.run(["cpio", "-o", "-H", "newc", "--quiet", "-R", "0:0"], cwd=root, stdout=out, check=True,
                           input=b"guest-agent\nguest-agent/outsight.ko\nhide.ko\n")
            with open(cls.programs.archive, "rb") as f:
                out.seek(0, os.SEEK_END)
                out.write(bytes(-out.tell() % 512))
                shutil.copyfileobj(f, out)
        cls.vm = DocumentedGuest(cls.build, cls.folder, archive).__enter__()
        cls.addClassCleanup(cls.vm.close)
        # Read once, and searched here: the guest takes seconds to sort them.
        cls.names = {line.split()[2] for line in cls.vm.read_file("/proc/kallsyms").decode().splitlines()}

    def setUp(self):
        super().setUp()
        self.env["XDG_RUNTIME_DIR"] = self.vm.dir
        self.env["XDG_CACHE_HOME"] = f"{self.folder}/cache"
        image = image_dir(KERNEL)
        self.link(vmlinuz=f"{image}/vmlinuz", bzImage=f"{image}/vmlinuz", initrd_img=f"{image}/initrd")

    def tearDown(self):
        self.vm.run("rmmod hide 2>/dev/null; rmmod outsight 2>/dev/null")
        self.assertEqual(self.vm.run("dmesg | grep -E 'BUG|WARNING|Oops|general protection'")[1], "")

    def load(self):
        self.vm.check("cd / && insmod guest-agent/outsight.ko")

    def assert_known(self, names):
        """Each is in the guest's own /proc/kallsyms."""
        self.assertTrue(names)
        self.assertEqual({name.split("`")[-1].split("+")[0] for name in names} - self.names, set())

    # --- the guest itself -----------------------------------------------------------------------------

    @truth(QEMU, "outsight guests")
    def test_guest(self, qemu, listed):
        """What `guests` says is what the guest says of itself."""
        self.assertIn("-m 1G", qemu.text)
        row = next(line.split() for line in self.done(listed).splitlines() if line.startswith("web01 "))
        self.assertEqual(row[:5], ["web01", str(self.vm.pid), "running", "2", "tcg"])
        self.assertIn(self.vm.check("uname -r").strip(), row)
        self.assertEqual(self.vm.check("nproc").strip(), "2")

    @truth("outsight doctor")
    def test_doctor(self, doctor):
        self.assertRegex(self.done(doctor), r"(?m)^tcg +yes")

    @truth("outsight flame -g web01 -o flame.html")
    def test_flame(self, example):
        """Samples of both vCPUs, most of them idle."""
        self.done(example, "-d 1")
        with open(self.path("flame.html"), encoding="utf-8") as f:
            page = f.read()
        rows = json.loads(re.search(r'type="application/json">(.*?)</script>', page, re.S).group(1))
        self.assertGreater(sum(value for *_, value in rows), 97)
        self.assertTrue(any(line.startswith("swapper/") and "vmlinux`do_idle" in line for line, *_ in rows), rows)

    def map(self, name):
        """The data of a heat map."""
        with open(self.path(name), encoding="utf-8") as f:
            return json.loads(re.search(r'(?s)type="application/json">(.*?)</script>', f.read()).group(1))

    @truth("outsight heatmap -g web01 -o heatmap.html")
    def test_heatmap(self, example):
        """There need be no request to a disk in a second; the columns are there."""
        self.done(example, "-d 1")
        data = self.map("heatmap.html")
        self.assertGreater(len(data["ends"]), 2)
        self.assertGreater(data["ends"][-1], 900)  # counted from the first column, which begins after the second has

    # --- counts ---------------------------------------------------------------------------------------

    def check_calls(self, example, **more):
        """getppid_loop and reads know what calls they have made."""
        trace = self.trace(example, **more)
        self.assertRegex(self.vm.check("getppid_loop 2 1000"), "calls 2000")
        self.assertRegex(self.vm.check("reads 3000"), "reads 3000")
        trace.stop()
        rows = re.findall(r"^  (\w+) +(\w+) +(\d+)$", trace.out, re.M)
        for row in (("getppid_loop", "getppid", "2000"), ("reads", "read", "3000"), ("reads", "lseek", "3000")):
            self.assertIn(row, rows, trace.story())

    @truth("outsight -g web01 -n 'syscall:::entry { @[execname, probefunc] = count(); }'")
    def test_calls(self, example):
        self.check_calls(example)

    @only_full
    @truth("outsight -n 'syscall:::entry { @[execname, probefunc] = count(); }'")
    def test_calls_of_the_only_guest(self, example):
        self.check_calls(example)

    @truth("web*:syscall:::entry")
    def test_fifth_field(self, example):
        self.check_calls(f"outsight -g web01 -n '{example.text} {{ @[execname, probefunc] = count(); }}'")

    @truth("outsight -g web01 -n 'syscall::openat:entry { printf(\"%s %s\", execname, copyinstr(arg1)); }'")
    def test_opened(self, example):
        trace = self.trace(example)
        self.assertNotEqual(self.vm.run("cat /nosuch /no/such/either")[0], 0)
        trace.stop()
        opened = re.findall(r"openat:entry (cat .*)$", trace.out, re.M)
        self.assertEqual([line for line in opened if "/no" in line], ["cat /nosuch", "cat /no/such/either"], trace.story())

    @truth(LATENCY)
    def test_latency(self, example):
        trace = self.trace(example)
        began = time.monotonic_ns()
        self.vm.check("reads 3000")
        took = time.monotonic_ns() - began
        trace.stop()
        rows = distribution(re.search(r"^  reads +\n((?: +.*\n)+)", trace.out + "\n", re.M).group(1))
        self.assertEqual(sum(rows.values()), 3000, trace.story())
        self.assertGreater(min(rows), 0)
        # A bucket's name is its lower end.
        self.assertLessEqual(sum(low * count for low, count in rows.items()), took)

    @truth("outsight -g web01 -n 'fbt::vfs_write:entry /execname == \"dd\"/ { @[stack()] = count(); }'")
    def test_stacks(self, example):
        trace = self.trace(example)
        self.vm.check("dd if=/dev/zero of=/tmp/zeros bs=4096 count=500 status=none")
        trace.stop()
        found = stacks(trace.out)
        self.assertEqual(sum(count for _, count in found), 500, trace.story())
        for frames, _ in found:
            self.assertEqual(frames[:3], ["vfs_write", "ksys_write", "do_syscall_64"], trace.story())
            self.assert_known(frames)

    @truth("outsight -g web01 -n 'io:::start { ts[arg0] = timestamp; } io:::done /ts[arg0]/ { "
           "@[args[1]->dev_statname] = quantize(timestamp - ts[arg0]); ts[arg0] = 0; }'")
    def test_bio_latency(self, example):
        """As many bios as the guest counts, and each took less than the whole."""
        self.vm.check("dd if=/dev/zero of=/tmp/disk5 bs=1M count=1 2>/dev/null; losetup /dev/loop5 /tmp/disk5; sync")
        event, count = "/sys/kernel/tracing/events/block/block_bio_queue", f"hist:keys=sector if dev == {7 << 20 | 5}"
        self.vm.check(f"echo '{count}' >{event}/trigger")
        trace = self.trace(example)
        began = time.monotonic_ns()
        self.vm.check("dd if=/dev/loop5 of=/dev/null bs=64k count=4 2>/dev/null")
        took = time.monotonic_ns() - began
        trace.stop()
        hits = re.search(r"Hits: (\d+)", self.vm.read_file(f"{event}/hist").decode())
        self.vm.check(f"echo '!{count}' >{event}/trigger; losetup -d /dev/loop5; rm /tmp/disk5")
        rows = distribution(re.search(r"^  loop5 +\n((?: +.*\n)+)", trace.out + "\n", re.M).group(1))
        self.assertEqual(sum(rows.values()), int(hits.group(1)), trace.story())
        self.assertGreater(min(rows), 0)
        self.assertLess(max(rows), took)

    # --- the README's session -------------------------------------------------------------------------

    @truth(READ_SIZES)
    def test_read_sizes(self, example):
        """The program counts its sizes itself, and makes the same ones every time."""
        trace = self.start(example, "-x switchrate=20hz", **DEMO).wait_for("tracing", LIMIT)
        said = self.vm.check("reads 5000")
        self.assertEqual(trace.finish(LIMIT), 0, trace.story())
        told = {int(bucket): int(count) for bucket, count in re.findall(r"^bucket (\d+) (\d+)$", said, re.M)}
        self.assertEqual(distribution(trace.out), told)
        self.assertEqual(distribution(example.printed), told)
        self.assertIn("all 5000 reads seen, each of %d rows" % len(told), example.printed)

    @only_full
    @truth(WRITES)
    def test_writes(self, example):
        self.enterContext(self.vm.load())
        frames, count = max(stacks(self.done(example, **DEMO)), key=lambda found: found[1])
        self.assertGreater(count, 10)
        self.assert_known(frames)
        self.assertEqual(frames, stacks(example.printed)[0][0])

    @truth(PROFILE)
    def test_profile(self, example):
        self.enterContext(self.vm.load())
        began = time.monotonic()
        counts = keyed(self.done(example, **DEMO))
        took = time.monotonic() - began
        self.assertIn(len(counts), range(3, 13))
        self.assert_known(counts)
        self.assertLess(sum(counts.values()), 997 * 2 * took * 1.5)
        self.assertEqual(len(keyed(example.printed)), 12)

    # --- booting --------------------------------------------------------------------------------------

    def booted(self, example, more):
        """Where the document leaves it open for how long, and with what kernel arguments."""
        return self.done(example, f"-x maxcost=0 {more}", replace={" -- ": f" --append '{KERNEL_ARGS}' -- "})

    @only_full
    @truth("outsight run -kernel vmlinuz -initrd initrd.img -- -A -n 'profile-997 { @[func(arg0)] = count(); }'")
    def test_booting(self, example):
        counts = keyed(self.booted(example, "-n 'profile-997 /++n == 500/ { exit(0); }'"))
        self.assertIn(sum(counts.values()), range(500, 520))
        self.assertGreater(len(counts), 5)
        self.assert_known([name for name in counts if name.startswith("vmlinux`")])

    @only_full  # test_booting and test_initcalls boot as it does
    @truth("outsight run --kernel bzImage --initrd initrd.img -- -n 'profile-997 { @[stack()] = count(); }'")
    def test_run(self, example):
        out = self.booted(example, "-n 'profile-997 /++n == 500/ { exit(0); }'")
        self.assertGreater(sum(count for _, count in stacks(out)), 20)
        # a module's names of functions that only load it are gone when it is loaded
        self.assert_known(re.findall(r"^ +(vmlinux`\S+)$", out, re.M))

    @truth("outsight run -kernel vmlinuz -initrd initrd.img -- -A -n 'fbt::do_one_initcall:entry { sym(arg0); }'")
    def test_initcalls(self, example):
        """With initcall_debug the kernel logs its initcalls: the traced ones are the end of that log."""
        out = self.booted(example, "-n 'syscall::execve:entry { exit(0); }'")
        seen = re.findall(r"do_one_initcall:entry +vmlinux`(\S+)", out)
        log = self.vm.check("dmesg | grep -E '\\] calling .*@ 1$|Run /init as init'").split("Run /init")[0]
        told = re.findall(r"\] calling +(\w+)\+", log)
        self.assertGreater(len(seen), 200, out[-3000:])
        self.assertEqual(seen, told[-len(seen):])

    # --- the stub -------------------------------------------------------------------------------------

    @truth("outsight -g gdb:localhost:1234 -x maxcost=0 -n 'syscall::getppid:entry { @[execname] = count(); }'", STUB)
    def test_stub(self, example, _):
        trace = self.trace(example)
        calls = rounds(20, 150)
        self.vm.check(f"getppid_loop 2 {calls}")
        trace.stop()
        # The shell that starts it asks once too.
        self.assertEqual(keyed(trace.out).get("getppid_loop"), 2 * calls, trace.story())

    # --- a dump ---------------------------------------------------------------------------------------

    @truth("info registers")
    def test_dump(self, example):
        """Its RAM and what QEMU prints of its registers: all symbols are those of /proc/kallsyms."""
        os.symlink(self.vm.ram_path(), self.path("ram"))
        with open(self.path("ram.regs"), "w", encoding="ascii") as f:
            f.write(self.vm.qemu_command(example.text))
        told = parse_symbols(self.vm.read_file("/proc/kallsyms").decode())
        got = parse_symbols(self.done("outsight -g dump:ram --no-cache --dump-symbols"))
        self.assertEqual(sorted(got), sorted(told))

    # --- the agent ------------------------------------------------------------------------------------

    @only_full
    @truth(MODULE, MODULE_FOR, "insmod guest-agent/outsight.ko")
    def test_module(self, _, other, insmod):
        """Built as both documents say, it is a module of this kernel, and loads."""
        with open(build_module(other.text, self.folder, "two"), "rb") as f:
            self.assertIn(f"vermagic={self.vm.check('uname -r').strip()} ".encode(), f.read())
        self.vm.check(f"cd / && {insmod.text}")
        self.assertRegex(self.vm.check("cat /proc/modules"), r"(?m)^outsight ")

    @truth("outsight -g web01 -lv 'sdt:sched::sched_switch'")
    def test_listed(self, example):
        self.load()
        out = self.done(example)
        self.assertEqual(len(re.findall(r"^ *\d+ +sdt +sched +sched_switch", out, re.M)), 1, out)
        self.assertRegex(out, r"args\[1\]: struct task_struct \*\n\s*args\[2\]: struct task_struct \*")

    def task(self, name, file, pattern):
        """Numbers that /proc has of the first thread of this name."""
        return [int(n) for n in re.findall(pattern, self.vm.check(f"cat /proc/$(pidof {name})/{file}"), re.M)]

    def bracketed(self, example, numbers, enough):
        """A trace under load: (least, most): by how much each of NUMBERS has grown while it surely, or perhaps, traced. It ends once they have grown enough."""
        self.load()
        self.enterContext(self.vm.load())
        self.vm.check("while ! pidof spawner; do sleep 0.1; done")
        before = numbers()
        trace = self.trace(example)
        first = last = numbers()
        while not enough([b - a for a, b in zip(first, last)]):
            time.sleep(0.2)
            last = numbers()
        trace.stop()
        after = numbers()
        return trace, [b - a for a, b in zip(first, last)], [b - a for a, b in zip(before, after)]

    def check_switches(self, example):
        trace, least, most = self.bracketed(example, lambda: self.task("looper", "status", r"ctxt_switches:\s*(\d+)"),
                                            lambda grown: sum(grown) > 60)
        self.assertIn(keyed(trace.out)["looper"], range(sum(least) - 1, sum(most) + 2), trace.story())

    @truth("sdt:raw_syscalls::sys_enter")
    def test_only_the_module_reports_it(self, example):
        line, what = f"outsight -g web01 -lvn {example.text}", "Cannot be enabled: its events happen only once"
        without = self.done(line)
        self.load()
        out = self.done(line)
        self.assertEqual([what in text for text in (without, out)], [True, False], without + out)

    @only_full
    @truth("outsight -g web01 -n 'sdt:sched::sched_switch { @[args[1]->comm] = count(); }'")
    def test_switched_from(self, example):
        self.check_switches(example)

    @only_full
    @truth("outsight -g web01 -n 'sdt:sched::sched_switch { @[args[2]->comm] = count(); }'")
    def test_switched_to(self, example):
        self.check_switches(example)

    @truth(ON_CPU)
    def test_on_cpu(self, example):
        """The kernel counts how often a thread was on a CPU, and for how long."""
        trace, least, most = self.bracketed(example, lambda: self.task("looper", "schedstat", r"\d+"), lambda grown: grown[2] > 200)
        rows = distribution(re.search(r"^  looper +\n((?: +.*\n)+)", trace.out + "\n", re.M).group(1))
        # A thread that has just moved to the other CPU may have its events fire out of order, and so come out as less than
        # nothing. Each CPU's times grow: an event of the thread with no time at all is one at a correction of the clock.
        self.assertLess(sum(count for low, count in rows.items() if low < 0), 0.02 * sum(rows.values()), trace.story())
        self.assertLessEqual(rows.get(0, 0), 1, trace.story())
        self.assertLess(max(rows), most[0], trace.story())
        self.assertIn(sum(rows.values()), range(least[2] - 1, most[2] + 2), trace.story())
        # A bucket's name is its lower end; its upper end is twice that. The kernel leaves out what interrupts take.
        self.assertLess(sum(low * count for low, count in rows.items() if low > 0), most[0] * 1.25, trace.story())
        self.assertGreater(sum(2 * low * count for low, count in rows.items()), least[0] * 0.95, trace.story())

    @truth("outsight compare -g web01 -n 'syscall:::entry { @[probefunc] = count(); }'")
    def test_compare(self, example):
        self.load()
        trace = self.trace(example)
        self.vm.check("getppid_loop 2 1000")
        trace.stop()
        rows = {words[0]: words[1:] for words in (line.split() for line in trace.lines) if words}
        # The shell that starts it asks once too.
        self.assertEqual(rows["getppid"], ["2001", "2001", "+0"], trace.story())

    @truth(HIDDEN)
    def test_hidden(self, example):
        """Nothing hidden, then a process that /proc does not list: printed as in the manual."""
        self.vm.check("cd / && insmod guest-agent/outsight.ko && insmod hide.ko")
        self.assertRegex(self.done(example), "^nothing hidden")
        pid = self.vm.check("sleep 100000 >/dev/null 2>&1 </dev/null & echo $!").strip()
        self.vm.check(f"echo {pid} >/sys/module/hide/parameters/pid && echo proc >/sys/module/hide/parameters/mode")
        rows = [line.split() for line in self.done(example, status=1).splitlines() if line.strip()]
        shown = [line.split() for line in example.printed.splitlines()]
        self.assertEqual(rows, [shown[0], [pid, *shown[1][1:]], shown[2]])
        self.vm.check(f"kill {pid}")

    @truth(UNLISTED)
    def test_unlisted(self, example):
        """A socket that the text of ss does not list: printed as in the manual."""
        pid = self.vm.check("httpd -f -p 0.0.0.0:31337 >/dev/null 2>&1 </dev/null & echo $!").strip()
        self.vm.check("until grep -q :7A69 /proc/net/tcp; do sleep 0.1; done")
        with open(os.path.join(self.dir, "ss.txt"), "w", encoding="utf-8") as f:
            f.write("Netid State  Recv-Q Send-Q Local Address:Port Peer Address:Port Process\n")
        shown = example.printed.replace("(process 1042)", f"(process {pid})")
        self.assertEqual(self.done(example, status=1).split(), shown.split())
        self.vm.check(f"kill {pid}")

    @truth("sdt:::outsight_task", "sdt:::outsight_module", "sdt:::outsight_pass")
    def test_walks(self, task, module, end):
        """Each process and module that the guest shows, once in each walk."""
        self.load()
        trace = self.trace(f"outsight -g web01 -q -n '{task.text} {{ @t[arg1] = count(); }} "
                           f"{module.text} {{ @m[\"modules\"] = count(); }} {end.text} {{ @p[\"passes\"] = count(); }} "
                           f"{end.text} /++n == 6/ {{ printf(\"enough\\n\"); }}'")
        trace.wait_for("enough", LIMIT)
        modules = len(self.vm.check("cat /proc/modules").splitlines())
        trace.stop()
        rows = {key: int(count) for key, count in re.findall(r"^ +(\w+) +(\d+)$", trace.out, re.M)}
        self.assertGreaterEqual(rows["passes"], 6, trace.story())
        self.assertIn("1", rows)
        self.assertLess(abs(rows["1"] - rows["passes"]), 0.6 * rows["passes"] + 2, trace.story())
        self.assertEqual(rows["modules"] % modules, 0, trace.story())

    @only_full
    @truth("syscall:::entry, syscall:::return { trace(tid); trace(execname); }")
    def test_perfetto(self, example):
        """A trace with a track for each thread of the guest."""
        job = self.vm.spawn("mixed 3")
        self.done(f"outsight -g web01 -x maxcost=0 -qo x.pftrace -n '{example.text} tick-1s {{ exit(0); }}'")
        with open(self.path("x.pftrace"), "rb") as f:
            found = Trace(f.read())
        job.wait_end()
        slices = [event for track in found.tracks if track.parent and not track.thread for event in track.events if event.end]
        self.assertGreater(len(slices), 10)


def why_not():
    """None when these can run here, else the reason."""
    if not glob.glob(os.path.join(cache_dir(), "headers", KERNEL, "usr/src/linux-headers-*amd64")):
        return f"no headers of {KERNEL} (scripts/guest-agent {KERNEL} fetches them)"
    return ga.why_no_agent(KERNEL, "hide")
