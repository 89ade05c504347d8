/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Searching the core kernel's text for increments of per-CPU counters. */
#include "vmm-probe/provider/counters.h"

#include <string.h>

#include "base/buf.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/boundary.h"
#include "vmm-probe/provider/text.h"

#define SITES_MAX    4096u /* Debian's kernels have 130 */
#define FUNCTION_MAX (1u << 20)

struct search {
	const struct vp_symtab *tab;
	const uint8_t *code; /* the core kernel's text */
	uint64_t start, len;
	uint64_t array;
	uint32_t nelements;
	struct ot_buf found;
};

/* The function that contains the text's offset @at, if an instruction begins there; 0: none. */
static uint64_t function_at(const struct search *s, uint64_t at)
{
	uint64_t offset = 0;
	const struct vp_symbol *sym = vp_symtab_find_addr(s->tab, vp_gva(s->start + at), &offset);
	uint64_t size = sym && vp_symbol_is_function(sym) ? vp_symbol_size(s->tab, sym) : 0;

	if (offset > at || size > FUNCTION_MAX || offset >= size || size - offset > s->len - at)
		return 0;
	return vp_boundary_is(s->code + at - offset, size, offset) ? sym->addr : 0;
}

static struct ot_err *add(struct search *s, uint64_t at, const struct vp_increment *increment)
{
	uint64_t byte = increment->counter - s->array;
	struct vp_counter_site site = {
		.gva = s->start + at,
		.element = (uint32_t)(byte / sizeof(uint64_t)),
		.increment = *increment,
	};

	if (byte / sizeof(uint64_t) >= s->nelements || byte % sizeof(uint64_t))
		return NULL;
	OT_TRY(vp_budget_check());
	site.function = function_at(s, at);
	if (!site.function)
		return NULL;
	if (s->found.len / sizeof(site) == SITES_MAX)
		return ot_err_new(OT_ERR_LIMIT, "more than %u increments of counters in its text", SITES_MAX);
	ot_buf_append(&s->found, &site, sizeof(site));
	return s->found.failed ? ot_err_nomem() : NULL;
}

static struct ot_err *scan(struct search *s)
{
	struct vp_increment increment = { .len = 0 };
	uint64_t at = 0;

	while ((at = vp_arch_native.code->find_increment(s->code, s->len, s->start, at, &increment)) < s->len)
		OT_TRY(add(s, at++, &increment));
	return NULL;
}

struct ot_err *vp_counter_sites_find(struct vp_probes *probes, uint64_t array, uint32_t nelements,
				     struct vp_counter_sites *ret)
{
	struct vp_guest *guest = vp_probes_guest(probes);
	struct search s = { .tab = vp_guest_symtab(guest), .array = array, .nelements = nelements };
	struct vp_budget budget;
	struct vp_text *text;

	OT_TRY(vp_probes_text(probes, &text));
	s.code = vp_text_core(text, &s.start, &s.len);
	if (!s.len)
		return ot_err_new(OT_ERR_FAULT, "the kernel's text could not be read whole");
	ot_buf_init(&s.found);
	vp_guest_budget_begin(guest, &budget, &vp_readings[VP_READ_COUNTERS]);
	struct ot_err *err = scan(&s);
	vp_budget_end(&budget);
	ret->count = s.found.len / sizeof(*ret->list);
	ret->list = err ? NULL : vp_probes_alloc(probes, s.found.len + 1);
	if (!err && !ret->list)
		err = ot_err_nomem();
	if (!err && s.found.len)
		memcpy(ret->list, s.found.data, s.found.len);
	ot_buf_deinit(&s.found);
	return err;
}

struct ot_err *vp_counter_batch_site(struct vp_probes *probes, const struct vp_counter_site *site,
				     uint32_t program, struct vp_batch_site *ret)
{
	struct vp_increment now;
	struct vp_text *text;
	const uint8_t *code;

	OT_TRY(vp_probes_text(probes, &text));
	OT_TRY(vp_text_read(text, site->gva, site->increment.len, &code));
	if (!vp_arch_native.code->increment(code, site->increment.len, site->gva, &now) ||
	    now.counter != site->increment.counter)
		return ot_err_new(OT_ERR_BAD_DATA, "the text at 0x%llx has changed",
				  (unsigned long long)site->gva);
	*ret = (struct vp_batch_site){
		.gva = site->gva,
		.offset = (uint32_t)(site->gva - site->function),
		.length = site->increment.len,
		.room = site->increment.len,
		.args = VP_ARGS_NONE,
		.raw = program,
	};
	memcpy(ret->bytes, code, site->increment.len);
	return NULL;
}
