/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Operands in AT&T's syntax, as compilers write those of a program's static probes: $5, %eax,
 * -8(%rbp,%rax,4), 40+name(%rip). The text is a guest's: it is read once, from left to right.
 */
#include "vmm-probe/arch/x86/code/operand.h"

#include <string.h>

#define LEGACY   8u /* registers with names; later ones have numbers */
#define NUMBERED 16u

static const char not_understood[] = "it is not understood";
static const char not_constant[] = "its constant is not a number";
static const char too_large[] = "a number in it has more than 64 bits";
static const char by_thread[] = "it is in a thread's own memory (%fs)";
static const char by_pc[] = "it is relative to an instruction that is not named";
static const char two_symbols[] = "it is computed of several symbols";
static const char by_loader[] = "only the loader knows its address (@)";
static const char no_register[] = "it is in a register without an integer (%xmm0, %st)";
static const char short_address[] = "its address has less than 64 bits";

/* The rest of the text. */
struct reader {
	const char *at, *end;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Of a symbol; compilers allow letters of other alphabets too. */
static bool is_symbol(char c)
{
	return is_letter(c) || is_digit(c) || c == '_' || c == '.' || c == '$' || (unsigned char)c >= 0x80;
}

static void skip_spaces(struct reader *r)
{
	while (r->at < r->end && (*r->at == ' ' || *r->at == '\t'))
		r->at++;
}

/* Is @p c next? Then skip it. */
static bool take(struct reader *r, char c)
{
	skip_spaces(r);
	if (r->at == r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

static bool is_at_end(struct reader *r)
{
	skip_spaces(r);
	return r->at == r->end;
}

/* --- registers --------------------------------------------------------------------------------------- */

struct name {
	const char *text;
	size_t len;
};

static bool is(const struct name *n, const char *text)
{
	return n->len == strlen(text) && !memcmp(n->text, text, n->len);
}

static bool find_legacy(const struct name *n, struct vp_asm_operand *ret)
{
	static const char *const names[4][LEGACY] = {
		{ "al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil" },
		{ "ax", "cx", "dx", "bx", "sp", "bp", "si", "di" },
		{ "eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi" },
		{ "rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi" },
	};
	static const char *const high[] = { "ah", "ch", "dh", "bh" };

	for (unsigned i = 0; i < LEGACY; i++)
		for (unsigned width = 0; width < 4; width++)
			if (is(n, names[width][i])) {
				ret->base = (enum vp_reg)i;
				ret->size = (uint8_t)(1u << width);
				return true;
			}
	for (unsigned i = 0; i < 4; i++)
		if (is(n, high[i])) {
			ret->base = (enum vp_reg)i;
			ret->size = 1;
			ret->shift = 8;
			return true;
		}
	return false;
}

/* r8 to r15, with the suffix d, w or b (or l, AMD's form). */
static bool find_numbered(const struct name *n, struct vp_asm_operand *ret)
{
	unsigned number = 0;
	size_t i = 1;

	if (n->len < 2 || n->text[0] != 'r')
		return false;
	for (; i < n->len && i < 3 && is_digit(n->text[i]); i++)
		number = number * 10 + (unsigned)(n->text[i] - '0');
	if (number < LEGACY || number >= NUMBERED || n->text[1] == '0' || n->len > i + 1)
		return false;
	char suffix = i < n->len ? n->text[i] : '\0';
	ret->base = (enum vp_reg)number;
	ret->size = suffix == 'd' ? 4 : suffix == 'w' ? 2 : suffix == 'b' || suffix == 'l' ? 1 : 8;
	return ret->size != 8 || !suffix;
}

/* The register whose name is next, after its %. */
static const char *read_register(struct reader *r, struct name *ret_name, struct vp_asm_operand *ret)
{
	const char *start = r->at;

	while (r->at < r->end && (is_letter(*r->at) || is_digit(*r->at)))
		r->at++;
	*ret_name = (struct name){ start, (size_t)(r->at - start) };
	ret->shift = 0;
	return find_legacy(ret_name, ret) || find_numbered(ret_name, ret) ? NULL : no_register;
}

/* --- what is added ------------------------------------------------------------------------------------ */

static int value_of(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

static const char *read_number(struct reader *r, uint64_t *ret)
{
	uint64_t v = 0, base = 10;

	if (r->end - r->at > 2 && r->at[0] == '0' && (r->at[1] | 0x20) == 'x') {
		base = 16;
		r->at += 2;
	} else if (*r->at == '0') {
		base = 8;
	}
	const char *start = r->at;
	for (; r->at < r->end && (uint64_t)value_of(*r->at) < base; r->at++)
		if (__builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, (uint64_t)value_of(*r->at), &v))
			return too_large;
	*ret = v;
	return r->at == start || (r->at < r->end && is_symbol(*r->at)) ? not_understood : NULL;
}

static const char *read_term(struct reader *r, bool minus, struct vp_asm_operand *ret)
{
	uint64_t v = 0;

	skip_spaces(r);
	if (r->at < r->end && is_digit(*r->at)) {
		const char *why = read_number(r, &v);

		ret->value += minus ? 0 - v : v;
		return why;
	}
	const char *start = r->at;
	while (r->at < r->end && is_symbol(*r->at))
		r->at++;
	if (r->at == start || *start == '$')
		return not_understood;
	if (r->at < r->end && *r->at == '@')
		return by_loader;
	if (ret->symbol || minus)
		return two_symbols;
	ret->symbol = start;
	ret->symbol_len = (size_t)(r->at - start);
	return NULL;
}

/* Numbers and a symbol, with signs between them. */
static const char *read_sum(struct reader *r, struct vp_asm_operand *ret)
{
	bool first = true;

	for (;;) {
		bool minus = take(r, '-'), plus = !minus && take(r, '+');

		if (!minus && !plus && !first)
			return NULL;
		const char *why = read_term(r, minus, ret);
		if (why)
			return why;
		first = false;
	}
}

/* --- memory ------------------------------------------------------------------------------------------- */

static const char *read_address_register(struct reader *r, struct vp_asm_operand *ret, bool *ret_pc)
{
	struct name name;
	const char *why = read_register(r, &name, ret);

	*ret_pc = is(&name, "rip");
	if (*ret_pc)
		return NULL;
	return why ? why : ret->size == 8 ? NULL : short_address;
}

static const char *read_index(struct reader *r, struct vp_asm_operand *ret)
{
	struct vp_asm_operand index = { 0 };
	uint64_t scale = 1;
	bool pc;

	if (!take(r, '%'))
		return not_understood;
	const char *why = read_address_register(r, &index, &pc);
	if (why)
		return why;
	if (pc || index.base == VP_RSP)
		return not_understood;
	if (take(r, ',')) {
		skip_spaces(r);
		if (r->at == r->end || read_number(r, &scale))
			return not_understood;
	}
	if (scale != 1 && scale != 2 && scale != 4 && scale != 8)
		return not_understood;
	ret->has_index = true;
	ret->index = index.base;
	ret->scale = (uint8_t)__builtin_ctzll(scale);
	return NULL;
}

/* After the parenthesis. A symbol relative to rip is the symbol: offsets count from it. */
static const char *read_parentheses(struct reader *r, struct vp_asm_operand *ret)
{
	struct vp_asm_operand base = { 0 };
	const char *why = NULL;
	bool pc = false;

	if (take(r, '%')) {
		why = read_address_register(r, &base, &pc);
		if (why)
			return why;
		if (pc && !ret->symbol)
			return by_pc;
		ret->has_base = !pc;
		ret->base = base.base;
	}
	if (take(r, ',')) {
		why = pc ? not_understood : read_index(r, ret);
		if (why)
			return why;
	} else if (!pc && !ret->has_base) {
		return not_understood;
	}
	return take(r, ')') ? NULL : not_understood;
}

static const char *read_memory(struct reader *r, struct vp_asm_operand *ret)
{
	const char *why;

	ret->kind = VP_ASM_MEMORY;
	if (!take(r, '(')) {
		why = read_sum(r, ret);
		if (why || is_at_end(r))
			return why;
		if (!take(r, '('))
			return not_understood;
	}
	return read_parentheses(r, ret);
}

/* --- all ---------------------------------------------------------------------------------------------- */

static const char *read_percent(struct reader *r, struct vp_asm_operand *ret)
{
	struct name name;
	const char *why = read_register(r, &name, ret);

	if (take(r, ':'))
		return is(&name, "fs") ? by_thread : not_understood;
	ret->kind = VP_ASM_REG;
	return why;
}

static const char *read_operand(struct reader *r, struct vp_asm_operand *ret)
{
	if (take(r, '%'))
		return read_percent(r, ret);
	if (!take(r, '$'))
		return is_at_end(r) ? not_understood : read_memory(r, ret);
	const char *why = read_sum(r, ret);

	ret->kind = VP_ASM_CONST;
	return ret->symbol ? not_constant : why;
}

const char *vp_x86_operand(const char *text, size_t len, struct vp_asm_operand *ret)
{
	struct reader r = { text, text + len };

	*ret = (struct vp_asm_operand){ 0 };
	const char *why = read_operand(&r, ret);
	return why || is_at_end(&r) ? why : not_understood;
}
