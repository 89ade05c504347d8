/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that are inlined. A header's function is in each compilation unit that uses it: entries with the
 * same name, line and prototype are one function. */
#include <dwarf.h>
#include <string.h>

#include "vmm-probe/dwarf/reader_internal.h"

static bool next_param(Dwarf_Die *die, bool first, Dwarf_Die *of)
{
	int r = first ? dwarf_child(of, die) : dwarf_siblingof(die, die);

	while (r == 0 && dwarf_tag(die) != DW_TAG_formal_parameter)
		r = dwarf_siblingof(die, die);
	return r == 0;
}

static const char *name_of(Dwarf_Die *die)
{
	const char *name = dwarf_diename(die);

	return name && *name && strlen(name) <= VP_COPIES_STRING_MAX ? name : NULL;
}

/* Its parameters' offsets, and @key: the text that distinguishes it from others. */
static void describe(Dwarf_Die *die, const char *name, int line, struct vp_dwarf_origin *origin,
		     struct ot_buf *params, struct ot_buf *key, struct vp_block_maker *m)
{
	Dwarf_Die param;

	ot_buf_printf(key, "%s:%d", name, line);
	for (bool first = true; next_param(&param, first, die); first = false) {
		const char *param_name = name_of(&param);
		struct vp_copies_param p;
		size_t at = key->len + 1;

		ot_buf_putc(key, ',');
		vp_dwarf_type_name(&param, key);
		if (origin->nparams == VP_COPIES_PARAMS || key->failed)
			continue;
		p.type = vp_block_string(m, key->data + at);
		p.name = vp_block_string(m, param_name ? param_name : "");
		ot_buf_append(params, &p, sizeof(p));
		origin->params[origin->nparams++] = dwarf_dieoffset(&param);
	}
}

static struct ot_err *add(struct vp_dwarf_reader *r, Dwarf_Die *die, const char *name,
			  struct vp_dwarf_origin *origin)
{
	struct vp_block_maker *m = &r->maker;
	struct ot_buf params, key;

	ot_buf_init(&params);
	ot_buf_init(&key);
	origin->file = dwarf_decl_file(die);
	(void)dwarf_decl_line(die, &origin->line);
	(void)dwarf_decl_column(die, &origin->column);
	describe(die, name, origin->line, origin, &params, &key, m);
	uintptr_t known = (uintptr_t)ot_map_gets(&r->functions, ot_buf_str(&key));
	bool ok = !key.failed && !params.failed;

	if (ok && !known) {
		const struct vp_copies_function f = {
			.name = vp_block_string(m, name),
			.first_param = (uint32_t)(m->params.len / sizeof(struct vp_copies_param)),
			.nparams = origin->nparams,
		};

		ot_buf_append(&m->functions, &f, sizeof(f));
		ot_buf_append(&m->params, params.data, params.len);
		known = m->functions.len / sizeof(f);
		ok = ot_map_puts(&r->functions, ot_buf_str(&key), (void *)known);
	}
	origin->function = (uint32_t)known - 1;
	ot_buf_append(&r->origins_here, &origin, sizeof(origin));
	ot_buf_deinit(&params);
	ot_buf_deinit(&key);
	return ok ? NULL : ot_err_nomem();
}

struct vp_dwarf_origin *vp_dwarf_origin_of(struct vp_dwarf_reader *r, Dwarf_Die *die, struct ot_err **ret_err)
{
	Dwarf_Off offset = dwarf_dieoffset(die);
	struct vp_dwarf_origin *origin = ot_map_get(&r->origins, &offset, sizeof(offset));
	const char *name;

	if (origin)
		return origin;
	name = name_of(die);
	if (!name)
		return NULL;
	origin = ot_arena_new(&r->origins.arena, struct vp_dwarf_origin);
	*ret_err = origin ? add(r, die, name, origin) : ot_err_nomem();
	if (!*ret_err && !ot_map_put(&r->origins, &offset, sizeof(offset), origin))
		*ret_err = ot_err_nomem();
	return *ret_err ? NULL : origin;
}
