/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a contained reader of a guest answers, which hostile code may have written: refused, or all of it can
 * be used. The first byte says whose answer it is, as contained_seeds.c writes it: the kernel's, the
 * modules'.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/guest/contained_internal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Read all that can be reached, as its users do. */
static uint64_t visit(const struct vp_symtab *symtab)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < vp_symtab_count(symtab); i++) {
		const struct vp_symbol *s = vp_symtab_at(symtab, i);

		sum += strlen(vp_symbol_name(symtab, s)) + strlen(vp_symbol_module(symtab, s)) + s->addr;
	}
	return sum;
}

static uint64_t sum_bytes(const uint8_t *bytes, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; bytes && i < n; i++)
		sum += bytes[i];
	return sum;
}

static void core(const uint8_t *data, size_t size)
{
	const struct vp_guest_opts opts = { 0 };
	struct vp_guest *guest = vp_guest_new(&opts);
	const uint8_t *btf = NULL;
	size_t btf_size = 0;
	struct vp_budget budget;

	if (!guest)
		abort();
	vp_guest_budget_begin(guest, &budget, &vp_readings[VP_READ_SYMBOLS]);
	struct ot_err *err = vp_answer_take_core(data, size, guest, &btf, &btf_size);
	if (!err) {
		volatile uint64_t used = visit(guest->symtab) + strlen(guest->kernel.banner) +
					 strlen(guest->kernel.release) + strlen(vp_guest_note(guest)) +
					 sum_bytes(btf, btf_size) +
					 sum_bytes(guest->orc.ip, guest->orc.ip_size) +
					 sum_bytes(guest->orc.orc, guest->orc.orc_size);

		(void)used;
		if (guest->kernel.size > VP_KERNEL_SIZE_MAX || guest->kernel.build_id_len > VP_BUILD_ID_MAX)
			abort();
	}
	vp_budget_end(&budget);
	ot_err_destroy(err);
	vp_guest_destroy(guest);
}

static void modules(const uint8_t *data, size_t size)
{
	struct vp_arrivals found = { 0 };
	struct vp_budget budget;
	uint64_t total = 0;

	vp_budget_begin(&budget, &vp_readings[VP_READ_MODULES], false);
	struct ot_err *err = vp_answer_take_modules(data, size, &found);
	vp_budget_end(&budget);
	for (size_t i = 0; !err && i < found.list.count; i++) {
		const struct vp_module *m = &found.list.list[i];

		if (strlen(m->name) >= VP_MODULE_NAME_MAX || m->nranges > VP_MODULE_RANGES_MAX)
			abort();
		for (size_t k = 0; k < m->nranges; k++)
			total += m->ranges[k].end - m->ranges[k].start;
	}
	if (total > VP_MODULES_TOTAL_MAX)
		abort();
	if (!err) {
		volatile uint64_t used = visit(found.symbols);

		(void)used;
	}
	ot_err_destroy(err);
	vp_arrivals_deinit(&found);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!size)
		return 0;
	uint8_t *own = malloc(size > 1 ? size - 1 : 1); /* to the byte, and aligned as a mapping is */

	if (!own)
		abort();
	memcpy(own, data + 1, size - 1);
	if (data[0] & 1)
		modules(own, size - 1);
	else
		core(own, size - 1);
	free(own);
	return 0;
}
