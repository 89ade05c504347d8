#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""ip, tcp and udp of a stock kernel, without anything in the guest: counts against /proc/net/snmp, arguments against the
ports, addresses and lengths of a load that is known."""
import re
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.outsight import keyed
from lib.pace import rounds
from lib.scenario import Scenario, main, only_full
from lib.truth import Truth, agree

# What netload says of itself.
OPEN, DEAD, UDP = 7001, 7002, 7003
LOOPBACKS = ("127.0.0.1", "::1")
STATES = "sock/inet_sock_set_state"


def counters(guest):
    """{"TcpInSegs": n, …}: the guest's own counters of both versions of IP."""
    found = {}
    for file in ("snmp", "netstat"):
        lines = guest.check(f"cat /proc/net/{file}").splitlines()
        for names, values in zip(lines[::2], lines[1::2]):
            prefix = names.split(":")[0]
            found.update((prefix + name, int(value)) for name, value in zip(names.split()[1:], values.split()[1:]))
    for line in guest.check("cat /proc/net/snmp6").splitlines():
        name, value = line.split()
        found[name] = int(value)
    return found


def settled(now, start):
    """Has all that was sent over the loopback arrived?"""
    def grown(*names):
        return sum(now[name] - start[name] for name in names)
    return (grown("IpOutRequests") == grown("IpInReceives") and grown("Ip6OutRequests") == grown("Ip6InReceives") and
            grown("TcpOutSegs", "TcpRetransSegs") == grown("TcpInSegs"))


def table(text):
    """{(key, …): value} of default aggregation tables."""
    rows = (line.split() for line in text.splitlines())
    return {tuple(row[:-1]): int(row[-1]) for row in rows if len(row) > 1 and re.fullmatch(r"-?\d+", row[-1])}


class Network(Scenario):
    def loaded(self, guest, program, n):
        """(the trace, how the guest's counters grew) over netload @n."""
        trace = self.outsight.trace(guest, program)
        start = counters(guest)
        guest.check(f"netload {n}")
        end = counters(guest)
        while not settled(end, start):
            end = counters(guest)
        trace.stop()
        return trace, {name: value - start.get(name, 0) for name, value in end.items()}

    def test_listing(self):
        """They are there without the module, with D's types in Solaris's order."""
        header = "pktinfo_t *", "csinfo_t *", "ipinfo_t *"
        kinds = {"ip:::send": (*header, "ifinfo_t *", "ipv4info_t *", "ipv6info_t *"),
                 "ip:::receive": (*header, "ifinfo_t *", "ipv4info_t *", "ipv6info_t *"),
                 "udp:::send": (*header, "udpsinfo_t *", "udpinfo_t *"),
                 "udp:::receive": (*header, "udpsinfo_t *", "udpinfo_t *"),
                 "tcp:::state-change": ("void", "csinfo_t *", "void", "tcpsinfo_t *", "void", "tcplsinfo_t *")}
        for name in ("send", "receive", "connect-request", "connect-established", "connect-refused",
                     "accept-established", "accept-refused"):
            kinds[f"tcp:::{name}"] = (*header, "tcpsinfo_t *", "tcpinfo_t *")
        with self.guest() as guest:
            for probe, types in kinds.items():
                status, out, err = self.outsight.run(guest, "-lvn", probe)
                self.assertEqual(status, 0, out + err)
                self.assertEqual(tuple(re.findall(r"args\[\d\]: (.*)", out)), types, out)

    def test_counts(self):
        """Each probe fires as often as the guest counts, and as the load makes it."""
        n = rounds(5, 50)
        program = ("ip:::send, ip:::receive { @v[strjoin(\"ip:::\", probename), args[2]->ip_ver] = count(); } "
                   "ip:::send { @b[\"ip:::send-bytes\", args[2]->ip_ver] = sum(args[2]->ip_plength); } "
                   "tcp:::, udp::: { @[strjoin(strjoin(probeprov, \":::\"), probename)] = count(); }")
        with self.guest() as guest:
            with Truth(guest, {STATES: ((), "protocol == 6")}) as truth:
                trace, grown = self.loaded(guest, program, n)
                truth.read()
        seen = table(trace.out)
        expected = {
            ("ip:::send", "4"): grown["IpOutRequests"], ("ip:::send", "6"): grown["Ip6OutRequests"],
            ("ip:::receive", "4"): grown["IpInReceives"], ("ip:::receive", "6"): grown["Ip6InReceives"],
            ("ip:::send-bytes", "4"): grown["IpExtOutOctets"] - 20 * grown["IpOutRequests"],
            ("ip:::send-bytes", "6"): grown["Ip6OutOctets"] - 40 * grown["Ip6OutRequests"],
            ("tcp:::send",): grown["TcpOutSegs"] + grown["TcpRetransSegs"], ("tcp:::receive",): grown["TcpInSegs"],
            ("tcp:::connect-request",): grown["TcpActiveOpens"], ("tcp:::connect-refused",): grown["TcpAttemptFails"],
            ("tcp:::accept-established",): grown["TcpPassiveOpens"],
            ("tcp:::state-change",): truth.hits(STATES),
            ("udp:::send",): grown["UdpOutDatagrams"] + grown["Udp6OutDatagrams"],
            ("udp:::receive",): grown["UdpInDatagrams"] + grown["Udp6InDatagrams"],
            ("tcp:::connect-established",): 4 * n, ("tcp:::accept-refused",): 2 * n}
        self.assertEqual(set(seen), set(expected), trace.story())
        by_load = ("tcp:::connect-established",), ("tcp:::accept-refused",)  # the guest counts neither
        for key, true in expected.items():
            by = "the load" if key in by_load else "inet_sock_set_state" if "state" in key[0] else "/proc/net"
            agree(self, " ".join(key), seen[key], true, by, trace.story())
        self.assertEqual(expected["tcp:::connect-request",], 6 * n)
        self.assertEqual(expected["tcp:::connect-refused",], 2 * n)
        self.assertEqual(expected["udp:::send",], 4 * n)

    @only_full
    def test_published(self):
        """One-liners as they are printed in other systems' books."""
        n = rounds(3, 20)
        program = ("tcp:::accept-established { @accepted[args[3]->tcps_raddr, args[3]->tcps_lport] = count(); } "
                   'tcp:::state-change { printf("%s -> %s\\n", tcp_state_string[args[5]->tcps_state], '
                   "tcp_state_string[args[3]->tcps_state]); } "
                   "ip:::send { @bytes[args[2]->ip_daddr] = sum(args[2]->ip_plength); } "
                   'tcp:::send /args[4]->tcp_flags & TH_RST/ { @rst["resets"] = count(); } '
                   "udp:::receive { @udp[args[4]->udp_dport] = count(); } "
                   "ip:::receive { @interface[args[3]->if_name] = count(); }")
        with self.guest() as guest:
            trace, grown = self.loaded(guest, program, n)
        seen = table(trace.out)
        for address in LOOPBACKS:
            self.assertEqual(seen[address, str(OPEN)], 2 * n, trace.story())
        self.assertEqual(seen["127.0.0.1",], grown["IpExtOutOctets"] - 20 * grown["IpOutRequests"], trace.story())
        self.assertEqual(seen["::1",], grown["Ip6OutOctets"] - 40 * grown["Ip6OutRequests"], trace.story())
        self.assertEqual(seen["resets",], grown["TcpOutRsts"], trace.story())
        self.assertEqual(seen[str(UDP),], 2 * n, trace.story())
        self.assertEqual(seen["lo",], grown["IpInReceives"] + grown["Ip6InReceives"], trace.story())
        # half of the connections end by a reset: the client's side at once, the server's when that arrives
        for change, times in (("closed -> state-syn-sent", 6), ("syn-sent -> state-established", 4),
                              ("syn-sent -> state-closed", 2), ("listen -> state-syn-received", 4),
                              ("syn-received -> state-established", 4), ("established -> state-fin-wait-1", 2),
                              ("established -> state-close-wait", 2), ("close-wait -> state-last-ack", 2),
                              ("last-ack -> state-closed", 2), ("established -> state-closed", 4)):
            self.assertEqual(trace.lines.count(f"state-{change}"), times * n, change + trace.story())

    def test_connections(self):
        """Both ends of each connection, by its socket and by its segments' headers; what is refused, from both sides."""
        n = rounds(3, 20)
        sock = "args[3]->tcps_raddr, args[3]->tcps_rport, args[3]->tcps_lport"
        program = ('tcp:::connect-request { @a["request", args[2]->ip_daddr, args[4]->tcp_dport, args[4]->tcp_flags, '
                   "tcp_state_string[args[3]->tcps_state]] = count(); seq[args[4]->tcp_sport] = args[4]->tcp_seq; } "
                   "tcp:::send /args[4]->tcp_flags == TH_SYN && args[4]->tcp_seq == seq[args[4]->tcp_sport]/ "
                   '{ @["as requested"] = count(); } '
                   'tcp:::connect-established { @e["established", args[3]->tcps_raddr, args[3]->tcps_rport, '
                   "args[4]->tcp_sport, args[4]->tcp_flags, tcp_state_string[args[3]->tcps_state]] = count(); } "
                   'tcp:::connect-refused { @f["refused", args[2]->ip_saddr, args[4]->tcp_sport, args[3]->tcps_rport, '
                   "args[4]->tcp_flags] = count(); } "
                   'tcp:::accept-established { @g["accepted", args[2]->ip_saddr, args[4]->tcp_dport, '
                   "args[3]->tcps_rport == args[4]->tcp_sport] = count(); } "
                   'tcp:::accept-refused { @h["unaccepted", args[2]->ip_daddr, args[4]->tcp_sport, args[3]->tcps_addr, '
                   "args[4]->tcp_flags] = count(); } "
                   # every segment belongs to the connection whose ports it has, but for what comes to a listening socket
                   'tcp:::send /args[3]->tcps_addr/ { @["sent"] = count(); @m["sent by another"] = sum('
                   "args[3]->tcps_lport != args[4]->tcp_sport || args[3]->tcps_rport != args[4]->tcp_dport); } "
                   'tcp:::send /!args[3]->tcps_addr/ { @["sent by none"] = count(); } '
                   'tcp:::receive /args[3]->tcps_addr/ { @["received"] = count(); @m["received by another"] = sum('
                   "args[3]->tcps_lport != args[4]->tcp_dport || (args[3]->tcps_rport != args[4]->tcp_sport && "
                   "args[3]->tcps_state != TCP_STATE_LISTEN)); } "
                   'tcp:::receive /!args[3]->tcps_addr/ { @["received by none"] = count(); } '
                   'tcp:::receive /args[3]->tcps_state == TCP_STATE_LISTEN/ { @["received by a listener"] = count(); } '
                   "tcp:::send, tcp:::receive { @[args[1]->cs_addr == args[3]->tcps_addr ? \"one socket\" : \"two\"] = "
                   "count(); }")
        with self.guest() as guest:
            trace, grown = self.loaded(guest, program, n)
        seen, counts = table(trace.out), keyed(trace.out)
        for address in LOOPBACKS:
            for expected, times in ((("request", address, OPEN, 2, "state-syn-sent"), 2),
                                    (("request", address, DEAD, 2, "state-syn-sent"), 1),
                                    (("established", address, OPEN, OPEN, 18, "state-established"), 2),
                                    (("refused", address, DEAD, DEAD, 20), 1),
                                    (("accepted", address, OPEN, 1), 2),
                                    (("unaccepted", address, DEAD, 0, 20), 1)):
                self.assertEqual(seen.get(tuple(map(str, expected))), times * n, f"{expected}{trace.story()}")
        self.assertEqual(counts["as requested"], 6 * n, trace.story())
        self.assertEqual(counts["sent by another"], 0, trace.story())
        self.assertEqual(counts["received by another"], 0, trace.story())
        # those of none are resets for dead ports, and acknowledgements of connections in TIME-WAIT
        self.assertEqual(counts["sent"] + counts["sent by none"], grown["TcpOutSegs"] + grown["TcpRetransSegs"])
        self.assertEqual(counts["received by none"], 2 * n, trace.story())
        self.assertEqual(counts["received by a listener"], 4 * n, trace.story())
        self.assertNotIn("two", counts, trace.story())

    def test_headers(self):
        """Headers' members: lengths, ports and protocols of datagrams and segments, in each version of IP."""
        n = rounds(3, 20)
        program = ('udp:::send, udp:::receive { @a[probename, args[2]->ip_daddr, args[4]->udp_dport, args[4]->udp_length, '
                   "args[2]->ip_plength, args[3]->udps_lport == (probename == \"send\" ? args[4]->udp_sport : "
                   "args[4]->udp_dport)] = count(); } "
                   'ip:::send /args[4]->ipv4_protocol == IPPROTO_UDP/ { @b["four", args[4]->ipv4_length, '
                   "args[4]->ipv4_ihl, args[4]->ipv4_ttl, args[5]->ipv6_ver] = count(); } "
                   'ip:::receive /args[5]->ipv6_nexthdr == IPPROTO_UDP/ { @c["six", args[5]->ipv6_plen, '
                   "args[5]->ipv6_hlim, args[5]->ipv6_nextstr, args[4]->ipv4_ver] = count(); } "
                   'tcp:::receive /args[4]->tcp_dport == 7001/ { @d["asked", args[2]->ip_plength - '
                   "args[4]->tcp_offset] = count(); } "
                   'tcp:::send /args[4]->tcp_sport == 7001/ { @e["answered", args[2]->ip_plength - '
                   "args[4]->tcp_offset] = count(); }")
        with self.guest() as guest:
            trace, _ = self.loaded(guest, program, n)
        seen = table(trace.out)
        for address in LOOPBACKS:
            self.assertEqual(seen["send", address, str(UDP), "48", "48", "1"], n, trace.story())
            self.assertEqual(seen["send", address, str(DEAD), "48", "48", "1"], n, trace.story())
            self.assertEqual(seen["receive", address, str(UDP), "48", "48", "1"], n, trace.story())
            self.assertNotIn(("receive", address, str(DEAD), "48", "48", "1"), seen, trace.story())
        self.assertEqual(seen["four", "68", "20", "64", "0"], 2 * n, trace.story())
        self.assertEqual(seen["six", "48", "64", "UDP", "0"], 2 * n, trace.story())
        self.assertEqual(seen["asked", "100"], 4 * n, trace.story())
        self.assertEqual(seen["answered", "700"], 4 * n, trace.story())


if __name__ == "__main__":
    sys.exit(main())
