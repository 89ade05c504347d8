#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Prometheus of the distribution reads /metrics, and the dashboard's queries have answers: prometheus_test.py OUTSIGHT-SERVE
[Class.test…]. Without a guest: programs of ticks count what those of share/standing count; tests/linux/metrics_test.py has these."""
import sys

from metrics_test import Case
from lib.scenario import run_module
from lib.scraper import PROMETHEUS, Prometheus, dashboard_queries, dashboard_variables

# Names and keys of share/standing; the third key is a name that a reader of labels could get wrong.
LIKE_EXAMPLES = """tick-20ms
{
	@cpu_samples[guest, "a\\"b\\\\c"] = count();
	@io_bytes[guest, 1 ? "read" : "write"] = sum(3);
	@io_latency_ns[guest] = quantize(timestamp % 100000);
	@forks[guest] = count(); @execs[guest] = count(); @exits[guest] = count();
}
"""


class Scraped(Case):
    def scraped(self, programs):
        """(outsight-serve, the Prometheus that reads it)"""
        serve = self.serve({name: (text, f"guests none\n{more}") for name, (text, more) in programs.items()})
        prometheus = Prometheus(serve.port)
        self.addCleanup(prometheus.close)
        return serve, prometheus

    def test_scraped(self):
        """It has the numbers of one moment: what a clause adds to two aggregations is in both or in none."""
        serve, prometheus = self.scraped({"like": (LIKE_EXAMPLES, "")})
        prometheus.await_("outsight_forks_total", lambda found: found and found[0][1] > 10)
        self.assertEqual(prometheus.targets(), [("up", "")])
        for query in ("outsight_io_bytes_total - ignoring(key1) outsight_forks_total * 3",
                      "outsight_io_latency_ns_count - outsight_forks_total"):
            self.assertEqual([value for _, value in prometheus.query(query)], [0], query)
        (labels, _), = prometheus.query("outsight_cpu_samples_total")
        self.assertEqual((labels["program"], labels["key1"], labels["job"]), ("like", 'a"b\\c', "outsight"))
        serve.end()
        prometheus.await_("up == 0")

    def test_dashboard(self):
        """Each query of each panel gives numbers, also those that ask for what is wrong, once something is."""
        _, prometheus = self.scraped({"like": (LIKE_EXAMPLES, ""),
                                      "many": ("BEGIN { @n[1] = count(); @n[2] = count(); }", "series 1\n"),
                                      "other": ("BEGIN { @forks[1] = quantize(1); @forks_total = min(1); }", "")})
        queries = dashboard_queries()
        self.assertGreater(len(queries), 20)
        for title, query in queries:
            with self.subTest(title):
                prometheus.await_(query)
        for metric, label in dashboard_variables():
            if label != "guest":  # there is none here
                self.assertNotEqual(prometheus.labels(metric, label), [], metric)


if __name__ == "__main__":
    run_module(sys.argv[2:], None if PROMETHEUS else "no prometheus here (scripts/test gets one)")
