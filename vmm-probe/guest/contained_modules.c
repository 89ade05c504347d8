/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Modules in the answer of a contained reader. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vmm-probe/arch/native.h"
#include "vmm-probe/guest/contained_internal.h"

#define MAGIC "OTMODS01"

/* After it: modules, symbols, names. */
struct head {
	char magic[8];
	uint64_t nmodules, nsymbols, names_size, skipped;
	uint64_t is_torn;
};

/* One struct with many fields: struct vp_module of the guest, before it is numbered. */
struct record {
	char name[VP_MODULE_NAME_MAX];
	uint64_t addr;
	uint32_t is_live, is_formed;
	uint64_t number; /* by which symbols name it; 0: none does */
	struct vp_module_range ranges[VP_MODULE_RANGES_MAX];
	uint64_t nranges;
	uint64_t percpu, percpu_size;
	uint64_t btf_data, btf_size;
	uint64_t orc_ip, orc_unwind, num_orcs;
};

/* --- in the child ---------------------------------------------------------------------------------------- */

static void put_module(const struct vp_module *m, int number, struct ot_buf *out)
{
	struct record r = {
		.addr = m->addr.v,
		.is_live = m->live,
		.is_formed = m->formed,
		.number = number > 0 ? (uint64_t)number : 0,
		.nranges = m->nranges,
		.percpu = m->percpu,
		.percpu_size = m->percpu_size,
		.btf_data = m->btf_data.v,
		.btf_size = m->btf_size,
		.orc_ip = m->orc_ip.v,
		.orc_unwind = m->orc_unwind.v,
		.num_orcs = m->num_orcs,
	};

	memcpy(r.name, m->name, sizeof(r.name));
	memcpy(r.ranges, m->ranges, sizeof(r.ranges));
	ot_buf_append(out, &r, sizeof(r));
}

void vp_answer_put_modules(const struct vp_arrivals *found, struct ot_buf *out)
{
	size_t start = out->len;
	struct head h = {
		.magic = MAGIC,
		.nmodules = found->list.count,
		.nsymbols = vp_symtab_count(found->symbols),
		.skipped = found->list.skipped,
		.is_torn = found->list.torn,
	};

	ot_buf_append(out, &h, sizeof(h));
	for (size_t i = 0; i < found->list.count; i++)
		put_module(&found->list.list[i],
			   vp_symtab_find_module(found->symbols, found->list.list[i].name), out);
	vp_answer_put_symbols(found->symbols, out, &h.names_size);
	if (!out->failed)
		memcpy(out->data + start, &h, sizeof(h)); /* now with the names' size */
}

/* --- in its parent --------------------------------------------------------------------------------------- */

static struct ot_err *bad(const char *what)
{
	return ot_err_new(OT_ERR_BAD_DATA, "the data read of the modules is invalid: %s", what);
}

static bool is_name(const char name[VP_MODULE_NAME_MAX])
{
	size_t len = strnlen(name, VP_MODULE_NAME_MAX);

	for (size_t i = 0; i < len; i++)
		if (!isgraph((unsigned char)name[i]))
			return false;
	return len && len < VP_MODULE_NAME_MAX;
}

/* *left: the remaining bytes for all modules together. */
static bool are_ranges(const struct record *r, uint64_t *left)
{
	if (!r->nranges || r->nranges > VP_MODULE_RANGES_MAX)
		return false;
	for (uint64_t i = 0; i < r->nranges; i++) {
		uint64_t start = r->ranges[i].start, size = r->ranges[i].end - start;

		if (start < vp_native_paging.kernel_half || r->ranges[i].end <= start ||
		    size > VP_MODULE_SIZE_MAX || size > *left)
			return false;
		*left -= size;
	}
	return true;
}

static struct ot_err *take_module(const struct record *r, uint64_t *left, uint64_t *types_left,
				  struct vp_module *m)
{
	if (!is_name(r->name))
		return bad("a name");
	if (!are_ranges(r, left))
		return bad("a module's place");
	if (r->btf_size > *types_left)
		return bad("a size of types");
	*types_left -= r->btf_size;
	*m = (struct vp_module){
		.addr = vp_gva(r->addr),
		.live = r->is_live != 0,
		.formed = r->is_formed != 0,
		.nranges = r->nranges,
		.percpu = r->percpu,
		.percpu_size = r->percpu_size,
		.btf_data = vp_gva(r->btf_data),
		.btf_size = r->btf_size,
		.orc_ip = vp_gva(r->orc_ip),
		.orc_unwind = vp_gva(r->orc_unwind),
		.num_orcs = r->num_orcs,
	};
	snprintf(m->name, sizeof(m->name), "%s", r->name);
	memcpy(m->ranges, r->ranges, m->nranges * sizeof(*m->ranges));
	return NULL;
}

/* Modules with the same name have the same number. */
static struct ot_err *take_number(const struct record *r, uint16_t numbers[VP_SYMTAB_MODULES],
				  struct vp_symtab *symtab)
{
	if (!r->number)
		return NULL;
	if (r->number >= VP_SYMTAB_MODULES)
		return bad("a number");
	int known = vp_symtab_find_module(symtab, r->name);
	if (known < 0)
		return vp_symtab_add_module(symtab, r->name, &numbers[r->number]);
	numbers[r->number] = (uint16_t)known;
	return NULL;
}

static struct ot_err *take_list(const struct record *records, uint64_t n, uint16_t numbers[VP_SYMTAB_MODULES],
				struct vp_arrivals *ret)
{
	uint64_t left = VP_MODULES_TOTAL_MAX, types_left = VP_MODULE_BTF_MAX;

	OT_TRY(vp_budget_take(n * sizeof(*ret->list.list)));
	ret->list.list = calloc(n ? n : 1, sizeof(*ret->list.list));
	if (!ret->list.list)
		return ot_err_nomem();
	for (uint64_t i = 0; i < n; i++) {
		OT_TRY(take_module(&records[i], &left, &types_left, &ret->list.list[i]));
		OT_TRY(take_number(&records[i], numbers, ret->symbols));
		ret->list.count++;
	}
	return NULL;
}

struct ot_err *vp_answer_take_modules(const void *data, size_t len, struct vp_arrivals *ret)
{
	const struct head *h = data;
	const uint8_t *bytes = data;
	uint16_t numbers[VP_SYMTAB_MODULES];

	if (len < sizeof(*h) || memcmp(h->magic, MAGIC, sizeof(h->magic)) != 0)
		return bad("its head");
	if (h->nmodules > VP_SYMTAB_MODULES || h->nsymbols > VP_SYMTAB_MAX || h->names_size > len ||
	    h->skipped > VP_SYMTAB_MODULES)
		return bad("a size");
	/* None of these is large: no sum overflows. */
	uint64_t symbols = sizeof(*h) + h->nmodules * sizeof(struct record);
	uint64_t names = symbols + h->nsymbols * sizeof(struct vp_answer_symbol);
	if (names + h->names_size != len)
		return bad("its length");
	const struct vp_answer_symbols answer = { (const void *)(bytes + symbols),
						  (const char *)bytes + names, h->nsymbols, h->names_size };
	memset(numbers, 0xff, sizeof(numbers)); /* no module has that number */
	OT_TRY(vp_symtab_create(&ret->symbols));
	OT_TRY(take_list((const void *)(bytes + sizeof(*h)), h->nmodules, numbers, ret));
	ret->list.skipped = h->skipped;
	ret->list.torn = h->is_torn != 0;
	return vp_answer_take_symbols(&answer, numbers, VP_SYMTAB_MODULES, ret->symbols);
}
