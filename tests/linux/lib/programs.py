# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs of tests/linux/user, built on this host and put into a guest, with the host's own C library.

    programs = Programs(folder)
    Guest(..., more_files=programs.archive)

bin/callers is dynamic and whole, bin/bare the same stripped, bin/solid static, bin/padded has 1 MiB before its symbols.
bin/allocating allocates memory, bin/beam is as Erlang's machine, bin/counted counts its calls, bin/forging makes itself
expensive to read, bin/leaving counts calls of functions that are left in every way there is, bin/trapping executes an int3
until it is replaced, bin/probed has static probes, bin/sampled has the kernel take samples, bin/sorting has no frame pointers and says what its stack is, bin/stopper
is a debugger, bin/storm has many children, which load libstorm.so, bin/timing asks for the time and writes its vdso to a file,
bin/untouched passes memory to system calls that it has not touched. With @cxx bin/thrower throws exceptions of the host's C++
library. With @python, where the host has one with static probes, usr/bin/python3 is its Python, with no more modules than it
needs to start, and bin/asking.py, bin/calling.py, bin/nested.py and bin/framed.py are scripts for it. With @runtimes bin/erlang, bin/ccl and bin/java have the static probes of these,
and bin/made makes some as it runs.
"""
import os
import re
import shutil
import subprocess

HERE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "user")
FLAGS = ["-O0", "-fno-omit-frame-pointer", "-Wl,--build-id"]
LIBRARIES = "lib/x86_64-linux-gnu"
PADDING = 1 << 20


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def copy_needed(root, program):
    """The libraries of one of this host's programs, where it looks for them."""
    for path in re.findall(r"=> (/\S+)", run("ldd", program)):
        shutil.copy(os.path.realpath(path), os.path.join(root, LIBRARIES, os.path.basename(path)))


def python_with_probes():
    """This host's Python, if its distribution has built it with static probes; else None."""
    path = os.path.realpath("/usr/bin/python3")
    return path if os.path.exists(path) and "function__return" in run("readelf", "-nW", path) else None


def add_python(root):
    """That, with no more modules than it needs to start. False: there is none."""
    path = python_with_probes()
    if not path:
        return False
    modules = f"usr/lib/{os.path.basename(path)}/encodings"
    for name in ("usr/bin", modules):
        os.makedirs(os.path.join(root, name))
    shutil.copy(path, os.path.join(root, "usr/bin/python3"))
    for name in ("__init__", "aliases", "utf_8", "ascii", "latin_1"):
        shutil.copy(f"/{modules}/{name}.py", os.path.join(root, modules))
    copy_needed(root, path)
    return True


def pack(root, archive):
    """A tree as an archive that a guest unpacks over its initramfs."""
    names = run("find", root, "-mindepth", "1", "-printf", "%P\\n")
    with open(archive, "wb") as out:
        subprocess.run(["cpio", "-o", "-H", "newc", "--quiet", "-R", "0:0"], cwd=root, input=names.encode(), stdout=out,
                       check=True)


class Programs:
    def __init__(self, folder, cxx=False, python=False, runtimes=False):
        self.root = os.path.join(folder, "root")
        for name in ("bin", LIBRARIES, "lib64"):
            os.makedirs(os.path.join(self.root, name))
        source = [os.path.join(HERE, name) for name in ("callers.c", "leaf.c")]
        self.libleaf = self.path(f"{LIBRARIES}/libleaf.so")
        run("gcc", *FLAGS, "-shared", "-fPIC", "-Wl,-soname,libleaf.so", "-o", self.libleaf, source[1])
        self.callers = self.path("bin/callers")
        run("gcc", *FLAGS, "-o", self.callers, source[0], self.libleaf)
        run("gcc", *FLAGS, "-o", self.path("bin/counted"), os.path.join(HERE, "counted.c"))
        self.leaving = self.path("bin/leaving")
        run("gcc", "-O1", "-Wl,--build-id", "-o", self.leaving, os.path.join(HERE, "leaving.c"))
        run("gcc", "-O2", "-o", self.path("bin/probed"), os.path.join(HERE, "probed.c"))
        self.sorting = self.path("bin/sorting")
        run("gcc", "-O2", "-fomit-frame-pointer", "-static-libgcc", "-o", self.sorting, os.path.join(HERE, "sorting.c"))
        run("gcc", "-O2", "-fomit-frame-pointer", "-o", self.path("bin/timing"), os.path.join(HERE, "timing.c"))
        run("strip", "-o", self.path("bin/bare"), self.callers)
        run("gcc", *FLAGS, "-static", "-o", self.path("bin/solid"), *source)
        run("gcc", "-O2", "-o", self.path("bin/allocating"), os.path.join(HERE, "allocating.c"))
        run("gcc", "-O2", "-rdynamic", "-Wl,--build-id", "-o", self.path("bin/beam"), os.path.join(HERE, "beam.c"))
        run("gcc", "-O1", "-rdynamic", "-o", self.path("bin/storm"), os.path.join(HERE, "storm.c"), "-ldl")
        run("gcc", "-O1", "-shared", "-fPIC", "-o", self.path(f"{LIBRARIES}/libstorm.so"), source[1])
        run("gcc", *FLAGS, "-static", "-o", self.path("bin/stopper"), os.path.join(HERE, "stopper.c"))
        run("gcc", *FLAGS, "-static", "-o", self.path("bin/trapping"), os.path.join(HERE, "trapping.c"))
        run("gcc", "-O1", "-static", "-o", self.path("bin/sampled"), os.path.join(HERE, "sampled.c"))
        run("gcc", *FLAGS, "-o", self.path("bin/forging"), os.path.join(HERE, "forging.c"))
        run("gcc", *FLAGS, "-static", "-o", self.path("bin/untouched"), os.path.join(HERE, "untouched.c"))
        self._add_guards()
        with open(os.path.join(folder, "zeros"), "wb") as f:
            f.truncate(PADDING)
        run("objcopy", "--add-section", f".zeros={f.name}", self.callers, self.path("bin/padded"))
        self._copy_libraries()
        if cxx:
            self._add_thrower()
        if runtimes:
            self._add_runtimes()
        self.python = python and self._add_python()
        self.archive = os.path.join(folder, "programs.cpio")
        pack(self.root, self.archive)

    def path(self, name):
        return os.path.join(self.root, name)

    def _copy_libraries(self):
        """The loader and the C library, where the program looks for them."""
        found = run("ldd", self.callers)
        libc = re.search(r"libc\.so\.6 => (\S+)", found).group(1)
        loader = re.search(r"(/\S*/ld-linux\S+)", found).group(1)
        self.libc = self.path(f"{LIBRARIES}/libc.so.6")
        shutil.copy(os.path.realpath(libc), self.libc)
        shutil.copy(os.path.realpath(loader), self.path(f"lib64/{os.path.basename(loader)}"))

    def _add_guards(self):
        """The same probe in each kind of file."""
        main, guard = (os.path.join(HERE, name) for name in ("guards.c", "guarding.c"))
        library = self.path(f"{LIBRARIES}/libguarding.so")
        run("gcc", "-O2", "-shared", "-fPIC", "-Wl,-soname,libguarding.so", "-o", library, guard)
        for name, words in (("moved", ("-pie", "-fPIE", guard)), ("fixed", ("-no-pie", "-fno-pie", guard)),
                            ("whole", ("-static", "-no-pie", "-fno-pie", guard)), ("placed", ("-static-pie", "-fPIE", guard)),
                            ("linked", ("-Wl,--no-as-needed", library)), ("loads", ())):
            run("gcc", "-O2", "-w", "-o", self.path(f"bin/{name}"), main, *words)

    def _add_thrower(self):
        run("gcc", "-O2", "-o", self.path("bin/thrower"), os.path.join(HERE, "thrower.c"))
        self.libstdcxx = run("gcc", "-print-file-name=libstdc++.so.6").strip()
        shutil.copy(os.path.realpath(self.libstdcxx), self.path(f"{LIBRARIES}/libstdc++.so.6"))
        self._copy_needed(self.libstdcxx)

    def _add_python(self):
        """False: this host has none whose distribution has built it with static probes."""
        if not add_python(self.root):
            return False
        for name in ("asking.py", "calling.py", "nested.py", "framed.py", "framed_inner.py"):
            shutil.copy(os.path.join(HERE, name), self.path("bin"))
        return True

    def _add_runtimes(self):
        for name in ("erlang", "ccl", "java", "made"):
            run("gcc", "-O2", "-o", self.path(f"bin/{name}"), os.path.join(HERE, f"{name}.c"))
        for name, source in (("jvm", "jvm.c"), ("made", "libmade.c")):
            run("gcc", "-O2", "-shared", "-fPIC", "-Wl,--build-id=none", "-o", self.path(f"{LIBRARIES}/lib{name}.so"), os.path.join(HERE, source))

    def _copy_needed(self, program):
        copy_needed(self.root, program)

    def put_debug(self, sysroot):
        """bare's debugging information below a sysroot, as distributions have it."""
        name = build_id(self.callers)
        path = os.path.join(sysroot, "usr/lib/debug/.build-id", name[:2], f"{name[2:]}.debug")
        os.makedirs(os.path.dirname(path))
        run("objcopy", "--only-keep-debug", self.callers, path)


def symbols(path, *options):
    """[(address, size, name)] of a file's functions by nm(1), sorted."""
    rows = re.findall(r"^([0-9a-f]+) ([0-9a-f]+) [tTwWi] (\S+)$", run("nm", "-S", *options, path), re.M)
    return sorted((int(at, 16), int(size, 16), name.split("@")[0]) for at, size, name in rows)


def build_id(path):
    return re.search(r"Build ID: (\w+)", run("readelf", "-n", path)).group(1)


def debug_file(path):
    """[its debugging information] of a library that came with this host, where that is installed."""
    name = build_id(path)
    debug = f"/usr/lib/debug/.build-id/{name[:2]}/{name[2:]}.debug"
    return [debug] if os.path.exists(debug) else []


def library_symbols(path):
    """Those of a library that came with this host: what it exports, and, where it is installed, its debugging information."""
    return symbols(path, "-D") + [row for debug in debug_file(path) for row in symbols(debug)]


def places(path, *options):
    """{name: address} of all that a file defines by nm(1), also what has no size."""
    rows = re.findall(r"^([0-9a-f]+) \w (\S+)$", run("nm", *options, path), re.M)
    return {name.split("@")[0]: int(at, 16) for at, name in rows}


def load_bias(path, maps, name):
    """What is added to a file's addresses in a process: by its first mapping and its first segment."""
    start = min(int(line.split("-")[0], 16) for line in maps.splitlines() if line.endswith(f"/{name}"))
    segment = re.search(r"LOAD +0x\w+ 0x(\w+)", run("readelf", "-lW", path))
    return start - int(segment.group(1), 16)


def names_of(pc, bias, table):
    """All texts of an address that nm(1) allows, without the file's: {"leaf+0x4"}."""
    at = pc - bias
    return {f"{name}+{at - start:#x}" if at > start else name for start, size, name in table
            if start <= at < start + size}
