#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The programs of share/standing on a guest, read by the distribution's Prometheus, as the dashboard asks for them."""
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
# pylint: disable=wrong-import-position
from lib.pace import LIMIT, limit
from lib.scenario import Scenario, main, only_full
from lib.scraper import PROMETHEUS, Prometheus, dashboard_queries, dashboard_variables

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What stays empty while nothing is wrong.
WRONG = "What is missing from these figures"


class Metrics(Scenario):
    @contextlib.contextmanager
    def served(self, guest):
        """The port of an outsight-serve with our programs, for that guest."""
        folder = tempfile.mkdtemp(prefix="outsight-standing-")
        shutil.copytree(os.path.join(ROOT, "share", "standing"), os.path.join(folder, "standing.d"))
        os.mkdir(os.path.join(folder, "state"))
        conf, log = os.path.join(folder, "serve.conf"), os.path.join(folder, "log")
        with open(conf, "w", encoding="ascii") as f:
            f.write(f"name h1\nmetrics 0\nstate {folder}/state\nstanding {folder}/standing.d\n")
        env = {k: v for k, v in os.environ.items() if k != "RUNTIME_DIRECTORY"}
        with open(log, "wb") as out:
            process = subprocess.Popen([os.path.join(self.build, "bin", "outsight-serve"), "--conf", conf, "--verbose"], stdout=out,
                                       stderr=out, stdin=subprocess.DEVNULL, env={**env, "XDG_RUNTIME_DIR": guest.dir})
        try:
            end = time.monotonic() + LIMIT
            while True:
                with open(log, encoding="utf-8") as f:
                    said = f.read()
                port = re.search(r"served at port (\d+)\n", said)
                if port:
                    break
                self.assertIsNone(process.poll(), said)
                self.assertLess(time.monotonic(), end, said)
                time.sleep(0.1)
            yield int(port[1])
        finally:
            process.terminate()
            process.wait(limit(60))
            shutil.rmtree(folder)

    @only_full
    def test_dashboard(self):
        """Each query has an answer of this guest's name, but for those of what is wrong; and the CPU's time is no more than there is.
        The programs are for all of the host's guests, of which there may be others."""
        if not PROMETHEUS:
            self.skipTest("no prometheus here (scripts/test gets one)")
        with self.guest() as guest:
            guest.check("dd if=/dev/zero of=/tmp/disk3 bs=1M count=2 2>/dev/null && losetup /dev/loop3 /tmp/disk3")
            load = guest.spawn("while [ -e /tmp/disk3 ]; do dd if=/dev/zero of=/dev/loop3 bs=4k count=4 conv=fsync 2>/dev/null; "
                               "echo 3 >/proc/sys/vm/drop_caches; dd if=/dev/loop3 of=/dev/null bs=4k count=4 2>/dev/null; sleep 0.1; done")
            try:
                with self.served(guest) as port, contextlib.closing(Prometheus(port)) as prometheus:
                    for title, query in dashboard_queries():
                        if title != WRONG:
                            prometheus.await_(query)
                    for metric, label in dashboard_variables():
                        self.assertIn(guest.name if label == "guest" else "outsight", prometheus.labels(metric, label))
                    (_, busy), = prometheus.await_(f'sum by (guest) (rate(outsight_cpu_samples_total{{guest="{guest.name}"}}[10s])) / 97')
                    self.assertLess(busy, 1.5 * guest.smp)
                    prometheus.await_("outsight_io_bytes_total", lambda found: {labels["key1"] for labels, _ in found} == {"read", "write"})
                    self.assertEqual(sum(v for _, v in prometheus.query("outsight_serve_program_failures_total")), 0)
            finally:
                guest.check("rm /tmp/disk3")
                load.done()
                guest.check("losetup -d /dev/loop3")


if __name__ == "__main__":
    main()
