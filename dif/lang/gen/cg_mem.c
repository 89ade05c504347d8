/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Variables and memory: loads, stores, bit-fields, assignments, ++ and --. */
#include "dif/lang/gen/cg.h"

/* --- variables ------------------------------------------------------------------------------ */

static enum dif_op var_op(const struct dif_ident *id, bool store)
{
	if (id->kind == DIF_ID_BUILTIN)
		return store ? DIF_OP_stgs : DIF_OP_ldgs;
	if (id->is_array) {
		if (id->var_scope == DIF_SCOPE_THREAD)
			return store ? DIF_OP_sttaa : DIF_OP_ldtaa;
		return store ? DIF_OP_stgaa : DIF_OP_ldgaa;
	}
	switch (id->var_scope) {
	case DIF_SCOPE_THREAD:
		return store ? DIF_OP_stts : DIF_OP_ldts;
	case DIF_SCOPE_LOCAL:
		return store ? DIF_OP_stls : DIF_OP_ldls;
	default:
		return store ? DIF_OP_stgs : DIF_OP_ldgs;
	}
}

/*
 * An element of an array, or a thread's variable, without a stored value has no address. One that holds a
 * struct is needed by its address, to load or to store a member, so it is created here, all zeros. The tuple
 * is still in place.
 */
static void fault_in(struct dif_cg *cg, const struct dif_node *n, int reg)
{
	const struct dif_ident *id = n->ident;
	uint32_t there = dif_label(&cg->as);

	dif_emit_r2(&cg->as, DIF_OP_tst, reg, 0);
	dif_emit_branch(&cg->as, DIF_OP_bne, there);
	dif_emit_setx(&cg->as, dif_sizeof(cg->c, n->type), reg);
	dif_emit_r2(&cg->as, DIF_OP_allocs, reg, reg);
	dif_emit_var(&cg->as, var_op(id, true), id, n->type, reg);
	dif_emit_var(&cg->as, var_op(id, false), id, n->type, reg);
	dif_label_place(&cg->as, there);
}

static bool needs_fault_in(struct dif_cg *cg, const struct dif_node *n)
{
	const struct dif_ident *id = n->ident;

	return id->kind != DIF_ID_BUILTIN && (id->is_array || id->var_scope == DIF_SCOPE_THREAD) &&
	       dif_is_byref(cg->c, n->type) && !dif_is_string(cg->c, n->type);
}

int dif_cg_var(struct dif_cg *cg, struct dif_node *n)
{
	const struct dif_ident *id = n->ident;

	if (id->kind == DIF_ID_BUILTIN && id->id <= DIF_VAR_ARRAY_MAX) {
		int index = dif_cg_node(cg, n->args);
		if (index < 0)
			return -1;
		dif_emit_array(&cg->as, id, n->type, index, index);
		/* args[] holds 64-bit words; a narrow argument fills only its part */
		if (id->id == DIF_VAR_args)
			dif_cg_extend(cg, index, n->type);
		return index;
	}
	if (n->args && !dif_cg_tuple(cg, n->args))
		return -1;
	int reg = dif_reg_alloc(cg);
	if (reg > 0)
		dif_emit_var(&cg->as, var_op(id, false), id, n->type, reg);
	if (reg > 0 && needs_fault_in(cg, n))
		fault_in(cg, n, reg);
	return reg;
}

static bool store_var(struct dif_cg *cg, struct dif_node *n, int value)
{
	if (n->args && !dif_cg_tuple(cg, n->args))
		return false;
	dif_emit_var(&cg->as, var_op(n->ident, true), n->ident, n->type, value);
	return !cg->c->diag.failed;
}

/* --- memory ---------------------------------------------------------------------------------- */

static enum dif_op load_op(uint64_t size, bool is_signed, bool user)
{
	switch (size) {
	case 1:
		return user ? (is_signed ? DIF_OP_uldsb : DIF_OP_uldub)
			    : (is_signed ? DIF_OP_ldsb : DIF_OP_ldub);
	case 2:
		return user ? (is_signed ? DIF_OP_uldsh : DIF_OP_ulduh)
			    : (is_signed ? DIF_OP_ldsh : DIF_OP_lduh);
	case 4:
		return user ? (is_signed ? DIF_OP_uldsw : DIF_OP_ulduw)
			    : (is_signed ? DIF_OP_ldsw : DIF_OP_lduw);
	default:
		return user ? DIF_OP_uldx : DIF_OP_ldx;
	}
}

int dif_cg_load(struct dif_cg *cg, struct dif_node *n, int addr)
{
	uint64_t size = dif_is_pointer(cg->c, n->type) ? 8 : dif_sizeof(cg->c, n->type);

	if (size != 1 && size != 2 && size != 4 && size != 8) {
		dif_fail(cg->c, DIF_D_UNKNOWN, n->line, "cannot load a value of type \"%s\": %llu bytes",
			 dif_type_text(cg->c, n->type), (unsigned long long)size);
		return -1;
	}
	dif_emit_r2(&cg->as, load_op(size, dif_is_signed(cg->c, n->type), n->is_userland), addr, addr);
	return addr;
}

static enum dif_op store_op(uint64_t size)
{
	return size == 1 ? DIF_OP_stb : size == 2 ? DIF_OP_sth : size == 4 ? DIF_OP_stw : DIF_OP_stx;
}

/* The bytes of a string, and its NUL if it fits into @size. */
static void store_string(struct dif_cg *cg, int value, int addr, uint64_t size)
{
	uint32_t full = dif_label(&cg->as), fits = dif_label(&cg->as);
	int len = dif_cg_strlen(cg, value), tmp = dif_reg_alloc(cg);

	if (cg->c->diag.failed)
		return;
	dif_emit_setx(&cg->as, size, tmp);
	dif_emit_r3(&cg->as, DIF_OP_cmp, len, tmp, 0);
	dif_emit_branch(&cg->as, DIF_OP_blu, fits);
	dif_emit_r3(&cg->as, DIF_OP_copys, value, tmp, addr);
	dif_emit_branch(&cg->as, DIF_OP_ba, full);
	dif_label_place(&cg->as, fits);
	dif_emit_r3(&cg->as, DIF_OP_copys, value, len, addr);
	dif_emit_r3(&cg->as, DIF_OP_add, addr, len, len);
	dif_emit_r2(&cg->as, DIF_OP_stb, 0, len);
	dif_label_place(&cg->as, full);
	dif_reg_free(cg, tmp);
	dif_reg_free(cg, len);
}

/* Values by reference are copied; of strings, also those that go into arrays, only the present bytes. */
static void store_bytes(struct dif_cg *cg, struct dif_type *type, const struct dif_node *from, int value,
			int addr)
{
	struct dif_compiler *c = cg->c;
	uint64_t size = dif_sizeof(c, type), have = dif_sizeof(c, from->type);

	if (dif_is_string(c, type) || (dif_is_stringlike(c, type) && !dif_is_array(c, from->type))) {
		store_string(cg, value, addr, size);
		return;
	}
	int len = dif_reg_alloc(cg);
	dif_emit_setx(&cg->as, have && have < size ? have : size, len);
	if (len > 0)
		dif_emit_r3(&cg->as, DIF_OP_copys, value, len, addr);
	dif_reg_free(cg, len);
}

static void store_mem(struct dif_cg *cg, struct dif_type *type, const struct dif_node *from, int value,
		      int addr)
{
	if (dif_is_byref(cg->c, type))
		store_bytes(cg, type, from, value, addr);
	else
		dif_emit_r2(&cg->as, store_op(dif_sizeof(cg->c, type)), value, addr);
}

/* --- bit-fields ------------------------------------------------------------------------------- */

/* The aligned unit that a bit-field lies in. */
struct bits {
	uint64_t offset; /* of the unit, bytes from the start of the struct */
	uint64_t size;   /* of the unit */
	unsigned shift;  /* of the field in the unit */
	unsigned width;
};

static struct bits bitfield_unit(const struct dif_node *n)
{
	struct bits b = { .width = n->member->bit_size };

	for (b.size = 1; b.size < 8; b.size *= 2) {
		uint64_t unit = b.size * 8;
		if (n->member_bits / unit == (n->member_bits + b.width - 1) / unit)
			break;
	}
	b.offset = n->member_bits / (b.size * 8) * b.size;
	b.shift = (unsigned)(n->member_bits - b.offset * 8);
	return b;
}

static void shift_by(struct dif_cg *cg, enum dif_op op, int reg, unsigned by)
{
	if (!by)
		return;
	int r = dif_reg_alloc(cg);
	dif_emit_setx(&cg->as, by, r);
	dif_emit_r3(&cg->as, op, reg, r, reg);
	dif_reg_free(cg, r);
}

static int unit_addr(struct dif_cg *cg, struct dif_node *n, const struct bits *b)
{
	uint64_t keep = n->member_bits;

	n->member_bits = b->offset * 8;
	int reg = dif_cg_addr(cg, n);
	n->member_bits = keep;
	return reg;
}

static int load_bitfield(struct dif_cg *cg, struct dif_node *n)
{
	struct bits b = bitfield_unit(n);
	int reg = unit_addr(cg, n, &b);

	if (reg < 0)
		return -1;
	dif_emit_r2(&cg->as, load_op(b.size, false, n->is_userland), reg, reg);
	shift_by(cg, DIF_OP_sll, reg, 64 - b.shift - b.width);
	shift_by(cg, dif_is_signed(cg->c, n->type) ? DIF_OP_sra : DIF_OP_srl, reg, 64 - b.width);
	return reg;
}

static void store_bitfield(struct dif_cg *cg, struct dif_node *n, int value)
{
	struct bits b = bitfield_unit(n);
	uint64_t mask = (b.width >= 64 ? UINT64_MAX : (1ull << b.width) - 1) << b.shift;
	int addr = unit_addr(cg, n, &b), unit = dif_reg_alloc(cg), tmp = dif_reg_alloc(cg);

	if (cg->c->diag.failed)
		return;
	dif_emit_r2(&cg->as, load_op(b.size, false, false), addr, unit);
	dif_emit_setx(&cg->as, ~mask, tmp);
	dif_emit_r3(&cg->as, DIF_OP_and, unit, tmp, unit);
	dif_emit_r2(&cg->as, DIF_OP_mov, value, tmp);
	shift_by(cg, DIF_OP_sll, tmp, b.shift);
	int m = dif_reg_alloc(cg);
	dif_emit_setx(&cg->as, mask, m);
	dif_emit_r3(&cg->as, DIF_OP_and, tmp, m, tmp);
	dif_reg_free(cg, m);
	dif_emit_r3(&cg->as, DIF_OP_or, unit, tmp, unit);
	dif_emit_r2(&cg->as, store_op(b.size), unit, addr);
	dif_reg_free(cg, tmp);
	dif_reg_free(cg, unit);
	dif_reg_free(cg, addr);
}

int dif_cg_member(struct dif_cg *cg, struct dif_node *n)
{
	if (n->member->bit_size)
		return load_bitfield(cg, n);
	int reg = dif_cg_addr(cg, n);
	if (reg < 0 || dif_is_byref(cg->c, n->type))
		return reg;
	return dif_cg_load(cg, n, reg);
}

/* --- assignments ------------------------------------------------------------------------------ */

/* @from is the expression of the value in the register. */
static bool store(struct dif_cg *cg, struct dif_node *target, const struct dif_node *from, int value)
{
	if (target->kind == DIF_N_VAR)
		return store_var(cg, target, value);
	if (target->kind == DIF_N_MEMBER && target->member->bit_size) {
		store_bitfield(cg, target, value);
		return !cg->c->diag.failed;
	}
	int addr = dif_cg_addr(cg, target);
	if (addr < 0)
		return false;
	store_mem(cg, target->type, from, value, addr);
	dif_reg_free(cg, addr);
	return !cg->c->diag.failed;
}

int dif_cg_asgn(struct dif_cg *cg, struct dif_node *n)
{
	int value;

	if (!n->arith) {
		value = dif_cg_node(cg, n->right);
	} else {
		value = dif_cg_node(cg, n->left);
		int right = value < 0 ? -1 : dif_cg_node(cg, n->right);
		if (right < 0)
			return -1;
		struct dif_type *type = n->left->type;
		if (dif_is_pointer(cg->c, type))
			dif_cg_scale(cg, right, type);
		else if (n->arith != DIF_O_LSH && n->arith != DIF_O_RSH)
			type = dif_type_promote(cg->c, type, n->right->type);
		dif_cg_arith(cg, n->arith, type, value, right, value);
		dif_reg_free(cg, right);
		if (n->left->kind != DIF_N_VAR)
			dif_cg_extend(cg, value, n->left->type);
	}
	if (value < 0 || !store(cg, n->left, n->right, value))
		return -1;
	return value;
}

int dif_cg_incdec(struct dif_cg *cg, struct dif_node *n)
{
	bool post = n->op == DIF_O_POSTINC || n->op == DIF_O_POSTDEC;
	bool inc = n->op == DIF_O_PREINC || n->op == DIF_O_POSTINC;
	struct dif_type *to = dif_is_pointer(cg->c, n->type) ? dif_pointee(cg->c, n->type) : NULL;
	int old = dif_cg_node(cg, n->left), by = dif_reg_alloc(cg);

	if (cg->c->diag.failed)
		return -1;
	dif_emit_setx(&cg->as, to ? dif_sizeof(cg->c, to) : 1, by);
	dif_emit_r3(&cg->as, inc ? DIF_OP_add : DIF_OP_sub, old, by, by);
	if (n->left->kind != DIF_N_VAR && dif_sizeof(cg->c, n->type) < 4)
		dif_cg_extend(cg, by, n->type);
	if (!store(cg, n->left, n->left, by))
		return -1;
	dif_reg_free(cg, post ? by : old);
	return post ? old : by;
}
