/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Symbols in the answer of a contained reader. */
#include <ctype.h>
#include <string.h>

#include "vmm-probe/guest/contained_internal.h"

_Static_assert(sizeof(struct vp_answer_symbol) == 16, "");

#define FLAGS (VP_SYM_PERCPU | VP_SYM_ABSOLUTE)

void vp_answer_put_symbols(const struct vp_symtab *symtab, struct ot_buf *out, uint64_t *ret_names_size)
{
	size_t n = vp_symtab_count(symtab);

	for (size_t i = 0; i < n; i++) {
		const struct vp_symbol *s = vp_symtab_at(symtab, i);
		const struct vp_answer_symbol a = {
			.addr = s->addr,
			.len = (uint32_t)strlen(vp_symbol_name(symtab, s)),
			.module = s->module,
			.type = (uint8_t)s->type,
			.flags = s->module == VP_SYMTAB_VMLINUX ? 0 : s->flags & FLAGS,
		};

		ot_buf_append(out, &a, sizeof(a));
	}
	size_t before = out->len;
	for (size_t i = 0; i < n; i++) {
		const char *name = vp_symbol_name(symtab, vp_symtab_at(symtab, i));

		ot_buf_append(out, name, strlen(name) + 1);
	}
	*ret_names_size = out->len - before;
}

struct ot_err *vp_answer_take_symbols(const struct vp_answer_symbols *answer, const uint16_t *numbers,
				      size_t nmodules, struct vp_symtab *symtab)
{
	uint64_t at = 0;

	for (uint64_t i = 0; i < answer->count; i++) {
		const struct vp_answer_symbol *s = &answer->symbols[i];
		uint64_t left = answer->names_size - at;
		const char *name = answer->names + at;

		/* A NUL inside would make the name differ from the counted one. */
		if (s->module >= nmodules || (s->flags & ~FLAGS) || s->len >= left ||
		    memchr(name, '\0', left < s->len + 1ull ? left : s->len + 1ull) != name + s->len)
			return ot_err_new(OT_ERR_BAD_DATA, "symbol %llu is broken", (unsigned long long)i);
		char type = isalpha(s->type) ? (char)s->type : '?';
		OT_TRY(vp_symtab_add(symtab, s->addr, type, numbers[s->module], s->flags, name, s->len));
		at += s->len + 1ull;
	}
	return at == answer->names_size ? NULL : ot_err_new(OT_ERR_BAD_DATA, "names are left over");
}
