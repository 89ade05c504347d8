#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The D libraries: what translators make of the kernel's structures, against /proc and the load's known numbers."""
import re
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.outsight import keyed, numbers
from lib.scenario import Scenario, main, only_full


def translated(kind, value, *members):
    """The arguments of printf() that are these members of @value, translated to @kind."""
    return ", ".join(f"xlate <{kind} *> ({value})->{member}" for member in members)


class Tasks(Scenario):
    OUTSIDE = ('BEGIN { printf("%d %d %d %d %d %s %s %d %d\\n", curpsinfo->pr_pid == pid, curpsinfo->pr_ppid == ppid, '
               "curpsinfo->pr_nlwp, curpsinfo->pr_addr, curpsinfo->pr_argc, curpsinfo->pr_fname, curpsinfo->pr_psargs, "
               "curpsinfo->pr_wstat, curpsinfo->pr_nzomb); } "
               'tick-10ms { printf("%d %d %c %d %d %s\\n", curlwpsinfo->pr_lwpid == tid, curlwpsinfo->pr_flag, '
               "curlwpsinfo->pr_sname, curlwpsinfo->pr_pri, curlwpsinfo->pr_bindpro, curlwpsinfo->pr_name); exit(0); } "
               'END { printf("%d %s\\n", curpsinfo->pr_pid == pid, curpsinfo->pr_fname); }')

    def test_process(self):
        """psinfo_t and lwpsinfo_t of a process have what /proc has; where no task of the guest runs, outsight's own."""
        program = ('syscall::clock_nanosleep:entry, syscall::nanosleep:entry /execname == "sleep"/ { '
                   'printf("P %d %d %d %d %d %d %d [%s] %d %x %x %d\\n", curpsinfo->pr_pid, curpsinfo->pr_ppid, '
                   "curpsinfo->pr_pgid, curpsinfo->pr_sid, curpsinfo->pr_nlwp, curpsinfo->pr_uid, curpsinfo->pr_egid, "
                   "curpsinfo->pr_psargs, curpsinfo->pr_argc, curpsinfo->pr_argv, curpsinfo->pr_envp, "
                   "curpsinfo->pr_dmodel == PR_MODEL_LP64); "
                   'printf("L %d %c %d %s %d %d %d %d\\n", curlwpsinfo->pr_state == SONPROC, curlwpsinfo->pr_sname, '
                   "curlwpsinfo->pr_pri, curlwpsinfo->pr_clname, curlwpsinfo->pr_nice, curlwpsinfo->pr_bindpro, "
                   "curlwpsinfo->pr_onpro == cpu, curlwpsinfo->pr_syscall); "
                   'printf("T %d\\n", curpsinfo->pr_ttydev == PRNODEV); }')
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program)
            stat = guest.check("setsid sh -c 'renice -n 5 $$ >/dev/null; taskset -p 2 $$ >/dev/null; "
                               "cat /proc/$$/stat; exec sleep 0.1 0.2'")
            trace.stop()
            own = self.outsight.run(guest, "-q", "-n", self.OUTSIDE)
        self.assertEqual((own[0], own[1].split("\n")[:3], own[2]),
                         (0, ["1 1 1 0 0 dtrace dtrace 0 0", "1 0 O 0 -1 dtrace", "1 dtrace"], ""))
        field = stat.rsplit(")", 1)[1].split()  # field 3 of proc(5) is field[0]
        pid = int(stat.split()[0])
        ids = [pid, *map(int, field[1:4])]
        line = next(line for line in trace.lines if line.startswith(f"P {pid} "))
        m = re.fullmatch(r"P (.*) 1 0 0 \[sleep 0\.1 0\.2\] 3 ([0-9a-f]+) ([0-9a-f]+) 1", line)
        self.assertTrue(m, trace.story())
        self.assertEqual([int(n) for n in m.group(1).split()], ids, trace.story())
        self.assertEqual(int(m.group(3), 16) - int(m.group(2), 16), 8 * (3 + 1), trace.story())
        # 39: how the kernel's priority of a process of nice 0, which stat has as 20, becomes 19
        number = "(35|230)"
        self.assertRegex(trace.out, rf"L 1 O {39 - int(field[15])} TS 5 1 1 {number}\n")
        self.assertEqual(int(field[16]), 5)
        self.assertIn("T 1", trace.lines)

    def test_states(self):
        """A task that is made is idle, one that is woken slept, and the current one runs; so are their flags."""
        program = ('fbt::wake_up_new_task:entry /execname == "sh"/ { this->t = (struct task_struct *)arg0; '
                   '@[strjoin("new ", stringof(this->t->comm)), xlate <lwpsinfo_t *> (this->t)->pr_state == SIDL, '
                   "xlate <lwpsinfo_t *> (this->t)->pr_sname == 'I', xlate <psinfo_t *> (this->t)->pr_psargs == \"sh\"] "
                   "= count(); } "
                   'fbt::schedule:entry /execname == "sleep" && curthread->exit_state == 0/ { '
                   "@s[curlwpsinfo->pr_sname == 'S' && curlwpsinfo->pr_state == SSLEEP && "
                   "(curlwpsinfo->pr_flag & PR_ASLEEP) ? \"asleep\" : curlwpsinfo->pr_sname == 'O' ? \"running\" : "
                   "curlwpsinfo->pr_sname == 'Z' ? \"ended\" : \"else\"] = count(); } "
                   "fbt::wake_up_process:entry { @k[(xlate <lwpsinfo_t *> ((struct task_struct *)arg0)->pr_flag & "
                   'PR_ISSYS) == 0 == (((struct task_struct *)arg0)->mm != 0) ? "kind" : "wrong kind"] = count(); } '
                   'syscall::: /curlwpsinfo->pr_sname != \'O\' || curlwpsinfo->pr_flag & PR_ISSYS/ '
                   '{ @w["wrong state"] = count(); }')
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program)
            guest.check("sh -c 'sleep 0.1 & wait; sleep 0.1'")
            trace.stop()
        rows = [line.split() for line in trace.lines]
        self.assertIn(["new", "sh", "1", "1", "1"], [row[:5] for row in rows], trace.story())
        counts = keyed(trace.out)
        self.assertGreaterEqual(counts.get("asleep", 0), 2, trace.story())
        for wrong in ("else", "wrong kind", "wrong state"):
            self.assertNotIn(wrong, counts, trace.story())

    @only_full
    def test_cpus(self):
        """curcpu, a run queue's CPU and another task's are the guest's numbers; a per-CPU variable is this CPU's."""
        program = ('syscall::getppid:entry /execname == "getppid_loop"/ { @wrong = sum(curcpu->cpu_id != cpu || QUEUE.cpu != cpu || '
                   "xlate <cpuinfo_t *> (&QUEUE)->cpu_id != cpu || curlwpsinfo->pr_onpro != cpu || "
                   "QUEUE.curr != curthread); @n = count(); @cpus[curcpu->cpu_chip] = count(); "
                   "@name[curcpu->cpu_info.pi_processor_type] = count(); }")
        with self.guest() as guest:
            # 5.10's BTF does not have the types of variables
            typed = self.outsight.run(guest, "-e", "-n", "BEGIN { trace(`runqueues.cpu); }")[0] == 0
            queue = "`runqueues" if typed else "(*(struct rq *)&`runqueues)"
            trace = self.outsight.trace(guest, program.replace("QUEUE", queue))
            guest.check("getppid_loop 4 100")
            model = re.search(r"model name\s*:\s*(.*)", guest.check("cat /proc/cpuinfo")).group(1).strip()
            chips = set(guest.check("cat /sys/devices/system/cpu/cpu*/topology/physical_package_id").split())
            trace.stop()
        wrong, calls = numbers(trace.out)[:2]
        self.assertEqual(wrong, 0, trace.story())
        self.assertGreaterEqual(calls, 400, trace.story())
        rows = [line.split() for line in trace.lines]
        self.assertEqual({row[0] for row in rows if len(row) == 2 and row[0].isdigit()}, chips, trace.story())
        self.assertIn([*model.split(), str(calls)], rows, trace.story())


class Files(Scenario):
    def test_descriptors(self):
        """fds[] and cwd of a process that reads, seeks and writes; a pipe and a number that is not open have no name."""
        program = ('syscall::read:entry, syscall::write:entry /execname == "dd" && arg0 < 2/ { '
                   'printf("%s %s %s %s %d %s %s %x %s\\n", probefunc, fds[arg0].fi_name, fds[arg0].fi_dirname, '
                   "fds[arg0].fi_pathname, fds[arg0].fi_offset, fds[arg0].fi_fs, fds[arg0].fi_mount, "
                   "fds[arg0].fi_oflags & (O_ACCMODE | O_APPEND), cwd); "
                   'printf("none %s %s\\n", fds[99].fi_pathname, fds[-1].fi_fs); } '
                   'syscall::read:entry /execname == "cat" && arg0 == 0/ { printf("pipe %s %s\\n", '
                   "fds[0].fi_name, fds[0].fi_fs); }")
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program)
            guest.check("cd /sys; dd if=/proc/version of=/tmp/copy bs=10 skip=1 count=2 2>/dev/null; "
                        "echo x | cat >/dev/null; rm /tmp/copy")
            trace.stop()
        self.assertIn("read version /proc /proc/version 10 proc /proc 0 /sys", trace.lines, trace.story())
        self.assertIn("read version /proc /proc/version 20 proc /proc 0 /sys", trace.lines, trace.story())
        self.assertIn("write copy /tmp /tmp/copy 0 tmpfs /tmp 1 /sys", trace.lines, trace.story())
        self.assertIn("write copy /tmp /tmp/copy 10 tmpfs /tmp 1 /sys", trace.lines, trace.story())
        self.assertIn("none <none> <none>", trace.lines, trace.story())
        self.assertIn("pipe <none> pipefs", trace.lines, trace.story())

    def test_block_io(self):
        """What a file's pages are written and read by: its name, the device, all bytes."""
        bio = "(struct bio *)arg0"
        program = (f'fbt::submit_bio:entry /{translated("fileinfo_t", bio, "fi_name")} == "big"/ {{ '
                   f'printf("%s %d %d,%d %d %s %s %s %s %s %s\\n", '
                   f'{translated("bufinfo_t", bio, "b_flags")} & B_READ ? "R" : "W", '
                   f'{translated("bufinfo_t", bio, "b_bcount")}, '
                   f'getmajor({translated("bufinfo_t", bio, "b_edev")}), '
                   f'{translated("devinfo_t", bio, "dev_minor")}, {translated("bufinfo_t", bio, "b_error")}, '
                   f'{translated("devinfo_t", bio, "dev_name", "dev_statname", "dev_pathname")}, '
                   f'{translated("fileinfo_t", bio, "fi_pathname", "fi_fs", "fi_mount")}); }}')
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program)
            guest.check("mkdir -p /mnt/dir && dd if=/dev/zero of=/mnt/dir/big bs=4k count=20 2>/dev/null && sync && "
                        "echo 3 > /proc/sys/vm/drop_caches && cat /mnt/dir/big >/dev/null; rm -r /mnt/dir")
            trace.stop()
        done = {"R": 0, "W": 0}
        for line in trace.lines:
            m = re.fullmatch(r"([RW]) (\d+) 7,0 0 loop0 loop0 /dev/loop0 /mnt/dir/big ext2 /mnt", line)
            if m:
                done[m.group(1)] += int(m.group(2))
            else:
                self.assertNotIn("big", line, trace.story())
        self.assertEqual(done, {"R": 81920, "W": 81920}, trace.story())


class Network(Scenario):
    def test_connection(self):
        """A TCP connection over the loopback: its ports, addresses, states, and the segments' headers."""
        sock, skb = "(struct sock *)arg0", "(struct sk_buff *)arg0"
        program = (f'fbt::tcp_set_state:entry {{ printf("S %s:%d %s:%d %s %s\\n", '
                   f'{translated("tcpsinfo_t", sock, "tcps_laddr", "tcps_lport", "tcps_raddr", "tcps_rport")}, '
                   f'tcp_state_string[{translated("tcpsinfo_t", sock, "tcps_state")}], '
                   "tcp_state_string[xlate <tcplsinfo_t *> ((int)arg1)->tcps_state]); } "
                   f'fbt::tcp_v4_rcv:entry {{ printf("R %s %s %d %d %d %d %d %d\\n", '
                   f'{translated("ipinfo_t", skb, "ip_saddr")}, {translated("ipv4info_t", skb, "ipv4_protostr")}, '
                   f'{translated("tcpinfo_t", skb, "tcp_sport", "tcp_dport", "tcp_flags")}, '
                   f'{translated("ipinfo_t", skb, "ip_plength")} - {translated("tcpinfo_t", skb, "tcp_offset")}, '
                   f'{translated("ipv4info_t", skb, "ipv4_ttl")}, {translated("ifinfo_t", skb, "if_local")}); }}')
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program)
            guest.check("ip link set lo up; nc -l -p 7777 >/dev/null & while ! grep -q ':1E61 .*:0000 0A ' /proc/net/tcp*; do "
                        "usleep 10000; done; echo hello | nc 127.0.0.1 7777; wait")
            trace.stop()
        segments = [line.split() for line in trace.lines if re.match(r"R .* 7777 ", line)]
        self.assertTrue(segments, trace.story())
        self.assertEqual({(row[1], row[2], row[7], row[8]) for row in segments}, {("127.0.0.1", "TCP", "64", "1")})
        client = ({int(port) for row in segments for port in row[3:5]} - {7777}).pop()
        to_server = [row for row in segments if int(row[4]) == 7777]
        # SYN without data first, 6 bytes altogether
        self.assertEqual(to_server[0][5:7], ["2", "0"], trace.story())
        self.assertEqual(sum(int(row[6]) for row in to_server), 6, trace.story())
        ends = f"127.0.0.1:{client} 127.0.0.1:7777"
        self.assertIn(f"S {ends} state-syn-sent state-established", trace.lines, trace.story())
        ends = f"127.0.0.1:7777 127.0.0.1:{client}"
        self.assertIn(f"S {ends} state-syn-received state-established", trace.lines, trace.story())

    @only_full
    def test_datagram(self):
        """UDP and IPv6: ports, lengths, addresses."""
        skb = "(struct sk_buff *)arg0"
        program = (f'fbt::udp_rcv:entry {{ printf("U %d %d %s %d\\n", '
                   f'{translated("udpinfo_t", skb, "udp_sport", "udp_length")}, '
                   f'{translated("ipinfo_t", skb, "ip_daddr", "ip_plength")}); }} '
                   'fbt::udp_send_skb:entry { this->k = ((struct sk_buff *)arg0)->sk; printf("S %d %s\\n", '
                   f'{translated("udpsinfo_t", "this->k", "udps_lport", "udps_laddr")}); }} '
                   'fbt::ip6_finish_output:entry { this->s = (struct sk_buff *)arg2; printf("V %s %s %s %d %d\\n", '
                   f'{translated("ipv6info_t", "this->s", "ipv6_saddr", "ipv6_daddr", "ipv6_nextstr")}, '
                   f'{translated("ipv6info_t", "this->s", "ipv6_plen", "ipv6_hlim")}); }}')
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program)
            guest.check("ip link set lo up; traceroute -n -q 1 -m 1 127.0.0.1 60; ping -c 1 -s 100 ::1")
            trace.stop()
        # 60 bytes, 20 of them are IP's header
        received = re.search(r"^U (\d+) 40 127\.0\.0\.1 40$", trace.out, re.M)
        self.assertTrue(received, trace.story())
        self.assertIn(f"S {received.group(1)} 127.0.0.1", trace.lines, trace.story())
        # an echo and its answer: 8 bytes of header each
        self.assertEqual(trace.lines.count("V ::1 ::1 ICMPV6 108 64"), 2, trace.story())


if __name__ == "__main__":
    sys.exit(main())
