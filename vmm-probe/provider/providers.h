/* SPDX-License-Identifier: GPL-2.0-or-later */
/* All providers, in the order in which they publish: BEGIN, END and ERROR are 1, 2, 3 everywhere. Each has a
 * file that defines its vp_provider_NAME. */
#ifndef VP_PROVIDER_PROVIDERS_H
#define VP_PROVIDER_PROVIDERS_H

#include "vmm-probe/provider/registry.h"

/* Those that are defined in D, each in d/NAME.d. */
#define VP_DERIVED(PROVIDER)      \
	PROVIDER(sched)           \
	PROVIDER(proc)            \
	PROVIDER(io)              \
	PROVIDER(ip)              \
	PROVIDER(tcp)             \
	PROVIDER(udp)             \
	PROVIDER(sctp)            \
	PROVIDER(mib)             \
	PROVIDER(fsinfo)          \
	PROVIDER(vfs)             \
	PROVIDER(sysinfo)         \
	PROVIDER(vminfo)          \
	PROVIDER(lockstat)        \
	PROVIDER(callout_execute) \
	PROVIDER(dtmalloc)

#define VP_PROVIDERS(PROVIDER) \
	PROVIDER(dtrace)       \
	PROVIDER(profile)      \
	PROVIDER(fbt)          \
	PROVIDER(syscall)      \
	PROVIDER(vm)           \
	PROVIDER(sdt)          \
	PROVIDER(rawtp)        \
	PROVIDER(vmstat)       \
	VP_DERIVED(PROVIDER)   \
	PROVIDER(cpc)          \
	PROVIDER(pid)          \
	PROVIDER(user)         \
	PROVIDER(usdt)

#define VP_DECLARE(name) extern const struct vp_provider vp_provider_##name;
VP_PROVIDERS(VP_DECLARE)
#undef VP_DECLARE

#endif
