/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finding each vCPU's per-CPU area. Registers are not trusted alone: a process may set its GS base to
 * anything. So a value counts only if it is a base in the kernel's own table, and the privilege level decides
 * which of the two registers is the kernel's.
 */
#include "vmm-probe/guest/facts_percpu.h"

#include <string.h>

#include "vmm-probe/arch/arch.h"
#include "vmm-probe/engine/wire/facts.h"

/* Limit for nr_cpu_ids. */
#define TABLE_MAX 8192u

static int find_base(const struct vp_percpu *areas, size_t n, const bool *taken, uint64_t base)
{
	for (size_t i = 0; i < n; i++)
		if (areas[i].base == base && !taken[i])
			return (int)i;
	return -1;
}

/* The area that a vCPU's registers show, or -1. */
static int shown(const struct vp_percpu *areas, size_t n, const bool *taken, const struct vp_regs *regs)
{
	uint64_t bases[VP_PERCPU_BASES];
	unsigned count = vp_arch_native.percpu_bases(regs, bases);
	int found = -1;

	for (unsigned i = 0; found < 0 && i < count; i++)
		found = find_base(areas, n, taken, bases[i]);
	return found;
}

static int by_number(const struct vp_percpu *areas, size_t n, const bool *taken, uint32_t cpu)
{
	int first = -1;

	for (size_t i = 0; i < n; i++) {
		if (taken[i])
			continue;
		if (areas[i].cpu == cpu)
			return (int)i;
		if (first < 0)
			first = (int)i;
	}
	return first;
}

void vp_percpu_assign(const struct vp_percpu *areas, size_t nareas, const struct vp_regs *regs, uint32_t n,
		      uint64_t *ret_bases)
{
	bool taken[VP_VCPUS_MAX] = { false };

	if (nareas > VP_VCPUS_MAX)
		nareas = VP_VCPUS_MAX;
	for (uint32_t v = 0; v < n; v++) {
		int i = regs ? shown(areas, nareas, taken, &regs[v]) : -1;

		ret_bases[v] = i < 0 ? 0 : areas[i].base;
		if (i >= 0)
			taken[i] = true;
	}
	for (uint32_t v = 0; v < n; v++) {
		int i = ret_bases[v] ? -1 : by_number(areas, nareas, taken, v);

		if (i < 0)
			continue;
		ret_bases[v] = areas[i].base;
		taken[i] = true;
	}
}

static uint32_t count_cpus(struct vp_guest *guest)
{
	struct vp_gva gva;
	uint32_t n = 0;
	struct ot_err *err = vp_guest_symbol(guest, "nr_cpu_ids", &gva);

	if (!err)
		err = vp_guest_read_u32(guest, gva, &n);
	ot_err_destroy(err);
	/* In some configurations nr_cpu_ids is a macro and has no symbol. */
	return err || !n || n > TABLE_MAX ? VP_VCPUS_MAX : n;
}

/* The areas of the kernel's CPUs, each proven by its own this_cpu_off. */
static struct ot_err *find_areas(struct vp_guest *guest, struct vp_percpu *ret, size_t *ret_n)
{
	struct vp_gva table, self;
	uint32_t cpus = count_cpus(guest);

	*ret_n = 0;
	OT_TRY(vp_guest_symbol(guest, "__per_cpu_offset", &table));
	OT_TRY(vp_guest_symbol(guest, "this_cpu_off", &self));
	for (uint32_t cpu = 0; cpu < cpus && *ret_n < VP_VCPUS_MAX; cpu++) {
		uint64_t base, proof = 0;

		OT_TRY(vp_guest_read_u64(guest, vp_gva(table.v + 8 * (uint64_t)cpu), &base));
		/* A CPU that does not exist may have no area. */
		struct ot_err *unproven = vp_guest_read_u64(guest, vp_gva(base + self.v), &proof);

		ot_err_destroy(unproven);
		if (!unproven && base && proof == base)
			ret[(*ret_n)++] = (struct vp_percpu){ cpu, base };
	}
	if (!*ret_n)
		return ot_err_new(OT_ERR_BAD_DATA, "none in __per_cpu_offset[] is one");
	return NULL;
}

struct ot_err *vp_facts_percpu_bases(struct vp_guest *guest, const struct vp_regs *regs, uint32_t n,
				     uint64_t *ret_bases)
{
	struct vp_percpu areas[VP_VCPUS_MAX];
	size_t nareas;
	struct ot_err *err = find_areas(guest, areas, &nareas);

	memset(ret_bases, 0, n * sizeof(*ret_bases));
	vp_percpu_assign(areas, nareas, regs, n, ret_bases);
	return err;
}
