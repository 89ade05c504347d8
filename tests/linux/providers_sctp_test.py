#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""sctp of a stock kernel whose module is loaded, without anything else in the guest: counts against /proc/net/sctp/snmp,
states and arguments against a load that is known."""
import contextlib
import re
import sys

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.pace import rounds
from lib.scenario import Scenario, main, only_full
from lib.truth import agree
from providers_net_test import LOOPBACKS, table

PORT, DEAD = 7101, 7102
HEADER = "pktinfo_t *", "csinfo_t *", "ipinfo_t *"


def counters(guest):
    """{"SctpInSCTPPacks": n, …}"""
    rows = (line.split() for line in guest.check("cat /proc/net/sctp/snmp").splitlines())
    return {name: int(value) for name, value in rows}


class Sctp(Scenario):
    @classmethod
    def tearDownClass(cls):
        """The module can't be unloaded again: whoever comes next gets another guest."""
        cls.shared.close()
        super().tearDownClass()

    @contextlib.contextmanager
    def with_module(self):
        with self.guest() as guest:
            modules = guest.check("cat /modules/sctp.order").split()
            if not modules:
                self.skipTest("this kernel has no module sctp")
            if guest.run("[ -e /sys/module/sctp ]")[0] != 0:
                for name in modules:
                    guest.check(f"insmod /modules/{name}.ko")
            yield guest

    def loaded(self, program, n):
        """(the trace, how the guest's counters grew) over sctpload @n, until all has arrived and all associations are
        gone."""
        with self.with_module() as guest:
            return self.loaded_in(guest, program, n)

    def loaded_in(self, guest, program, n):
        trace = self.outsight.trace(guest, program)
        start = counters(guest)
        guest.check(f"sctpload {n}")
        end = counters(guest)
        while end["SctpOutSCTPPacks"] != end["SctpInSCTPPacks"] or \
                len(guest.check("cat /proc/net/sctp/assocs").splitlines()) > 1:
            end = counters(guest)
        trace.stop()
        return trace, {name: value - start[name] for name, value in end.items()}

    def test_listing(self):
        kinds = {"send": (*HEADER, "sctpsinfo_t *", "sctpinfo_t *"), "receive": (*HEADER, "sctpsinfo_t *", "sctpinfo_t *"),
                 "state-change": ("void", "csinfo_t *", "void", "sctpsinfo_t *", "void", "sctplsinfo_t *")}
        with self.with_module() as guest:
            for name, types in kinds.items():
                status, out, err = self.outsight.run(guest, "-lvn", f"sctp:::{name}")
                self.assertEqual(status, 0, out + err)
                self.assertEqual(tuple(re.findall(r"args\[\d\]: (.*)", out)), types, out)

    @only_full
    def test_before_the_module(self):
        """The probes are listed, with what they lack. By its name it is the first."""
        with self.guest() as guest:
            self.assertNotEqual(guest.run("[ -e /sys/module/sctp ]")[0], 0)
            status, out, err = self.outsight.run(guest, "-lvn", "sctp:::")
            self.assertEqual(status, 0, out + err)
            for lacks in ("sctp_v4_xmit", "sctp_chunkify", "sctp_do_sm"):
                self.assertIn(f"fbt:sctp:{lacks}:", out)
            status, _, err = self.outsight.run(guest, "-qn", "sctp:::send")
            self.assertEqual(status, 1, err)
            self.assertIn("fbt:sctp:sctp_v4_xmit:entry", err)

    def test_packets(self):
        """Each packet fires once, with its headers and the association that it belongs to."""
        n = rounds(3, 30)
        here = 'probename == "send" ? args[4]->sctp_sport : args[4]->sctp_dport'
        there = 'probename == "send" ? args[4]->sctp_dport : args[4]->sctp_sport'
        program = ("sctp:::send, sctp:::receive { @a[probename] = count(); } "
                   f"sctp:::send, sctp:::receive /({here}) == {PORT} || ({there}) == {PORT}/ "
                   "{ @b[probename, args[2]->ip_saddr, args[2]->ip_daddr] = count(); } "
                   "sctp:::send, sctp:::receive /args[3]->sctps_addr/ { @c[probename, \"association\"] = count(); "
                   f"@d[\"another's\"] = sum(args[3]->sctps_lport != ({here}) || args[3]->sctps_rport != ({there}) || "
                   "args[1]->cs_cid != args[3]->sctps_addr); } "
                   # the 100 bytes of a message behind the headers of packet and chunk
                   "sctp:::receive /args[2]->ip_plength == 12 + 16 + 100/ { @e[\"messages alone\"] = count(); } "
                   f"sctp:::receive /args[4]->sctp_dport == {DEAD}/ "
                   '{ @f["to the dead port", args[4]->sctp_verify] = count(); }')
        trace, grown = self.loaded(program, n)
        seen = table(trace.out)
        agree(self, "sctp:::send", seen["send",], grown["SctpOutSCTPPacks"], "/proc/net/sctp", trace.story())
        agree(self, "sctp:::receive", seen["receive",], grown["SctpInSCTPPacks"], "/proc/net/sctp", trace.story())
        self.assertEqual(grown["SctpInOrderChunks"], 2 * 2 * n * 8)
        self.assertEqual(seen["another's",], 0, trace.story())
        for address in LOOPBACKS:
            self.assertEqual(seen["send", address, address], seen["receive", address, address], trace.story())
        # an INIT has no tag yet, and nobody answers to it as an association
        self.assertEqual(seen["to", "the", "dead", "port", "0"], 2 * n, trace.story())
        self.assertGreater(seen["messages", "alone"], 0, trace.story())
        self.assertGreater(seen["send", "association"], 0, trace.story())
        self.assertGreater(seen["receive", "association"], 0, trace.story())

    @only_full
    def test_states(self):
        """Each association goes from state to state as the last change said, from closed to closed."""
        n = rounds(3, 30)
        program = ("int last[uint64_t]; sctp:::state-change { @[sctp_state_string[args[5]->sctps_state], "
                   "sctp_state_string[args[3]->sctps_state]] = count(); "
                   '@breaks["breaks"] = sum(last[args[1]->cs_cid] != args[5]->sctps_state); '
                   "last[args[1]->cs_cid] = args[3]->sctps_state; } "
                   "sctp:::state-change /args[3]->sctps_state == SCTP_STATE_ESTABLISHED/ "
                   "{ @ports[args[3]->sctps_raddr, args[3]->sctps_lport == 7101, args[3]->sctps_rport == 7101, "
                   "args[3]->sctps_num_raddrs > 0] = count(); }")
        trace, grown = self.loaded(program, n)
        seen = table(trace.out)

        def changes(to):
            return sum(times for key, times in seen.items() if len(key) == 2 and key[1] == f"state-{to}")
        self.assertEqual(seen["breaks",], 0, trace.story())
        agree(self, "sctp:::state-change, to established", changes("established"),
              grown["SctpActiveEstabs"] + grown["SctpPassiveEstabs"], "/proc/net/sctp", trace.story())
        for key, times in ((("closed", "cookie-wait"), 6), (("cookie-wait", "cookie-echoed"), 4),
                           (("cookie-echoed", "established"), 4), (("closed", "established"), 4),
                           (("cookie-wait", "closed"), 2), (("established", "closed"), 4)):
            self.assertEqual(seen.get(tuple(f"state-{state}" for state in key)), times * n, f"{key}{trace.story()}")
        # all ten of a round end
        self.assertEqual(changes("closed"), 10 * n, trace.story())
        for address in LOOPBACKS:
            self.assertEqual(seen[address, "1", "0", "1"], 2 * n, trace.story())
            self.assertEqual(seen[address, "0", "1", "1"], 2 * n, trace.story())


if __name__ == "__main__":
    sys.exit(main())
