/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inlined copies in the guest's text.
 *
 * The debugging information has the first instruction of a copy. Control may come there in other ways than by
 * entering the copy; the branches of the function that it is in tell:
 *  - the instruction is the copy's own: a branch from inside the copy is the turn of a loop;
 *  - it is not (the compiler has moved the copy's instructions, or left none): control enters the copy by
 *    falling through to it, so any branch to it is something else.
 */
#include "vmm-probe/provider/inlined_copy.h"

#include <stdio.h>
#include <string.h>

#include "vmm-probe/arch/arch.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/boundary.h"
#include "vmm-probe/provider/text.h"
#include "vmm-probe/provider/tracepoint_programs.h"

#define FUNCTION_MAX (16u << 20)

static bool in_ranges(const struct vp_copies *all, const struct vp_copies_copy *copy, uint64_t offset)
{
	for (uint32_t i = 0; i < copy->nranges; i++) {
		const struct vp_copies_range *r = &all->ranges[copy->first_range + i];

		if (offset >= r->start && offset < r->end)
			return true;
	}
	return false;
}

/* The function's code, and its address. */
struct body {
	const uint8_t *code;
	uint64_t size, gva;
	uint64_t image; /* start of the kernel's image */
};

/* Does a branch in @b reach @copy's first instruction in a way that is not its entry? */
static bool has_other_ways(const struct vp_copies *all, const struct vp_copies_copy *copy,
			   const struct body *b)
{
	const struct vp_code_ops *ops = vp_arch_native.code;
	bool is_own = in_ranges(all, copy, copy->entry);
	uint64_t entry = b->image + copy->entry;

	for (uint64_t at = 0; at < b->size;) {
		uint8_t len = ops->breakpoint(b->code + at, b->size - at);
		if (len) {
			at += len;
			continue;
		}
		len = ops->length(b->code + at, b->size - at);
		if (!len)
			return true;
		struct vp_branch branch = ops->branch(b->code + at, len, b->gva + at);
		bool jumps = branch.kind == VP_BRANCH_JUMP || branch.kind == VP_BRANCH_JUMP_IF;
		if (jumps && branch.target == entry &&
		    (!is_own || in_ranges(all, copy, b->gva + at - b->image)))
			return true;
		at += len;
	}
	return false;
}

static struct ot_err *read_body(struct vp_probes *probes, uint64_t gva, struct body *ret,
				const char **ret_name)
{
	struct vp_guest *guest = vp_probes_guest(probes);
	const struct vp_symtab *tab = vp_guest_symtab(guest);
	uint64_t offset;
	const struct vp_symbol *sym = vp_symtab_find_addr(tab, vp_gva(gva), &offset);
	struct vp_text *text;

	if (!sym || !vp_symbol_is_function(sym) || sym->module != VP_SYMTAB_VMLINUX)
		return ot_err_new(OT_ERR_UNSUPPORTED, "it is in no function of the guest's");
	ret->gva = sym->addr;
	ret->size = vp_symbol_size(tab, sym);
	ret->image = vp_guest_kernel(guest)->base.v;
	*ret_name = vp_symbol_name(tab, sym);
	if (offset >= ret->size || ret->size > FUNCTION_MAX)
		return ot_err_new(OT_ERR_UNSUPPORTED, "it is in no function of the guest's");
	OT_TRY(vp_probes_text(probes, &text));
	return vp_text_read(text, ret->gva, ret->size, &ret->code);
}

/* The function's unlikely part, NAME.cold, or the function whose part this is; NULL: there is none. */
static const struct vp_symbol *other_part(const struct vp_symtab *tab, const char *name)
{
	const char *cold = strstr(name, ".cold");
	char other[256];
	int n = cold ? snprintf(other, sizeof(other), "%.*s", (int)(cold - name), name)
		     : snprintf(other, sizeof(other), "%s.cold", name);

	return n < (int)sizeof(other) ? vp_symtab_find(tab, "vmlinux", other) : NULL;
}

/* The same of the function's other part, if it has one. */
static struct ot_err *has_other_ways_outside(struct vp_probes *probes, const struct vp_copies *all,
					     const struct vp_copies_copy *copy, const char *name, bool *ret)
{
	const struct vp_symbol *sym = other_part(vp_guest_symtab(vp_probes_guest(probes)), name);
	struct body body;

	*ret = false;
	if (!sym || !vp_symbol_is_function(sym))
		return NULL;
	OT_TRY(read_body(probes, sym->addr, &body, &name));
	*ret = has_other_ways(all, copy, &body);
	return NULL;
}

struct ot_err *vp_inlined_copy_find(struct vp_probes *probes, const struct vp_copies *all,
				    const struct vp_copies_copy *copy, struct vp_inlined_copy *ret)
{
	uint64_t gva = vp_guest_kernel(vp_probes_guest(probes))->base.v + copy->entry;
	struct body body;
	const char *name;

	OT_TRY(read_body(probes, gva, &body, &name));
	*ret = (struct vp_inlined_copy){ .copy = copy, .gva = gva, .function = body.gva, .name = name };
	if (!vp_boundary_is(body.code, body.size, gva - body.gva))
		return ot_err_new(OT_ERR_UNSUPPORTED, "no instruction begins there");
	bool too_often = has_other_ways(all, copy, &body);
	if (!too_often)
		OT_TRY(has_other_ways_outside(probes, all, copy, name, &too_often));
	if (too_often)
		return ot_err_new(
		    OT_ERR_UNSUPPORTED,
		    "a branch to its first instruction does not enter it: it would count too often");
	return NULL;
}

struct ot_err *vp_inlined_copy_site(struct vp_probes *probes, const struct vp_inlined_copy *copy,
				    struct vp_batch_site *ret)
{
	struct body body;
	const char *name;

	OT_TRY(read_body(probes, copy->gva, &body, &name));
	uint64_t at = copy->gva - body.gva;
	if (!vp_boundary_is(body.code, body.size, at))
		return ot_err_new(OT_ERR_BAD_DATA, "the function's text has changed");
	uint8_t length = vp_arch_native.code->length(body.code + at, body.size - at);
	if (!length)
		return ot_err_new(OT_ERR_BAD_DATA, "the bytes there are no known instruction");
	*ret = (struct vp_batch_site){
		.gva = copy->gva,
		.offset = (uint32_t)at,
		.length = length,
		.room = length,
		.args = VP_ARGS_NONE,
		.raw = copy->program,
	};
	memcpy(ret->bytes, body.code + at, length);
	return NULL;
}

/* --- arguments -------------------------------------------------------------------------------------------- */

static const struct vp_expr *value_of(struct vp_exprs *exprs, const struct vp_copies_place *p, uint64_t image)
{
	static const uint8_t regs[] = { VP_REGS_DWARF };
	const struct vp_expr *address;

	switch ((enum vp_place_kind)p->kind) {
	case VP_PLACE_CONST:
		return vp_expr_const(exprs, (uint64_t)p->value);
	case VP_PLACE_ADDRESS:
		return vp_expr_const(exprs, image + (uint64_t)p->value);
	case VP_PLACE_REG:
	case VP_PLACE_MEMORY:
		if (p->reg >= OT_ARRAY_SIZE(regs))
			return NULL;
		address = vp_expr_add(exprs, vp_expr_reg(exprs, regs[p->reg]), (uint64_t)p->value);
		return p->kind == VP_PLACE_REG ? address : vp_expr_load(exprs, address, p->size);
	case VP_PLACE_NONE:
	case VP_PLACE_KINDS:
		break;
	}
	return NULL;
}

struct ot_err *vp_inlined_copy_program(struct vp_probes *probes, const struct vp_copies *all,
				       const struct vp_copies_function *f, const struct vp_copies_copy *copy,
				       uint32_t known, uint32_t *ret)
{
	struct vp_exprs *exprs = vp_tracepoint_exprs(vp_probes_tracepoints(probes));
	uint64_t image = vp_guest_kernel(vp_probes_guest(probes))->base.v;
	struct vp_event_site event = { 0 };

	_Static_assert(VP_COPIES_PARAMS <= VP_BLOCK_ARGS, "");
	for (uint32_t i = 0; i < f->nparams; i++) {
		event.args[i] = value_of(exprs, &all->places[copy->first_place + i], image);
		if (!event.args[i] && known & 1u << i)
			event.args[i] = vp_expr_load(exprs, vp_expr_const(exprs, 0), 8);
	}
	if (exprs->failed)
		return ot_err_nomem();
	return vp_event_program(probes, &event, f->nparams, ret);
}
