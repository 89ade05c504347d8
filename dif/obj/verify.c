/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Verifying one object. The interpreter evaluates a verified object without checks of registers, tables or
 * the program counter; addresses and sizes are checked when they are used.
 *
 * Rules (tests/unit/dif_verify_test.c breaks each):
 *    1  sizes: at least one instruction, each table within its index range, 256 KiB in total
 *    2  the last instruction is ret
 *    3  the opcode exists
 *    4  it is not xlate or xlarg, which a compiler resolves
 *    5  register numbers are below DIF_NREGS
 *    6  a destination is not %r0
 *    7  reserved bits are 0
 *    8  a branch stays inside the text
 *    9  a branch goes forward: no loops, so time is bounded by the length
 *   10  setx names an entry of the integer table
 *   11  sets names an offset in the string table
 *   12  the string table ends with NUL
 *   13  ldga names a built-in array (ldta any array: it always faults)
 *   14  ldgs below 0x500 names a built-in scalar; other loads and all stores name user variables
 *   15  a user variable is in the variable table, with the scope and the kind (scalar or array) of the
 *       instruction
 *   16  pushtr pushes type 0 or 1, pushtv type 0
 *   17  the subroutine exists
 *   18  the returned type: a known kind and flags; by value 0, 1, 2, 4 or 8 bytes; by reference,
 *       unless it is a string, 1 byte to 16 MiB
 *   19  a variable's kind, scope, flags and id are in range, and its name is in the string table
 *   20  a variable's type: as rule 18, but a static by-reference one at most 16 KiB
 *   21  a clause-local variable is a scalar
 *   22  no variable is in the table twice
 */
#include "dif/obj/verify.h"

#include <stdlib.h>
#include <string.h>

#define OBJECT_MAX   (256u << 10)
#define BYREF_MAX    (16u << 20)
#define STATIC_MAX   (16u << 10)
#define TABLE_MAX    65536u
#define ARRAYS_OURS  0x40 /* 0x40..0x7f: built-in arrays of ours */
#define ARRAYS_USERS 0x80

#define BAD(rule, pc, ...) bad(rule, pc, __VA_ARGS__)

static struct ot_err *bad(unsigned rule, uint32_t pc, const char *fmt, ...) OT_PRINTF(3, 4);
static struct ot_err *bad(unsigned rule, uint32_t pc, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	struct ot_err *err = ot_err_vnew(OT_ERR_BAD_DATA, fmt, ap);
	va_end(ap);
	return ot_err_prefix(err, "rule %u at instruction %u", rule, pc);
}

static struct ot_err *check_tables(const struct dif_object *obj)
{
	uint64_t total = 4ull * obj->text_len + 8ull * obj->int_len + obj->str_len +
			 (uint64_t)sizeof(struct dif_var) * obj->var_len;

	if (!obj->text_len)
		return BAD(1, 0, "no instructions");
	if (obj->int_len > TABLE_MAX || obj->str_len > TABLE_MAX || obj->var_len > TABLE_MAX)
		return BAD(1, 0, "a table of more than %u entries", TABLE_MAX);
	if (total > OBJECT_MAX)
		return BAD(1, 0, "%llu bytes in total", (unsigned long long)total);
	if (dif_insn_op(obj->text[obj->text_len - 1]) != DIF_OP_ret)
		return BAD(2, obj->text_len - 1, "the last instruction is not ret");
	if (obj->str_len && obj->strs[obj->str_len - 1])
		return BAD(12, 0, "the string table does not end with NUL");
	return NULL;
}

/* --- types and variables ------------------------------------------------------------ */

static struct ot_err *check_type(unsigned rule, const struct dif_rtype *t, uint32_t byref_max)
{
	if (t->kind > DIF_TYPE_STRING || t->flags & ~(DIF_TF_BYREF | DIF_TF_BYUREF) || t->pad)
		return BAD(rule, 0, "unknown kind %u or flags %#x of a type", t->kind, t->flags);
	if (t->kind == DIF_TYPE_STRING && !(t->flags & DIF_TF_BYREF))
		return BAD(rule, 0, "a string by value");
	if (t->flags & DIF_TF_BYREF) {
		if (t->size > byref_max || (!t->size && t->kind != DIF_TYPE_STRING))
			return BAD(rule, 0, "%u bytes by reference", t->size);
		return NULL;
	}
	if (t->flags & DIF_TF_BYUREF)
		return BAD(rule, 0, "by user reference, but not by reference");
	if (t->size > 8 || (t->size & (t->size - 1)))
		return BAD(rule, 0, "%u bytes by value", t->size);
	return NULL;
}

static struct ot_err *check_var(const struct dif_object *obj, const struct dif_var *v)
{
	bool local = v->scope == DIF_SCOPE_LOCAL, array = v->kind == DIF_VARKIND_ARRAY;
	uint32_t max = BYREF_MAX;

	if (v->kind > DIF_VARKIND_SCALAR || v->scope > DIF_SCOPE_LOCAL ||
	    v->flags & ~(DIF_VARF_REF | DIF_VARF_MOD) || v->id > DIF_VAR_MAX)
		return BAD(19, 0, "variable %#x: kind %u, scope %u, flags %#x", v->id, v->kind, v->scope,
			   v->flags);
	if (v->name >= obj->str_len)
		return BAD(19, 0, "variable %#x: its name is not in the string table", v->id);
	if (local && array)
		return BAD(21, 0, "variable %#x: a clause-local array", v->id);
	if (!array && v->scope != DIF_SCOPE_THREAD)
		max = STATIC_MAX;
	return ot_err_prefix(check_type(20, &v->type, max), "variable %#x", v->id);
}

static int by_scope_id(const void *a, const void *b)
{
	const struct dif_var *x = *(const struct dif_var *const *)a, *y = *(const struct dif_var *const *)b;

	if (x->scope != y->scope)
		return x->scope < y->scope ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

/* Pointers to the variables, sorted for lookups; owned by the caller. */
static struct ot_err *sort_vars(const struct dif_object *obj, const struct dif_var ***ret)
{
	const struct dif_var **sorted = malloc((obj->var_len + 1) * sizeof(*sorted));

	if (!sorted)
		return ot_err_nomem();
	for (uint32_t i = 0; i < obj->var_len; i++)
		sorted[i] = &obj->vars[i];
	qsort(sorted, obj->var_len, sizeof(*sorted), by_scope_id);
	for (uint32_t i = 1; i < obj->var_len; i++) {
		if (by_scope_id(&sorted[i - 1], &sorted[i]) == 0) {
			uint32_t id = sorted[i]->id;
			free(sorted);
			return BAD(22, 0, "variable %#x twice", id);
		}
	}
	*ret = sorted;
	return NULL;
}

/* --- instructions ---------------------------------------------------------------------- */

struct insn_check {
	const struct dif_object *obj;
	const struct dif_var **vars; /* sorted */
	uint32_t pc;
	uint32_t insn;
};

/* The fields that an operand class uses as registers, and whether it writes rd. */
struct shape {
	bool r1, r2, rd, writes;
	uint32_t reserved; /* mask of bits that must be 0 */
};

static const struct shape shapes[] = {
	[DIF_CLASS_R3] = { true, true, true, true, 0 },
	[DIF_CLASS_R2] = { true, false, true, true, 0x0000ff00 },
	[DIF_CLASS_ST] = { true, false, true, false, 0x0000ff00 },
	[DIF_CLASS_CMP] = { true, true, false, false, 0x000000ff },
	[DIF_CLASS_TST] = { true, false, false, false, 0x0000ffff },
	[DIF_CLASS_BR] = { false, false, false, false, 0 },
	[DIF_CLASS_RET] = { false, false, true, false, 0x00ffff00 },
	[DIF_CLASS_NOP] = { false, false, false, false, 0x00ffffff },
	[DIF_CLASS_IDX] = { false, false, true, true, 0 },
	[DIF_CLASS_ARR] = { false, true, true, true, 0 },
	[DIF_CLASS_LDV] = { false, false, true, true, 0 },
	[DIF_CLASS_STV] = { false, false, true, false, 0 },
	[DIF_CLASS_CALL] = { false, false, true, true, 0 },
	[DIF_CLASS_PUSH] = { false, true, true, false, 0 },
};

unsigned dif_object_registers(const struct dif_object *obj)
{
	unsigned highest = 0;

	for (uint32_t pc = 0; pc < obj->text_len; pc++) {
		uint32_t i = obj->text[pc];
		const struct shape *s = &shapes[dif_op_class(dif_insn_op(i))];

		if (s->r1 && dif_insn_r1(i) > highest)
			highest = dif_insn_r1(i);
		if (s->r2 && dif_insn_r2(i) > highest)
			highest = dif_insn_r2(i);
		if (s->rd && dif_insn_rd(i) > highest)
			highest = dif_insn_rd(i);
	}
	return highest + 1;
}

static struct ot_err *check_registers(const struct insn_check *c, enum dif_op_class class)
{
	struct shape s = shapes[class];
	uint32_t i = c->insn;

	if (dif_insn_op(i) == DIF_OP_copys)
		s.writes = false; /* rd is the destination address */
	if ((s.r1 && dif_insn_r1(i) >= DIF_NREGS) || (s.r2 && dif_insn_r2(i) >= DIF_NREGS) ||
	    (s.rd && dif_insn_rd(i) >= DIF_NREGS))
		return BAD(5, c->pc, "no such register in %08x", i);
	if (s.writes && !dif_insn_rd(i))
		return BAD(6, c->pc, "%s writes %%r0", dif_op_name(dif_insn_op(i)));
	if (i & s.reserved)
		return BAD(7, c->pc, "reserved bits set in %08x", i);
	return NULL;
}

static struct ot_err *check_branch(const struct insn_check *c)
{
	uint32_t label = dif_insn_label(c->insn);

	if (label >= c->obj->text_len)
		return BAD(8, c->pc, "branch to %u of %u", label, c->obj->text_len);
	if (label <= c->pc)
		return BAD(9, c->pc, "branch backwards to %u", label);
	return NULL;
}

static struct ot_err *check_index(const struct insn_check *c)
{
	uint32_t index = dif_insn_idx(c->insn);

	if (dif_insn_op(c->insn) == DIF_OP_setx) {
		if (index >= c->obj->int_len)
			return BAD(10, c->pc, "integer %u of %u", index, c->obj->int_len);
	} else if (index >= c->obj->str_len) {
		return BAD(11, c->pc, "string offset %u of %u", index, c->obj->str_len);
	}
	return NULL;
}

static struct ot_err *check_array(const struct insn_check *c)
{
	uint32_t id = dif_insn_r1(c->insn);

	if (dif_insn_op(c->insn) == DIF_OP_ldga && !dif_var_name(id) &&
	    !(id >= ARRAYS_OURS && id < ARRAYS_USERS))
		return BAD(13, c->pc, "no built-in array %#x", id);
	return NULL;
}

static struct ot_err *check_variable(const struct insn_check *c)
{
	uint32_t op = dif_insn_op(c->insn), id = dif_insn_idx(c->insn);
	struct dif_var want = { .id = id, .kind = DIF_VARKIND_SCALAR, .scope = DIF_SCOPE_GLOBAL };
	const struct dif_var *key = &want;

	if (op == DIF_OP_ldgs && id < DIF_VAR_USER_MIN) {
		if (id <= DIF_VAR_ARRAY_MAX || !dif_var_name(id))
			return BAD(14, c->pc, "no built-in scalar %#x", id);
		return NULL;
	}
	if (id < DIF_VAR_USER_MIN)
		return BAD(14, c->pc, "%s of %#x, which is not a user variable", dif_op_name(op), id);
	if (op == DIF_OP_ldts || op == DIF_OP_stts || op == DIF_OP_ldtaa || op == DIF_OP_sttaa)
		want.scope = DIF_SCOPE_THREAD;
	if (op == DIF_OP_ldls || op == DIF_OP_stls)
		want.scope = DIF_SCOPE_LOCAL;
	if (op == DIF_OP_ldgaa || op == DIF_OP_stgaa || op == DIF_OP_ldtaa || op == DIF_OP_sttaa)
		want.kind = DIF_VARKIND_ARRAY;
	const struct dif_var **found = bsearch(&key, c->vars, c->obj->var_len, sizeof(*c->vars), by_scope_id);
	if (!found || (*found)->kind != want.kind)
		return BAD(15, c->pc, "%s of %#x, which is not such a variable in the table", dif_op_name(op),
			   id);
	return NULL;
}

static struct ot_err *check_push(const struct insn_check *c)
{
	uint32_t kind = dif_insn_r1(c->insn);

	if (kind > (dif_insn_op(c->insn) == DIF_OP_pushtr ? DIF_TYPE_STRING : DIF_TYPE_CTF))
		return BAD(16, c->pc, "push of type %u", kind);
	return NULL;
}

static struct ot_err *check_insn(const struct insn_check *c)
{
	uint32_t op = dif_insn_op(c->insn);
	enum dif_op_class class = dif_op_class(op);

	if (class == DIF_CLASS_NONE)
		return BAD(3, c->pc, "no opcode %u", op);
	if (op == DIF_OP_xlate || op == DIF_OP_xlarg)
		return BAD(4, c->pc, "%s was not resolved", dif_op_name(op));
	OT_TRY(check_registers(c, class));
	switch (class) {
	case DIF_CLASS_BR:
		return check_branch(c);
	case DIF_CLASS_IDX:
		return check_index(c);
	case DIF_CLASS_ARR:
		return check_array(c);
	case DIF_CLASS_LDV:
	case DIF_CLASS_STV:
		return check_variable(c);
	case DIF_CLASS_PUSH:
		return check_push(c);
	case DIF_CLASS_CALL:
		if (!dif_subr_find(dif_insn_idx(c->insn)))
			return BAD(17, c->pc, "no subroutine %u", dif_insn_idx(c->insn));
		return NULL;
	case DIF_CLASS_NONE:
	case DIF_CLASS_R3:
	case DIF_CLASS_R2:
	case DIF_CLASS_ST:
	case DIF_CLASS_CMP:
	case DIF_CLASS_TST:
	case DIF_CLASS_RET:
	case DIF_CLASS_NOP:
		return NULL;
	}
	return NULL;
}

static bool insn_is_destructive(uint32_t insn)
{
	return dif_insn_op(insn) == DIF_OP_call &&
	       dif_subr_find(dif_insn_idx(insn))->trait == DIF_TRAIT_destructive;
}

static struct ot_err *check_text(struct dif_object *obj, const struct dif_var **vars)
{
	bool destructive = false;

	for (uint32_t pc = 0; pc < obj->text_len; pc++) {
		struct insn_check c = { obj, vars, pc, obj->text[pc] };
		OT_TRY(check_insn(&c));
		destructive |= insn_is_destructive(c.insn);
	}
	obj->destructive = destructive;
	return NULL;
}

struct ot_err *dif_verify(struct dif_object *obj)
{
	const struct dif_var **vars = NULL;

	OT_TRY(check_tables(obj));
	OT_TRY(ot_err_prefix(check_type(18, &obj->ret, BYREF_MAX), "returned type"));
	for (uint32_t i = 0; i < obj->var_len; i++)
		OT_TRY(check_var(obj, &obj->vars[i]));
	OT_TRY(sort_vars(obj, &vars));
	struct ot_err *err = check_text(obj, vars);
	free(vars);
	return err;
}
