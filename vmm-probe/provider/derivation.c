/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compiling definitions, and keeping the results. */
#include "vmm-probe/provider/derivation.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "vmm-probe/guest/btf_types.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/inlined_place.h"
#include "vmm-probe/provider/registry.h"
#include "vmm-probe/provider/world.h"

struct vp_derivation {
	struct vp_probes *probes;
	unsigned guest;
	struct ot_arena arena;
	struct dif_world world;
	struct dif_options options;
	struct dif_compiler *compiler; /* NULL: nothing was compiled yet */
	struct dif_program prog;       /* owns the objects */
	struct dif_clause *programs;
	size_t nprograms, programs_cap;
};

struct ot_err *vp_derivation_create(struct vp_probes *probes, struct vp_derivation **ret)
{
	struct vp_derivation *d = calloc(1, sizeof(*d));

	if (!d)
		return ot_err_nomem();
	d->probes = probes;
	ot_arena_init(&d->arena);
	dif_program_init(&d->prog);
	dif_options_init(&d->options);
	vp_world_of_probes(probes, &d->world);
	*ret = d;
	return NULL;
}

void vp_derivation_destroy(struct vp_derivation *d)
{
	if (!d)
		return;
	dif_compiler_destroy(d->compiler);
	dif_program_deinit(&d->prog);
	dif_options_deinit(&d->options);
	ot_arena_deinit(&d->arena);
	free(d->programs);
	free(d);
}

void vp_derivation_set_guest(struct vp_derivation *d, unsigned guest)
{
	d->guest = guest;
}

struct ot_arena *vp_derivation_arena(struct vp_derivation *d)
{
	return &d->arena;
}

/* --- site programs ------------------------------------------------------------------------- */

struct ot_err *vp_derivation_add_program(struct vp_derivation *d, const struct dif_clause *program,
					 uint32_t *ret)
{
	if (d->nprograms == DIF_CLAUSES_MAX)
		return ot_err_new(OT_ERR_LIMIT, "more than %u site programs", DIF_CLAUSES_MAX);
	if (!ot_grow(&d->programs, &d->programs_cap, d->nprograms + 1, sizeof(*d->programs)))
		return ot_err_nomem();
	d->programs[d->nprograms++] = *program;
	*ret = (uint32_t)d->nprograms;
	return NULL;
}

const struct dif_clause *vp_derivation_program(const struct vp_derivation *d, uint32_t number)
{
	return number && number <= d->nprograms ? &d->programs[number - 1] : NULL;
}

/* --- compiling ------------------------------------------------------------------------------- */

static struct ot_err *compile(struct vp_derivation *d, const struct dif_source *src, uint32_t *ret_first)
{
	const struct dif_diag *diag = NULL;

	if (!d->compiler) {
		OT_TRY(dif_compiler_create(&d->world, &d->options, &d->compiler));
		dif_compiler_for_providers(d->compiler, d->guest);
	}
	struct ot_err *err = dif_compile(d->compiler, src, &d->prog, ret_first, &diag);
	if (!err || !diag)
		return err;
	ot_err_destroy(err);
	return ot_err_new(OT_ERR_UNSUPPORTED, "%s", diag->message);
}

struct ot_err *vp_derivation_declare(struct vp_derivation *d, const char *name, const char *text)
{
	const struct dif_source src = {
		.kind = DIF_SOURCE_LIBRARY, .name = name, .text = text, .len = strlen(text)
	};
	uint32_t first;

	return compile(d, &src, &first);
}

struct ot_err *vp_derivation_compile(struct vp_derivation *d, const char *name, const char *value,
				     const struct vp_text_part *text, struct dif_clause **ret,
				     uint32_t *ret_count)
{
	const char *const args[] = { name, value };
	const struct vp_symtab *symtab = vp_guest_symtab(vp_probes_guest(d->probes));
	struct vp_text_part own;

	*ret = NULL;
	*ret_count = 0;
	if (!text->text)
		return NULL;
	if (!vp_inlined_places(symtab, &d->arena, text, &own))
		return ot_err_nomem();

	const struct dif_source src = {
		.kind = DIF_SOURCE_SCRIPT,
		.name = name,
		.text = own.text,
		.len = own.len,
		.args = args,
		.nargs = value ? 2 : 1,
	};
	uint32_t first = 0;

	OT_TRY(compile(d, &src, &first));
	uint32_t n = d->prog.nclauses - first;
	*ret = ot_arena_alloc(&d->arena, (n + 1) * sizeof(**ret));
	if (!*ret)
		return ot_err_nomem();
	if (n)
		memcpy(*ret, d->prog.clauses + first, n * sizeof(**ret));
	*ret_count = n;
	d->prog.nclauses = 0;
	return NULL;
}

/* --- types -------------------------------------------------------------------------------------- */

static struct dif_type *pointer_to(struct vp_derivation *d, struct dif_type *of)
{
	struct dif_type *t = ot_arena_new(&d->arena, struct dif_type);

	if (t)
		*t = (struct dif_type){ .kind = DIF_C_POINTER,
					.complete = true,
					.name = "",
					.module = "vmlinux",
					.size = 8,
					.ref = of };
	return t;
}

static struct dif_type *named(struct vp_types *types, const char *name)
{
	static const struct {
		const char *word;
		enum dif_ckind kind;
	} tags[] = { { "struct ", DIF_C_STRUCT }, { "union ", DIF_C_UNION }, { "enum ", DIF_C_ENUM } };

	for (size_t i = 0; i < OT_ARRAY_SIZE(tags); i++)
		if (!strncmp(name, tags[i].word, strlen(tags[i].word)))
			return vp_types_find(types, NULL, tags[i].kind, name + strlen(tags[i].word));
	return vp_types_find(types, NULL, DIF_C_TYPEDEF, name);
}

struct dif_type *vp_derivation_type(struct vp_derivation *d, const char *name)
{
	struct vp_types *types = vp_probes_types(d->probes);
	size_t len = strcspn(name, "*"), bare = len;

	while (bare && name[bare - 1] == ' ')
		bare--;
	const char *base = ot_arena_strndup(&d->arena, name, bare);
	struct dif_type *t = base && types ? named(types, base) : NULL;
	for (const char *p = name + len; t && *p; p++)
		if (*p == '*')
			t = pointer_to(d, t);
	return t;
}
