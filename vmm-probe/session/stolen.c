/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Stolen time: a vCPU was runnable, and the host ran something else. The guest counts it by vCPU if the
 * hypervisor reports it (paravirt_steal_enabled; KVM does). This host's kernel counts it for every thread, as
 * time on a run queue, but which thread of a VMM runs which vCPU is not known.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/proc_map.h"
#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/readings.h"
#include "vmm-probe/session/internal.h"

#define CPUTIMES_MAX 64 /* maximum number of members of enum cpu_usage_stat */

/* Number of CPUTIME_STEAL in kernel_cpustat.cpustat[]; -1: this kernel has none. */
static int64_t steal_index(const struct vp_btf *btf)
{
	const struct btf_type *t = vp_btf_type(btf, vp_btf_find(btf, VP_BTF_ENUM, "cpu_usage_stat"));

	if (!t || BTF_INFO_KIND(t->info) != BTF_KIND_ENUM)
		return -1;
	for (uint32_t i = 0; i < BTF_INFO_VLEN(t->info); i++)
		if (!strcmp(vp_btf_str(btf, ((const struct btf_enum *)(t + 1))[i].name_off),
			    "CPUTIME_STEAL")) {
			int64_t v = vp_btf_enum_value(btf, t, i);

			return v < CPUTIMES_MAX ? v : -1;
		}
	return -1;
}

/* The static key that is on if the hypervisor reports stolen time. */
static bool is_told(struct vp_guest *guest)
{
	struct vp_gva key;
	uint32_t enabled = 0;
	struct ot_err *err = vp_guest_symbol(guest, "paravirt_steal_enabled", &key);

	if (!err)
		err = vp_guest_read_once(guest, &vp_readings[VP_READ_WATCH], key, &enabled, sizeof(enabled));
	bool known = !err;

	ot_err_destroy(err);
	return known && enabled;
}

static struct ot_err *by_guest(const struct vp_guest_link *link, struct vp_stolen *ret)
{
	const struct vp_btf *btf = vp_guest_btf(link->guest);
	int64_t index = btf ? steal_index(btf) : -1;
	struct vp_gva stat;

	if (index < 0 || !is_told(link->guest))
		return NULL;
	OT_TRY(vp_guest_symbol(link->guest, "kernel_cpustat", &stat));
	for (uint32_t i = 0; i < ret->nvcpus; i++) {
		if (!link->facts.percpu_base[i])
			return NULL;
		uint64_t at = link->facts.percpu_base[i] + stat.v + 8 * (uint64_t)index;

		OT_TRY(vp_guest_read_once(link->guest, &vp_readings[VP_READ_WATCH], vp_gva(at),
					  &ret->vcpu_ns[i], sizeof(ret->vcpu_ns[i])));
	}
	ret->by_guest = true;
	return NULL;
}

/* schedstat: time run, time waited for a CPU, slices; nanoseconds. */
static void add_thread(uint32_t pid, const char *tid, struct vp_stolen *ret)
{
	char path[512], line[128];
	const char *p = line;
	uint64_t ran, waited;

	snprintf(path, sizeof(path), "/proc/%u/task/%s/schedstat", pid, tid);
	ot_auto_file FILE *fp = fopen(path, "re");

	if (!fp || !fgets(line, sizeof(line), fp) || !ot_take_number(&p, 10, ' ', &ran) ||
	    !ot_take_number(&p, 10, ' ', &waited))
		return;
	ret->by_host = true;
	ret->host_ns += waited;
}

static void by_host(uint32_t pid, struct vp_stolen *ret)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	ot_auto_dir DIR *dir = pid ? opendir(path) : NULL;

	for (struct dirent *d; dir && (d = readdir(dir));)
		if (*d->d_name != '.')
			add_thread(pid, d->d_name, ret);
}

struct ot_err *vp_session_stolen(struct vp_session *s, uint32_t guest, struct vp_stolen *ret)
{
	const struct vp_guest_link *link = guest < s->links.n ? s->links.items[guest] : NULL;

	memset(ret, 0, sizeof(*ret));
	ret->at_ns = ot_now_ns();
	if (!link)
		return NULL;
	ret->nvcpus = link->facts.nvcpus < VP_VCPUS_MAX ? link->facts.nvcpus : VP_VCPUS_MAX;
	struct ot_err *err = by_guest(link, ret);

	if (err && ot_err_code(err) != OT_ERR_NO_MEMORY) { /* a guest that has ended reports no more */
		ot_err_destroy(err);
		err = NULL;
	}
	by_host(link->client.sock >= 0 ? link->client.pid : 0, ret);
	return err;
}
