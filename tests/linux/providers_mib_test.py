#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""mib of a stock kernel, without anything in the guest: each counter grows as the guest's own does."""
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.outsight import keyed
from lib.pace import rounds
from lib.scenario import Scenario, main, only_full
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

    def test_data(self):
        """The bytes of a transfer: each is sent and received once, in order; what a starved guest sends again is counted as that."""
        names = ("tcpOutDataBytes", "tcpInDataInorderBytes", "tcpRetransBytes", "tcpInDataDupBytes", "tcpInDataUnorderBytes")
        program = "".join(f'mib:::{name} {{ @["{name}"] = sum(args[0]); }} ' for name in names)
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program)
            # an input that does not end, or nc would close the connection
            guest.check("mkfifo /tmp/open; dd if=/dev/zero bs=1000 count=300 2>/dev/null | nc -l -p 4711 & "
                        "until nc 127.0.0.1 4711 <>/tmp/open >/tmp/got 2>/dev/null; do sleep 0.1; done; wait")
            got = int(guest.check("wc -c </tmp/got; rm /tmp/got /tmp/open"))
            trace.stop()
        self.assertEqual(got, 300000, trace.story())
        seen = {name: keyed(trace.out).get(name, 0) for name in names}
        self.assertEqual(seen["tcpOutDataBytes"] - seen["tcpRetransBytes"], got, trace.story())
        self.assertEqual(seen["tcpInDataInorderBytes"] + seen["tcpInDataUnorderBytes"], got, trace.story())
        self.assertLessEqual(seen["tcpInDataDupBytes"], seen["tcpRetransBytes"], trace.story())

    @only_full
    def test_sent_again(self):
        """A line that is lost, as there is no way for a while: it is sent again until it is received, once."""
        names = ("tcpRetransBytes", "tcpRetransSegs", "tcpInDataInorderBytes", "tcpInDataDupBytes", "tcpInDataUnorderBytes")
        program = "".join(f'mib:::{name} {{ @["{name}"] = sum(args[0]); }} ' for name in names)
        with self.guest() as guest:
            trace = self.outsight.trace(guest, program)
            guest.check("mkfifo /tmp/open /tmp/typed; nc -l -p 4712 <>/tmp/open >/tmp/got & "
                        "until netstat -lnt | grep -q :4712; do sleep 0.1; done; nc 127.0.0.1 4712 <>/tmp/typed & "
                        "until netstat -nt | grep 4712.*ESTAB; do sleep 0.1; done; "
                        "ip link set lo down; echo again >/tmp/typed; sleep 0.2; ip link set lo up; "
                        "until grep again /tmp/got; do sleep 0.1; done; killall nc; rm /tmp/open /tmp/typed /tmp/got")
            trace.stop()
        seen = keyed(trace.out)
        self.assertGreaterEqual(seen.get("tcpRetransBytes", 0), 6, trace.story())
        self.assertEqual(seen["tcpRetransBytes"], 6 * seen["tcpRetransSegs"], trace.story())
        self.assertEqual(seen["tcpInDataInorderBytes"], 6, trace.story())
        self.assertNotIn("tcpInDataUnorderBytes", seen, trace.story())


if __name__ == "__main__":
    sys.exit(main())
