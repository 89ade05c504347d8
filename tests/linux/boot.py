#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Boot a test guest and run what stands on stdin in it, line by line; it ends with the input.

    tests/linux/boot.py 6.1 --plugin build/release/lib/liboutsight-tcg.so --name web01
    guest> uname -r
"""
import argparse
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.guest import MIB, Guest, GuestError, why_no_guest


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kernel", nargs="?", default="6.1")
    parser.add_argument("--smp", type=int, default=2)
    parser.add_argument("--memory", type=int, default=512, help="MiB")
    parser.add_argument("--cpu", default="max")
    parser.add_argument("--append", default="", help="more of the kernel command line")
    parser.add_argument("--plugin", help="path of liboutsight-tcg.so")
    parser.add_argument("--name", help="the guest's name for outsight -g")
    parser.add_argument("--socket", help="path of the control socket")
    args = parser.parse_args()
    reason = why_no_guest(args.kernel)
    if reason:
        sys.exit(f"boot.py: {reason}")
    with Guest(args.kernel, smp=args.smp, memory=args.memory * MIB, cpu=args.cpu, append=args.append,
               plugin=args.plugin, name=args.name, socket_path=args.socket) as guest:
        print(f"guest {guest.name}, QEMU's pid {guest.pid}, RAM {guest.ram_path()}, QMP {guest.path('qmp')}")
        prompt = "guest> " if sys.stdin.isatty() else ""
        print(prompt, end="", flush=True)
        for line in sys.stdin:
            if line.strip():
                status, out = guest.run(line.strip(), timeout=3600)
                print(out, end="" if out.endswith("\n") or not out else "\n")
                if status:
                    print(f"(status {status})")
            print(prompt, end="", flush=True)


if __name__ == "__main__":
    try:
        main()
    except GuestError as e:
        sys.exit(f"boot.py: {e}")
    except KeyboardInterrupt:
        pass
