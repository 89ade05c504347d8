# SPDX-License-Identifier: GPL-2.0-or-later
"""Is this host's own KVM one on which stock kernels run?"""
import os
import re
import subprocess

from lib.pace import limit

# If kernel-mode instructions are slower than this, a stock kernel takes too long to boot.
FAST_NS = 50.0


def why_not_kvm(outsight):
    """None when it is, else the reason."""
    if not os.access("/dev/kvm", os.R_OK | os.W_OK):
        return "there is no /dev/kvm here that can be opened"
    done = subprocess.run([outsight, "doctor", "-v"], capture_output=True, text=True, timeout=limit(60), check=False)
    if not re.search(r"^kvm +int3=.*hw=yes, step=yes, ioeventfd=yes, out=yes, sync_regs=yes", done.stdout, re.M):
        return "this host's KVM lacks something (outsight doctor -v)"
    if not re.search(r"^kvm .*\buser=yes", done.stdout, re.M):
        return "in this host's KVM user mode does not reach the kernel"
    cost = re.search(r"an instruction of kernel mode +([\d.]+) ns", done.stdout)
    if not cost or float(cost.group(1)) > FAST_NS:
        return "this host's KVM interprets kernel mode"
    return None
