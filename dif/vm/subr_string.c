/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Subroutines on strings. Results are in scratch, except those of strchr, strrchr and strstr, which point
 * into their argument. */
#include "dif/vm/vm_priv.h"

uint64_t dif_subr_strlen(struct dif_vm *vm)
{
	struct dif_str s;

	return dif_arg_string(vm, 0, &s) ? s.len : 0;
}

uint64_t dif_subr_strjoin(struct dif_vm *vm)
{
	struct dif_str a, b;
	uint64_t addr;

	if (!dif_arg_string(vm, 0, &a) || !dif_arg_string(vm, 1, &b))
		return 0;
	uint64_t len = (uint64_t)a.len + b.len;
	if (len >= vm->strsize) {
		dif_vm_raise(vm, DIF_FAULT_NOSCRATCH, 0);
		return 0;
	}
	char *dst = dif_scratch_alloc(vm, len + 1, &addr);
	if (!dst || !dif_vm_burn(vm, len))
		return 0;
	memcpy(dst, a.s, a.len);
	memcpy(dst + a.len, b.s, b.len);
	dst[len] = 0;
	return addr;
}

/* A NUL matches the terminator. */
static uint64_t find_char(struct dif_vm *vm, bool last)
{
	struct dif_str s;
	char c = (char)dif_arg(vm, 1);

	if (!dif_arg_string(vm, 0, &s))
		return 0;
	if (!c)
		return s.len < vm->strsize ? dif_arg(vm, 0) + s.len : 0;
	const char *at = last ? memrchr(s.s, c, s.len) : memchr(s.s, c, s.len);
	return at ? dif_arg(vm, 0) + (uint64_t)(at - s.s) : 0;
}

uint64_t dif_subr_strchr(struct dif_vm *vm)
{
	return find_char(vm, false);
}

uint64_t dif_subr_strrchr(struct dif_vm *vm)
{
	return find_char(vm, true);
}

/* The first position of @needle in @hay from @from on, or, @backwards, the last one up to @from; -1: none.
 * Quadratic in the worst case, but limited by fuel. */
static int64_t find(struct dif_vm *vm, const struct dif_str *hay, const struct dif_str *needle, int64_t from,
		    bool backwards)
{
	int64_t last = (int64_t)hay->len - needle->len, step = backwards ? -1 : 1;

	if (backwards && from > last)
		from = last;
	for (int64_t at = from; at >= 0 && at <= last; at += step) {
		if (!dif_vm_burn(vm, needle->len))
			return -1;
		if (memcmp(hay->s + at, needle->s, needle->len) == 0)
			return at;
	}
	return -1;
}

uint64_t dif_subr_strstr(struct dif_vm *vm)
{
	struct dif_str hay, needle;

	if (!dif_arg_string(vm, 0, &hay) || !dif_arg_string(vm, 1, &needle))
		return 0;
	int64_t at = find(vm, &hay, &needle, 0, false);
	return at < 0 ? 0 : dif_arg(vm, 0) + (uint64_t)at;
}

uint64_t dif_subr_index(struct dif_vm *vm)
{
	struct dif_str hay, needle;
	int64_t start = dif_nargs(vm) > 2 ? (int32_t)dif_arg(vm, 2) : 0;

	if (!dif_arg_string(vm, 0, &hay) || !dif_arg_string(vm, 1, &needle))
		return 0;
	if (start < 0)
		start = 0;
	if (start >= hay.len)
		return needle.len ? UINT64_MAX : hay.len;
	return (uint64_t)find(vm, &hay, &needle, start, false);
}

uint64_t dif_subr_rindex(struct dif_vm *vm)
{
	struct dif_str hay, needle;

	if (!dif_arg_string(vm, 0, &hay) || !dif_arg_string(vm, 1, &needle))
		return 0;
	int64_t start = dif_nargs(vm) > 2 ? (int32_t)dif_arg(vm, 2) : (int64_t)hay.len;
	if (start < 0)
		return needle.len ? UINT64_MAX : 0;
	return (uint64_t)find(vm, &hay, &needle, start, true);
}

/* --- strtok --------------------------------------------------------------------------- */

/* The string is copied, so that the saved position stays valid when the original changes, or when its scratch
 * or string table is freed with its clause. */
static bool strtok_start(struct dif_vm *vm)
{
	struct dif_vm_priv *p = vm->priv;
	struct dif_str s;

	if (dif_arg(vm, 0)) {
		if (!dif_arg_string(vm, 0, &s))
			return false;
		memcpy(p->strtok, s.s, s.len);
		p->strtok_len = s.len;
		vm->strtok_at = 1;
	}
	return vm->strtok_at && vm->strtok_at - 1 < p->strtok_len;
}

uint64_t dif_subr_strtok(struct dif_vm *vm)
{
	struct dif_vm_priv *p = vm->priv;
	bool is_delim[256] = { false };
	struct dif_str delims;

	if (!dif_arg_string(vm, 1, &delims) || !strtok_start(vm))
		return 0;
	for (uint32_t i = 0; i < delims.len; i++)
		is_delim[(unsigned char)delims.s[i]] = true;
	uint32_t from = (uint32_t)vm->strtok_at - 1;
	if (!dif_vm_burn(vm, p->strtok_len - from))
		return 0;
	while (from < p->strtok_len && is_delim[(unsigned char)p->strtok[from]])
		from++;
	uint32_t to = from;
	while (to < p->strtok_len && !is_delim[(unsigned char)p->strtok[to]])
		to++;
	/* at the delimiter: the next call may have others */
	vm->strtok_at = to < p->strtok_len ? to + 1ull : 0;
	return from < to ? dif_scratch_string(vm, p->strtok + from, to - from) : 0;
}

/* --- substr, toupper, tolower ------------------------------------------------------------- */

/* As Perl's: a negative index counts from the end, a negative count excludes so many bytes at the end. */
uint64_t dif_subr_substr(struct dif_vm *vm)
{
	struct dif_str s;
	int64_t index = (int32_t)dif_arg(vm, 1);
	int64_t n = dif_nargs(vm) > 2 ? (int32_t)dif_arg(vm, 2) : INT32_MAX;

	if (!dif_arg_string(vm, 0, &s))
		return 0;
	int64_t len = s.len;
	if (index < 0) {
		index += len;
		if (index < 0 && index + n > 0) {
			n += index;
			index = 0;
		}
	}
	if (index < 0 || index >= len)
		return dif_scratch_string(vm, "", 0);
	if (n < 0)
		n += len - index;
	if (n < 0)
		n = 0;
	if (n > len - index)
		n = len - index;
	return dif_scratch_string(vm, s.s + index, (uint32_t)n);
}

static uint64_t change_case(struct dif_vm *vm, char lo, char hi)
{
	struct dif_str s;
	uint64_t addr;

	if (!dif_arg_string(vm, 0, &s) || !dif_vm_burn(vm, s.len))
		return 0;
	char *dst = dif_scratch_alloc(vm, (uint64_t)s.len + 1, &addr);
	if (!dst)
		return 0;
	for (uint32_t i = 0; i < s.len; i++)
		dst[i] = (char)(s.s[i] >= lo && s.s[i] <= hi ? s.s[i] ^ 0x20 : s.s[i]);
	dst[s.len] = 0;
	return addr;
}

uint64_t dif_subr_toupper(struct dif_vm *vm)
{
	return change_case(vm, 'a', 'z');
}

uint64_t dif_subr_tolower(struct dif_vm *vm)
{
	return change_case(vm, 'A', 'Z');
}
