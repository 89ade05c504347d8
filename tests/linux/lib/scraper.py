# SPDX-License-Identifier: GPL-2.0-or-later
"""The distribution's Prometheus on loopback, which reads what outsight-serve serves, and what our dashboard asks it."""
import json
import math
import os
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request

from lib.pace import limit

PROMETHEUS = shutil.which("prometheus")
DASHBOARD = os.path.join(os.path.dirname(__file__), "..", "..", "..", "share", "grafana", "outsight.json")
SECONDS = 1  # between scrapes
# What Grafana puts in for names in a query. Its own $__rate_interval is four scrapes.
VALUES = {"$__rate_interval": f"{4 * SECONDS}s", "$job": ".*", "$guest": ".*"}


def dashboard_queries():
    """[(panel's title, query)], with the values that "All" means."""
    with open(DASHBOARD, encoding="utf-8") as f:
        panels = json.load(f)["panels"]
    queries = []
    for panel in panels:
        for target in panel.get("targets", ()):
            query = target["expr"]
            for name, value in VALUES.items():
                query = query.replace(name, value)
            queries.append((panel["title"], query))
    return queries


def dashboard_variables():
    """[(metric, label)] of what its variables offer."""
    with open(DASHBOARD, encoding="utf-8") as f:
        variables = json.load(f)["templating"]["list"]
    asked = [v["query"] for v in variables if v["type"] == "query"]
    return [tuple(q.removeprefix("label_values(").removesuffix(")").split(", ")) for q in asked]


class Prometheus:
    """Scrapes these ports of loopback, as the job outsight."""

    def __init__(self, *ports):
        self.dir = tempfile.mkdtemp(prefix="outsight-prometheus-")
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        targets = ", ".join(f"'127.0.0.1:{port}'" for port in ports)
        with open(os.path.join(self.dir, "prometheus.yml"), "w", encoding="ascii") as f:
            f.write(f"global: {{ scrape_interval: {SECONDS}s, scrape_timeout: {SECONDS}s }}\nscrape_configs:\n  - job_name: outsight\n"
                    f"    static_configs: [{{ targets: [{targets}] }}]\n")
        with open(os.path.join(self.dir, "log"), "wb") as log:
            self.process = subprocess.Popen([PROMETHEUS, f"--config.file={self.dir}/prometheus.yml", f"--storage.tsdb.path={self.dir}/data",
                                             f"--web.listen-address=127.0.0.1:{self.port}"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def log(self):
        with open(os.path.join(self.dir, "log"), encoding="utf-8") as f:
            return f.read()

    def ask(self, path, **arguments):
        """What its API answers; None: it does not yet. AssertionError: it refuses."""
        url = f"http://127.0.0.1:{self.port}/api/v1/{path}?{urllib.parse.urlencode(arguments)}"
        try:
            with urllib.request.urlopen(url, timeout=limit(30)) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as e:
            if e.code == 503:
                return None
            raise AssertionError(f"{path} {arguments}: {e.read().decode()}") from e
        except (OSError, ValueError):
            assert self.process.poll() is None, self.log()
            return None

    def query(self, query):
        """[(labels, value)], of numbers."""
        data = self.ask("query", query=query)
        found = [(series["metric"], float(series["value"][1])) for series in data["result"]] if data else []
        return [(labels, value) for labels, value in found if math.isfinite(value)]

    def await_(self, query, condition=bool):
        """What a query gives once that holds of it."""
        end = time.monotonic() + limit(60)
        while True:
            found = self.query(query)
            if condition(found):
                return found
            assert time.monotonic() < end, f"{query}: {found}\n{self.log()}"
            time.sleep(0.2)

    def labels(self, metric, label):
        return self.ask(f"label/{label}/values", **{"match[]": metric}) or []

    def targets(self):
        """[(up or down, the last error)]"""
        data = self.ask("targets")
        return [(t["health"], t["lastError"]) for t in data["activeTargets"]] if data else []

    def close(self):
        self.process.terminate()
        self.process.wait(limit(60))
        shutil.rmtree(self.dir)
