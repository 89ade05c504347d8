/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The test of a candidate for QEMU's state of a vCPU. */
#include "vmm-probe/backend/tcg/cpu_state.h"

#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* So many different values other than 0 are not in one order at one place by chance. */
#define DIFFERENT_LEAST 6

static unsigned different(const uint64_t regs[VP_NREGS_GENERAL])
{
	unsigned n = 0;

	for (unsigned i = 0; i < VP_NREGS_GENERAL; i++) {
		bool is_new = regs[i] != 0;
		for (unsigned k = 0; k < i; k++)
			is_new &= regs[k] != regs[i];
		n += is_new;
	}
	return n;
}

/* An invalid address is an error here, not a signal. */
static bool read_any(const void *from, void *to, size_t len)
{
	struct iovec local = { to, len }, remote = { (void *)(uintptr_t)from, len };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)len;
}

bool vp_tcg_state_is(const void *state, const uint64_t regs[VP_NREGS_GENERAL])
{
	uint64_t there[VP_NREGS_GENERAL];

	return different(regs) >= DIFFERENT_LEAST && read_any(state, there, sizeof(there)) &&
	       !memcmp(there, regs, sizeof(there));
}
