# SPDX-License-Identifier: GPL-2.0-or-later
"""An sshd of a test's own on loopback, and a client's configuration for it. Nothing of the machine's is read or changed: keys,
users and /run are those of a mount namespace and of a temporary folder."""
import contextlib
import os
import shlex
import shutil
import signal
import subprocess
import tempfile

from hosts import free_port, limit, wait_until

SSHD = shutil.which("sshd") or shutil.which("sshd", path="/usr/sbin")

# Users are given to it, and the folder that it changes its root to.
ENTER = r"""
set -e
cd "$1"
mount --bind passwd /etc/passwd
mount --bind shadow /etc/shadow
mkdir run
mount --rbind /run run
mount -t tmpfs -o mode=755 outsight-sshd /run
for at in run/*; do
	if [ -L "$at" ]; then
		cp -P "$at" /run/
	elif [ -d "$at" ]; then
		mkdir -p "/run/${at#run/}" && mount --rbind "$at" "/run/${at#run/}"
	elif [ -e "$at" ]; then
		: >"/run/${at#run/}" && mount --bind "$at" "/run/${at#run/}"
	fi
done
mkdir -p /run/sshd
exec "$2" -D -e -f "$1/sshd_config"
"""


def why_not():
    """None if one can be started here, else the reason."""
    if not SSHD:
        return "sshd is not installed"
    if not shutil.which("ssh") or not shutil.which("ssh-keygen"):
        return "ssh is not installed"
    if os.geteuid():
        return "not root: sshd gets users of its own"
    done = subprocess.run(["unshare", "--mount", "true"], capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else None


class Sshd:
    """With the users USER → (environment of its commands, text of its .bashrc); each has root's rights. A host of a name that
    configure() got is reached by `-g ssh://NAME/`, as $OUTSIGHT_SSH or the PATH of env() has the ssh of this test."""

    def __init__(self, users, more=""):
        self.dir = tempfile.TemporaryDirectory(prefix="outsight-sshd-")
        self.port = free_port()
        for key in ("host", "client", "stranger"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.path(key)], check=True)
        shutil.copy(self.path("client.pub"), self.path("authorized_keys"))
        self.write_users(users)
        self.write_config(users, more)
        self.hosts = {}
        os.mkdir(self.path("bin"))
        with open(self.path("bin", "ssh"), "w", encoding="utf-8") as f:
            f.write(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {self.path("ssh_config")} "$@"\n')
        os.chmod(self.path("bin", "ssh"), 0o755)
        self.start()

    def path(self, *names):
        return os.path.join(self.dir.name, *names)

    def write_users(self, users):
        with open(self.path("passwd"), "w", encoding="utf-8") as passwd, open(self.path("shadow"), "w", encoding="utf-8") as shadow:
            passwd.write("root:x:0:0::/root:/bin/sh\nsshd:x:65000:65534::/run/sshd:/usr/sbin/nologin\n")
            for user, (_, bashrc) in users.items():
                os.makedirs(self.path("home", user))
                with open(self.path("home", user, ".bashrc"), "w", encoding="utf-8") as f:
                    f.write(bashrc)
                passwd.write(f"{user}:x:0:0::{self.path('home', user)}:/bin/bash\n")
                shadow.write(f"{user}:*:19000:0:99999:7:::\n")

    def write_config(self, users, more):
        with open(self.path("sshd_config"), "w", encoding="utf-8") as f:
            f.write(f"ListenAddress 127.0.0.1\nPort {self.port}\nHostKey {self.path('host')}\nPidFile none\nUsePAM no\nStrictModes no\n"
                    f"PermitRootLogin yes\nPasswordAuthentication yes\nKbdInteractiveAuthentication no\nUseDNS no\nPrintMotd no\n"
                    f"AuthorizedKeysFile {self.path('authorized_keys')}\n")
            # newer releases have processes of their own for a session, beside sshd or where they were built for
            for option, name in (("SshdSessionPath", "sshd-session"), ("SshdAuthPath", "sshd-auth")):
                beside = os.path.join(os.path.dirname(SSHD), name)
                if os.path.exists(beside):
                    f.write(f"{option} {beside}\n")
            f.write(more)
            for user, (env, _) in users.items():
                f.write(f"Match User {user}\nSetEnv {' '.join(f'{k}={v}' for k, v in env.items())}\n")

    def start(self):
        libraries = os.path.join(os.path.dirname(os.path.dirname(SSHD)), "lib")  # those that came with it
        env = {**os.environ, **({"LD_LIBRARY_PATH": libraries} if os.path.exists(os.path.join(libraries, "libwrap.so.0")) else {})}
        with open(self.path("log"), "wb") as log:
            self.process = subprocess.Popen(["unshare", "--mount", "--propagation", "private", "bash", "-c", ENTER, "sshd",
                                             self.dir.name, SSHD], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env)
        wait_until(lambda: "Server listening" in self.log() or self.process.poll() is not None, self.log)
        if self.process.poll() is not None:
            raise AssertionError(self.log())

    def log(self):
        with open(self.path("log"), encoding="utf-8", errors="replace") as f:
            return f.read()

    def configure(self, hosts):
        """The client's configuration: NAME → its lines, before those of all. A file of a key is added to others, so each has one."""
        with open(self.path("known_hosts"), "w", encoding="utf-8") as f, open(self.path("host.pub"), encoding="utf-8") as key:
            f.write("fleet " + key.read())
        with open(self.path("ssh_config"), "w", encoding="utf-8") as f:
            for name, lines in hosts.items():
                if not any(line.startswith("IdentityFile ") for line in lines):
                    lines = [*lines, f"IdentityFile {self.path('client')}"]
                f.write(f"Host {name}\n" + "".join(f"\t{line}\n" for line in lines))
            f.write(f"Host *\n\tHostName 127.0.0.1\n\tPort {self.port}\n\tHostKeyAlias fleet\n"
                    f"\tIdentitiesOnly yes\n\tIdentityAgent none\n\tUserKnownHostsFile {self.path('known_hosts')}\n"
                    "\tGlobalKnownHostsFile /dev/null\n\tStrictHostKeyChecking yes\n")

    def env(self, **more):
        env = {k: v for k, v in os.environ.items() if k not in ("OUTSIGHT_SSH", "SSH_ASKPASS", "SSH_AUTH_SOCK")}
        return {**env, "PATH": f"{self.path('bin')}:{os.environ['PATH']}", **more}

    def sessions(self):
        """PIDs of its processes, one for each connection at least."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children", encoding="ascii") as f:
            return [int(pid) for pid in f.read().split()]

    def drop(self):
        """Each connection, as if this host had crashed."""
        for pid in self.sessions():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def close(self):
        self.drop()
        self.process.terminate()
        self.process.wait(limit(60))
        self.dir.cleanup()


def served(folder, **more):
    """The environment of a command that finds the outsight-serve of that folder."""
    return {"PATH": f"{shlex.quote(folder)}:/usr/bin:/bin", **more}
