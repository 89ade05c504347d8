#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""mib of a stock kernel, without anything in the guest: each counter grows as the guest's own does."""
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.outsight import keyed
from lib.pace import rounds
from lib.scenario import Scenario, main
from providers_net_test import counters, settled

# Solaris's name: the guest's counters, whose sum it is. On Linux UDP's are counted apart for IPv6.
SAME = {"ipInReceives": ("IpInReceives",), "ipv6IfInReceives": ("Ip6InReceives",), "ipInDelivers": ("IpInDelivers",),
        "ipOutRequests": ("IpOutRequests",), "ipv6IfOutRequests": ("Ip6OutRequests",),
        "ipForwDatagrams": ("IpForwDatagrams",), "icmpInMsgs": ("IcmpInMsgs",), "icmpOutMsgs": ("IcmpOutMsgs",),
        "icmpInEchos": ("IcmpInEchos",), "icmpOutEchoReps": ("IcmpOutEchoReps",),
        "icmpOutDestUnreachs": ("IcmpOutDestUnreachs",), "tcpActiveOpens": ("TcpActiveOpens",),
        "tcpPassiveOpens": ("TcpPassiveOpens",), "tcpAttemptFails": ("TcpAttemptFails",),
        "tcpEstabResets": ("TcpEstabResets",), "tcpInSegs": ("TcpInSegs",), "tcpRetransSegs": ("TcpRetransSegs",),
        "tcpOutSegs": ("TcpOutSegs", "TcpRetransSegs"), "tcpOutRsts": ("TcpOutRsts",),
        "udpInDatagrams": ("UdpInDatagrams", "Udp6InDatagrams"),
        "udpOutDatagrams": ("UdpOutDatagrams", "Udp6OutDatagrams")}
QUIET = ("ipForwDatagrams", "tcpRetransSegs")  # the load need not cause these


class Mib(Scenario):
    def test_listing(self):
        """Each probe has a place in this kernel."""
        with self.guest() as guest:
            status, out, err = self.outsight.run(guest, "-lv", "-P", "mib")
        self.assertEqual(status, 0, err)
        self.assertNotIn("Cannot be enabled", out)
        for name in SAME:
            self.assertRegex(out, rf"(?m)^ *\d+ +mib +vmlinux +(?:\w+ +)?{name} *$")

    def test_counts(self):
        """Connections that are made, refused and reset, datagrams, and pings: both sides count alike."""
        with self.guest() as guest:
            trace = self.outsight.trace(guest, "mib::: { @[probename] = sum(args[0]); }")
            start = counters(guest)
            guest.check(f"netload {rounds(5, 50)}; ping -c 3 127.0.0.1")
            end = counters(guest)
            while not settled(end, start):
                end = counters(guest)
            trace.stop()
        seen = keyed(trace.out)
        for name, truth in SAME.items():
            grown = sum(end[of] - start.get(of, 0) for of in truth)
            with self.subTest(name):
                self.assertEqual(seen.get(name, 0), grown, trace.story())
                self.assertTrue(grown or name in QUIET, trace.story())
        # A segment has data, or is of a connection's beginning or end, or only acknowledges.
        self.assertEqual(seen["tcpOutSegs"],
                         seen["tcpOutControl"] + seen["tcpOutAck"] + seen["tcpOutDataSegs"], trace.story())


if __name__ == "__main__":
    sys.exit(main())
