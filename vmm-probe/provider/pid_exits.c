/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Finding where a function of a process is left. Stripped files have no names for the parts that compilers
 * move away, so that a jump out of the function is a call at its end, or goes to such a part: the part jumps
 * back into the function's middle, which nothing else does.
 */
#include "vmm-probe/provider/pid_exits.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/provider/operand.h"
#include "vmm-probe/provider/registry.h"
#include "vmm-probe/provider/sites.h"

#define PARTS_MAX 32u
#define SITES_MAX 4096u /* the interpreter's loop of python has 300 */

/* The target of a jump out of the known parts of the function. */
enum where {
	STAYS,  /* to another part of it, which is added */
	LEAVES, /* to another function */
	ENDS,   /* to code that never returns */
};

struct part {
	uint64_t addr, size; /* as linked */
};

struct finder {
	struct vp_probes *probes;
	struct vp_pid_code *code;
	const struct vp_elf_symbol *function;
	uint64_t gva;                 /* the function's */
	struct part parts[PARTS_MAX]; /* [0] is the function itself */
	uint32_t nparts;
	struct vp_pid_piece piece, other; /* the part that is scanned; the target of one of its jumps */
	struct vp_exits exits, others;
	struct vp_batch_site *sites;
	size_t count, cap;
};

static uint64_t bias(const struct finder *f)
{
	return f->code->object->bias;
}

static bool is_in(const struct part *part, uint64_t addr)
{
	return addr - part->addr < part->size;
}

static bool in_function(const struct finder *f, uint64_t addr)
{
	for (uint32_t i = 0; i < f->nparts; i++)
		if (is_in(&f->parts[i], addr))
			return true;
	return false;
}

static struct ot_err *add_part(struct finder *f, uint64_t addr, uint64_t size)
{
	if (f->nparts == PARTS_MAX)
		return ot_err_new(OT_ERR_UNSUPPORTED, "it has more than %u parts", PARTS_MAX);
	f->parts[f->nparts++] = (struct part){ addr, size };
	return NULL;
}

/* --- where a jump goes -------------------------------------------------------------------------------- */

/* Is @p name NAME.cold, where NAME is the function's, or one of its others? */
static bool is_cold_part(const struct finder *f, const char *name)
{
	const struct vp_elf_symbols *symbols = &f->code->object->symbols;
	const struct vp_elf_symbol *end = symbols->items + symbols->count, *s = f->function;
	const char *cold = strstr(name, ".cold");

	while (s > symbols->items && s[-1].addr == f->function->addr)
		s--;
	for (; cold && s < end && s->addr == f->function->addr; s++) {
		const char *of = vp_elf_symbol_name(symbols, s);

		if (strlen(of) == (size_t)(cold - name) && !strncmp(of, name, (size_t)(cold - name)))
			return true;
	}
	return false;
}

/* An entry of the table through which a file calls others: it jumps to an address in memory. */
static bool is_linkage(struct finder *f, uint64_t addr)
{
	const struct vp_code_ops *ops = f->code->ops;
	uint8_t bytes[2 * VP_INSN_MAX], length;
	struct vp_asm_operand op;

	if (!vp_pid_object_text(f->code->object, addr, bytes, sizeof(bytes)))
		return false;
	uint32_t at = ops->entry(bytes, sizeof(bytes));
	length = ops->length(bytes + at, sizeof(bytes) - at);
	return length && ops->jump_operand(bytes + at, length, addr + at, &op) && op.kind == VP_ASM_MEMORY &&
	       !op.has_base && !op.has_index;
}

static bool comes_back(const struct finder *f)
{
	uint64_t start = f->gva, end = f->gva + f->function->size;

	for (size_t i = 0; i < f->others.count; i++) {
		const struct vp_exit *e = &f->others.list[i];

		if (vp_exit_is_direct(e) && e->branch.target > start && e->branch.target < end)
			return true;
	}
	return false;
}

/* By the table of .eh_frame_hdr, as @p addr has no name. */
static struct ot_err *where_unnamed(struct finder *f, uint64_t addr, enum where *ret)
{
	struct vp_elf *elf = &f->code->object->elf;
	uint64_t missing = elf->image->missing[VP_PART_FRAMES], start, end;

	*ret = LEAVES;
	if (is_linkage(f, addr))
		return NULL;
	if (!vp_elf_function_at(elf, addr, &start, &end)) {
		if (elf->image->missing[VP_PART_FRAMES] == missing)
			return NULL;
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "it jumps to 0x%llx, and what of %s would say whose code that is "
				  "(.eh_frame) is not in the guest's memory: read the file in the guest "
				  "(`cat FILE >/dev/null`) and try again",
				  (unsigned long long)addr, f->code->object->name);
	}
	OT_TRY(vp_pid_code_read(f->code, start, end - start, &f->other));
	OT_TRY(vp_pid_piece_check(f->code, &f->other));
	f->others.want_tables = true;
	OT_TRY(vp_exits_find(f->other.gva, f->other.bytes, (uint32_t)f->other.size, &f->others));
	if (comes_back(f)) {
		*ret = STAYS;
		return add_part(f, start, end - start);
	}
	if (!f->others.count && !f->others.incomplete)
		*ret = ENDS;
	return NULL;
}

static struct ot_err *where(struct finder *f, uint64_t addr, enum where *ret)
{
	const struct vp_elf_symbols *symbols = &f->code->object->symbols;
	const struct vp_elf_symbol *s = vp_elf_symbols_find(symbols, addr);

	*ret = STAYS;
	if (in_function(f, addr))
		return NULL;
	if (!s || (s->type != STT_FUNC && s->type != STT_GNU_IFUNC) || (!s->size && s->addr != addr))
		return where_unnamed(f, addr, ret);
	if (is_cold_part(f, vp_elf_symbol_name(symbols, s)))
		return add_part(f, s->addr, s->size);
	*ret = LEAVES;
	return NULL;
}

/* --- sites -------------------------------------------------------------------------------------------- */

static struct ot_err *add_site(struct finder *f, const struct vp_exit *e)
{
	if (f->count == SITES_MAX)
		return ot_err_new(OT_ERR_UNSUPPORTED, "it has more than %u ways out", SITES_MAX);
	if (!ot_grow(&f->sites, &f->cap, f->count + 1, sizeof(*f->sites)))
		return ot_err_nomem();
	return vp_pid_code_site(f->code, &f->piece, f->gva, e->offset, &f->sites[f->count++]);
}

static struct ot_err *take_exit(struct finder *f, const struct vp_exit *e)
{
	enum where to = LEAVES;

	if (vp_exit_is_direct(e))
		OT_TRY(where(f, e->branch.target - bias(f), &to));
	if (to != LEAVES)
		return NULL;
	if (e->branch.kind == VP_BRANCH_JUMP_IF)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "it may be left by the conditional jump at +0x%llx: whether one is taken "
				  "can't be seen",
				  (unsigned long long)(f->piece.gva + e->offset - f->gva));
	return add_site(f, e);
}

static struct ot_err *scan_part(struct finder *f, const struct part *part)
{
	OT_TRY(vp_pid_code_read(f->code, part->addr, part->size, &f->piece));
	OT_TRY(vp_pid_piece_check(f->code, &f->piece));
	f->exits.want_tables = true;
	OT_TRY(vp_exits_find(f->piece.gva, f->piece.bytes, (uint32_t)f->piece.size, &f->exits));
	if (f->exits.incomplete)
		return ot_err_new(OT_ERR_UNSUPPORTED, "it has bytes that are no known instruction");
	for (size_t i = 0; i < f->exits.count; i++)
		OT_TRY(take_exit(f, &f->exits.list[i]));
	return NULL;
}

/* --- jumps whose target is computed ------------------------------------------------------------------- */

/* The process's address @addr, of code: in another process it is as far from the site as here. */
static const struct vp_expr *address(const struct finder *f, struct vp_exprs *x, uint64_t site, uint64_t addr)
{
	if (!f->code->of_file)
		return vp_expr_const(x, addr);
	return vp_expr_add(x, vp_expr_reg(x, VP_REG_PC), addr - site);
}

/* The source of the target of the jump at @site; in any process, as its instruction computes it. */
static bool find_operand(const struct finder *f, const struct vp_batch_site *s, struct vp_asm_operand *ret)
{
	const struct vp_code_ops *ops = f->code->ops;
	struct vp_asm_operand moved;

	if (!ops->jump_operand(s->bytes, s->length, s->gva, ret) ||
	    !ops->jump_operand(s->bytes, s->length, s->gva + 1, &moved))
		return false;
	if (!f->code->of_file || ret->kind != VP_ASM_MEMORY || moved.value == ret->value)
		return true;
	ret->has_base = true;
	ret->base = VP_REG_PC;
	ret->value -= s->gva;
	return true;
}

/* 1 if @p target, an address of the process, is in none of the function's parts. */
static const struct vp_expr *is_outside(const struct finder *f, struct vp_exprs *x, uint64_t site,
					const struct vp_expr *target)
{
	const struct vp_expr *all = NULL;

	for (uint32_t i = 0; i < f->nparts; i++) {
		const struct vp_expr *start = address(f, x, site, f->parts[i].addr + bias(f));
		const struct vp_expr *in =
		    vp_expr_binary(x, VP_EXPR_LTU, vp_expr_binary(x, VP_EXPR_SUB, target, start),
				   vp_expr_const(x, f->parts[i].size));
		const struct vp_expr *out = vp_expr_not(x, in);

		all = i ? vp_expr_binary(x, VP_EXPR_AND, all, out) : out;
	}
	return all;
}

static struct ot_err *object_of(struct vp_exprs *x, const struct vp_expr *e, struct dif_object **ret)
{
	*ret = ot_arena_new(&x->arena, struct dif_object);
	return *ret ? vp_expr_dif(e, &x->arena, *ret) : ot_err_nomem();
}

/* Its condition, and the arguments of a return: the offset and the result. */
static struct ot_err *add_program(struct finder *f, struct vp_batch_site *site)
{
	struct vp_exprs *x = &f->code->processes->exprs;
	struct vp_asm_operand op;
	struct dif_clause clause = {
		.probe = { .guest = "", .provider = "", .module = "", .function = "", .name = "" },
		.nactions = 2,
	};

	if (!find_operand(f, site, &op))
		return ot_err_new(OT_ERR_UNSUPPORTED, "where its jump at +0x%x goes is not understood",
				  site->offset);
	const struct vp_expr *when = is_outside(f, x, site->gva, vp_operand_value(x, &op, 0, 8));
	if (x->failed)
		return ot_err_nomem();
	if (!when)
		return ot_err_new(OT_ERR_UNSUPPORTED, "it has too many parts for its jump at +0x%x",
				  site->offset);
	clause.actions = ot_arena_alloc(&x->arena, 2 * sizeof(*clause.actions));
	if (!clause.actions)
		return ot_err_nomem();
	memset(clause.actions, 0, 2 * sizeof(*clause.actions));
	clause.actions[0].kind = clause.actions[1].kind = DIF_ACT_difexpr;
	OT_TRY(object_of(x, when, &clause.predicate));
	OT_TRY(object_of(x, vp_expr_const(x, site->offset), &clause.actions[0].object));
	OT_TRY(object_of(x, vp_expr_reg(x, VP_REG_RESULT), &clause.actions[1].object));
	return vp_probes_add_program(f->probes, &clause, &site->raw);
}

/* Once all parts are known. */
static struct ot_err *add_programs(struct finder *f, bool *ret)
{
	*ret = false;
	for (size_t i = 0; i < f->count; i++) {
		struct vp_batch_site *s = &f->sites[i];
		enum vp_branch_kind kind = f->code->ops->branch(s->bytes, s->length, s->gva).kind;

		if (kind != VP_BRANCH_INDIRECT && kind != VP_BRANCH_TABLE)
			continue;
		*ret = true;
		OT_TRY(vp_budget_take(4096)); /* a program of a few expressions, at most */
		OT_TRY(add_program(f, s));
	}
	for (size_t i = 0; i < f->count && *ret; i++)
		f->sites[i].args = VP_ARGS_FBT_RETURN;
	return NULL;
}

static struct ot_err *find(struct finder *f, struct vp_pid_exits *ret)
{
	OT_TRY(add_part(f, f->function->addr, f->function->size));
	/* Scanning a part may add another one. */
	for (uint32_t i = 0; i < f->nparts; i++) {
		struct part part = f->parts[i];

		OT_TRY(scan_part(f, &part));
	}
	return add_programs(f, &ret->has_programs);
}

struct ot_err *vp_pid_exits_find(struct vp_probes *probes, struct vp_pid_code *code,
				 const struct vp_elf_symbol *function, struct vp_pid_exits *ret)
{
	struct finder f = { .probes = probes,
			    .code = code,
			    .function = function,
			    .gva = function->addr + code->object->bias };
	struct ot_err *err = find(&f, ret);

	vp_exits_deinit(&f.exits);
	vp_exits_deinit(&f.others);
	vp_pid_piece_deinit(&f.piece);
	vp_pid_piece_deinit(&f.other);
	if (err) {
		free(f.sites);
		return err;
	}
	ret->list = f.sites;
	ret->count = (uint32_t)f.count;
	return NULL;
}
