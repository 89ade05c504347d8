/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Listings in the form of `dtrace -S`. Objects need not be verified: every index is checked. */
#include <string.h>

#include "dif/obj/object.h"

/* A variable's name in the object, else its built-in name, or NULL. */
static const char *var_name(const struct dif_object *obj, uint32_t id, uint8_t scope)
{
	for (uint32_t i = 0; i < obj->var_len; i++) {
		const struct dif_var *v = &obj->vars[i];
		if (v->id == id && v->scope == scope && v->name < obj->str_len &&
		    memchr(obj->strs + v->name, 0, obj->str_len - v->name))
			return obj->strs + v->name;
	}
	return dif_var_name(id);
}

static void put_var_comment(const struct dif_object *obj, uint32_t id, uint8_t scope, struct ot_buf *out)
{
	const char *name = var_name(obj, id, scope);

	if (name)
		ot_buf_printf(out, "\t\t! DT_VAR(%u) = \"%s\"", id, name);
}

/* A string of the table as a C literal, so that a newline in it does not break the line. */
static void put_string(const struct dif_object *obj, uint32_t offset, struct ot_buf *out)
{
	ot_buf_putc(out, '"');
	for (; offset < obj->str_len && obj->strs[offset]; offset++) {
		unsigned char c = (unsigned char)obj->strs[offset];
		switch (c) {
		case '\n':
			ot_buf_puts(out, "\\n");
			break;
		case '\t':
			ot_buf_puts(out, "\\t");
			break;
		case '"':
		case '\\':
			ot_buf_putc(out, '\\');
			ot_buf_putc(out, (char)c);
			break;
		default:
			if (c >= 0x20 && c != 0x7f)
				ot_buf_putc(out, (char)c);
			else
				ot_buf_printf(out, "\\%03o", c);
		}
	}
	ot_buf_putc(out, '"');
}

static uint8_t scope_of(unsigned op)
{
	switch (op) {
	case DIF_OP_ldts:
	case DIF_OP_stts:
	case DIF_OP_ldtaa:
	case DIF_OP_sttaa:
	case DIF_OP_ldta:
		return DIF_SCOPE_THREAD;
	case DIF_OP_ldls:
	case DIF_OP_stls:
		return DIF_SCOPE_LOCAL;
	}
	return DIF_SCOPE_GLOBAL;
}

static void put_operands(uint32_t insn, struct ot_buf *out)
{
	static const char *const kinds[] = { "CTF", "STRING" };
	unsigned op = dif_insn_op(insn), r1 = dif_insn_r1(insn), r2 = dif_insn_r2(insn);
	unsigned rd = dif_insn_rd(insn), idx = dif_insn_idx(insn);

	switch (dif_op_class(op)) {
	case DIF_CLASS_R3:
		ot_buf_printf(out, "%%r%u, %%r%u, %%r%u", r1, r2, rd);
		break;
	case DIF_CLASS_R2:
		ot_buf_printf(out,
			      op == DIF_OP_not || op == DIF_OP_mov || op == DIF_OP_allocs ? "%%r%u, %%r%u"
											  : "[%%r%u], %%r%u",
			      r1, rd);
		break;
	case DIF_CLASS_ST:
		ot_buf_printf(out, "%%r%u, [%%r%u]", r1, rd);
		break;
	case DIF_CLASS_CMP:
		ot_buf_printf(out, "%%r%u, %%r%u", r1, r2);
		break;
	case DIF_CLASS_TST:
		ot_buf_printf(out, "%%r%u", r1);
		break;
	case DIF_CLASS_BR:
		ot_buf_printf(out, "%u", dif_insn_label(insn));
		break;
	case DIF_CLASS_RET:
		ot_buf_printf(out, "%%r%u", rd);
		break;
	case DIF_CLASS_IDX:
		ot_buf_printf(out, "%s[%u], %%r%u",
			      op == DIF_OP_sets   ? "DT_STRING"
			      : op == DIF_OP_setx ? "DT_INTEGER"
						  : "DT_XLATE",
			      idx, rd);
		break;
	case DIF_CLASS_ARR:
		ot_buf_printf(out, "DT_VAR(%u), %%r%u, %%r%u", r1, r2, rd);
		break;
	case DIF_CLASS_LDV:
		ot_buf_printf(out, "DT_VAR(%u), %%r%u", idx, rd);
		break;
	case DIF_CLASS_STV:
		ot_buf_printf(out, "%%r%u, DT_VAR(%u)", rd, idx);
		break;
	case DIF_CLASS_CALL:
		ot_buf_printf(out, "DIF_SUBR(%u), %%r%u", idx, rd);
		break;
	case DIF_CLASS_PUSH:
		if (r1 < OT_ARRAY_SIZE(kinds))
			ot_buf_printf(out, "DT_TYPE(%s), %%r%u, %%r%u", kinds[r1], r2, rd);
		else
			ot_buf_printf(out, "DT_TYPE(%u), %%r%u, %%r%u", r1, r2, rd);
		break;
	case DIF_CLASS_NOP:
	case DIF_CLASS_NONE:
		break;
	}
}

static void put_comment(const struct dif_object *obj, uint32_t insn, struct ot_buf *out)
{
	unsigned op = dif_insn_op(insn), idx = dif_insn_idx(insn);

	switch (dif_op_class(op)) {
	case DIF_CLASS_IDX:
		if (op == DIF_OP_setx && idx < obj->int_len) {
			ot_buf_printf(out, "\t\t! 0x%llx", (unsigned long long)obj->ints[idx]);
		} else if (op == DIF_OP_sets && idx < obj->str_len) {
			ot_buf_puts(out, "\t\t! ");
			put_string(obj, idx, out);
		}
		break;
	case DIF_CLASS_ARR:
		put_var_comment(obj, dif_insn_r1(insn), scope_of(op), out);
		break;
	case DIF_CLASS_LDV:
	case DIF_CLASS_STV:
		put_var_comment(obj, idx, scope_of(op), out);
		break;
	case DIF_CLASS_CALL:
		if (dif_subr_name(idx))
			ot_buf_printf(out, "\t\t! %s", dif_subr_name(idx));
		break;
	default:
		break;
	}
}

/* The size printed for a string of size 0 (the strsize option's): the option's default. */
#define STRSIZE_SHOWN 256u

static void put_type(const struct dif_rtype *t, struct ot_buf *out)
{
	static const char *const ckinds[] = { "unknown", "integer", "float", "pointer", "array",  "function",
					      "struct",  "union",   "enum",  "forward", "typedef" };

	ot_buf_printf(out, "%s (%s)%s (size %u)", t->kind == DIF_TYPE_STRING ? "string" : "D type",
		      t->ckind < OT_ARRAY_SIZE(ckinds) ? ckinds[t->ckind] : "unknown",
		      t->flags & DIF_TF_BYUREF  ? " by user ref"
		      : t->flags & DIF_TF_BYREF ? " by ref"
						: "",
		      t->kind == DIF_TYPE_STRING && !t->size ? STRSIZE_SHOWN : t->size);
}

static void put_vars(const struct dif_object *obj, struct ot_buf *out)
{
	static const char *const kinds[] = { "arr", "scl" };
	static const char *const scopes[] = { "glb", "tls", "loc" };

	ot_buf_printf(out, "\n%-16s %-4s %-3s %-3s %-4s %s\n", "NAME", "ID", "KND", "SCP", "FLAG", "TYPE");
	for (uint32_t i = 0; i < obj->var_len; i++) {
		const struct dif_var *v = &obj->vars[i];
		char flags[4] = { 0 }, *f = flags;

		if (v->flags & DIF_VARF_REF)
			*f++ = 'r';
		if (v->flags & DIF_VARF_MOD) {
			if (f > flags)
				*f++ = '/';
			*f++ = 'w';
		}
		const char *name = var_name(obj, v->id, v->scope);
		ot_buf_printf(out, "%-16s %-4x %-3s %-3s %-4s ", name ? name : "", v->id,
			      v->kind < 2 ? kinds[v->kind] : "?", v->scope < 3 ? scopes[v->scope] : "?",
			      flags);
		put_type(&v->type, out);
		ot_buf_putc(out, '\n');
	}
}

void dif_object_list(const struct dif_object *obj, struct ot_buf *out)
{
	ot_buf_printf(out, "\nDIFO %p returns ", (const void *)obj);
	put_type(&obj->ret, out);
	ot_buf_puts(out, "\nOFF OPCODE      INSTRUCTION\n");
	for (uint32_t pc = 0; pc < obj->text_len; pc++) {
		uint32_t insn = obj->text[pc];
		const char *name = dif_op_name(dif_insn_op(insn));

		ot_buf_printf(out, "%02u: %08x    ", pc, insn);
		if (!name) {
			ot_buf_puts(out, "ILLOP\n");
			continue;
		}
		if (dif_op_class(dif_insn_op(insn)) == DIF_CLASS_NOP) {
			ot_buf_printf(out, "%s\n", name);
			continue;
		}
		ot_buf_printf(out, "%-4s ", name);
		put_operands(insn, out);
		put_comment(obj, insn, out);
		ot_buf_putc(out, '\n');
	}
	if (obj->var_len)
		put_vars(obj, out);
}
