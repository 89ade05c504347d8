# SPDX-License-Identifier: GPL-2.0-or-later
"""Simulated hosts (simulated_hosts.c) for an operator: started, awaited, and what each key must come to."""
import collections
import json
import os
import signal
import subprocess

from hosts import limit, wait_until


def fired(host, key, seconds):
    """How often a host's probe fires for a key in its first seconds, as simulated.h has it."""
    return sum(1 + (7 * host + 13 * key + 3 * s) % 10 for s in range(1, seconds + 1))


def totals(ticks, keys):
    """What each key comes to, by number, for hosts that have handed over so many seconds: {"h1": 60}."""
    # only the last digit of a host's and of a key's number counts
    like = collections.Counter((int(name[1:]) % 10, seconds) for name, seconds in ticks.items())
    sums = [sum(n * fired(host, key, seconds) for (host, seconds), n in like.items()) for key in range(10)]
    return [sums[key % 10] for key in range(keys)]


class Simulated:
    """A process of them; the fleet's file of hosts is theirs."""

    def __init__(self, fleet, hosts, *args, operator="alice", port=None):
        self.output = fleet.path("simulated.out")
        self.log_path = fleet.path("simulated.log")
        os.mkdir(fleet.path("simulated"))
        program = os.path.join(os.path.dirname(fleet.outsight), "simulated_hosts")
        with open(self.output, "w", encoding="utf-8") as out, open(self.log_path, "w", encoding="utf-8") as log:
            self.process = subprocess.Popen([program, "--nats", f"nats://127.0.0.1:{port or fleet.broker.port}", "--operator",
                                             fleet.key(operator), "--state", fleet.path("simulated"), "--known", fleet.path("hosts"),
                                             "--hosts", str(hosts), *args], stdin=subprocess.DEVNULL, stdout=out, stderr=log)
        self.await_word("ready")

    def text(self):
        with open(self.output, encoding="utf-8") as f:
            return f.read()

    def log(self):
        with open(self.log_path, encoding="utf-8") as f:
            return f.read()

    def state(self):
        status = self.process.poll()
        return "the simulated hosts live\n" if status is None else f"the simulated hosts have ended, status {status}: {self.log()[-500:]}\n"

    def await_word(self, word, seconds=limit(60)):
        def there():
            if self.process.poll() is not None:
                raise AssertionError(f"the simulated hosts have ended: {self.log()}")
            return f"{word}\n" in self.text()
        wait_until(there, f"the simulated hosts are {word}", seconds)

    def stop(self):
        """What they say that they have done; none the second time."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        if self.process.wait(limit(60)) != 0:
            raise AssertionError(f"status {self.process.returncode}: {self.log()}")
        return json.loads(self.text().splitlines()[-1])

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
