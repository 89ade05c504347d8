/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Subroutines on path names, by their text only. */
#include "dif/vm/vm_priv.h"

/* Length without trailing slashes. */
static uint32_t trim(const char *s, uint32_t len)
{
	while (len && s[len - 1] == '/')
		len--;
	return len;
}

/* basename and dirname: of "" ".", of slashes only "/". */
static uint64_t split(struct dif_vm *vm, bool directory)
{
	struct dif_str s;

	if (!dif_arg_string(vm, 0, &s))
		return 0;
	if (!s.len)
		return dif_scratch_string(vm, ".", 1);
	uint32_t end = trim(s.s, s.len);
	if (!end)
		return dif_scratch_string(vm, "/", 1);
	uint32_t base = end;
	while (base && s.s[base - 1] != '/')
		base--;
	if (!directory)
		return dif_scratch_string(vm, s.s + base, end - base);
	if (!base)
		return dif_scratch_string(vm, ".", 1);
	uint32_t dir = trim(s.s, base);
	return dir ? dif_scratch_string(vm, s.s, dir) : dif_scratch_string(vm, "/", 1);
}

uint64_t dif_subr_basename(struct dif_vm *vm)
{
	return split(vm, false);
}

uint64_t dif_subr_dirname(struct dif_vm *vm)
{
	return split(vm, true);
}

/* The kind of path component after the slash at s[i]. */
enum piece { PIECE_PLAIN, PIECE_EMPTY, PIECE_DOT, PIECE_DOTDOT };

static enum piece classify(const struct dif_str *s, uint32_t i)
{
	const char *p = s->s + i + 1;
	uint32_t left = s->len - i - 1;

	if (left && p[0] == '/')
		return PIECE_EMPTY;
	if (left >= 2 && p[0] == '.' && p[1] == '/')
		return PIECE_DOT;
	if (left >= 2 && p[0] == '.' && p[1] == '.' && (left == 2 || p[2] == '/'))
		return PIECE_DOTDOT;
	return PIECE_PLAIN;
}

/* Collapse "//", "/./" and "/name/.."; after a trailing ".." a slash remains. Like the published function it
 * stops 5 bytes before the end of its buffer. */
uint64_t dif_subr_cleanpath(struct dif_vm *vm)
{
	struct dif_str s;
	uint64_t addr;
	uint32_t j = 0, cap = vm->strsize;

	if (!dif_arg_string(vm, 0, &s) || !dif_vm_burn(vm, s.len))
		return 0;
	char *dst = dif_scratch_alloc(vm, (uint64_t)s.len + 1, &addr);
	if (!dst)
		return 0;
	for (uint32_t i = 0; i < s.len && j + 5 < cap; i++) {
		if (s.s[i] != '/') {
			dst[j++] = s.s[i];
			continue;
		}
		switch (classify(&s, i)) {
		case PIECE_PLAIN:
			dst[j++] = '/';
			break;
		case PIECE_EMPTY:
			break;
		case PIECE_DOT:
			i++;
			break;
		case PIECE_DOTDOT: /* remove up to the last slash, which the next iteration writes again */
			while (j && dst[--j] != '/')
				continue;
			i += 2;
			if (i + 1 == s.len)
				dst[j++] = '/';
			break;
		}
	}
	dst[j] = 0;
	return addr;
}
