/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sources of a guest's types and the search by name. btf_type_make.c constructs the types. */
#include "vmm-probe/guest/btf_types.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "vmm-probe/guest/btf_types_internal.h"
#include "vmm-probe/guest/guest.h"

/* C's base types: GCC's names of them in debugging information, and those in D, which Clang uses there too.
 */
static const struct {
	const char *btf, *d;
} base_names[] = {
	{ "short int", "short" },
	{ "short unsigned int", "unsigned short" },
	{ "long int", "long" },
	{ "long unsigned int", "unsigned long" },
	{ "long long int", "long long" },
	{ "long long unsigned int", "unsigned long long" },
	{ "__int128 unsigned", "unsigned __int128" },
};

const char *vp_types_d_name(const char *btf_name)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(base_names); i++)
		if (!strcmp(base_names[i].btf, btf_name))
			return base_names[i].d;
	return btf_name;
}

static const char *btf_name(const char *d_name)
{
	for (size_t i = 0; i < OT_ARRAY_SIZE(base_names); i++)
		if (!strcmp(base_names[i].d, d_name))
			return base_names[i].btf;
	return d_name;
}

/* NULL: out of memory. */
static struct vp_types *new_types(void)
{
	struct vp_types *types = calloc(1, sizeof(*types));

	if (!types)
		return NULL;
	ot_arena_init(&types->arena);
	types->void_type = (struct dif_type){
		.kind = DIF_C_VOID,
		.complete = true,
		.name = "void",
		.module = "vmlinux",
	};
	return types;
}

struct ot_err *vp_types_create(struct vp_types **ret)
{
	struct vp_types *types = new_types();

	if (!types)
		return ot_err_nomem();
	*ret = types;
	return NULL;
}

void vp_types_destroy(struct vp_types *types)
{
	if (!types)
		return;
	for (size_t i = 0; i < types->count; i++) {
		free(types->modules[i]->made);
		vp_btf_destroy(types->modules[i]->owned);
	}
	free(types->modules);
	ot_arena_deinit(&types->arena);
	free(types);
}

/* NULL: out of memory. */
static struct vp_type_module *add(struct vp_types *types, const char *name)
{
	struct vp_type_module *m = ot_arena_new(&types->arena, struct vp_type_module);

	if (!m || !ot_grow(&types->modules, &types->cap, types->count + 1, sizeof(*types->modules)))
		return NULL;
	m->name = ot_arena_strdup(&types->arena, name);
	if (!m->name)
		return NULL;
	m->types = types;
	m->source.complete = vp_type_complete;
	types->modules[types->count++] = m;
	return m;
}

struct ot_err *vp_types_add_kernel(struct vp_types *types, const struct vp_btf *btf)
{
	struct dif_type **made = calloc(vp_btf_end(btf), sizeof(*made));
	struct vp_type_module *m = made ? add(types, "vmlinux") : NULL;

	if (!m) {
		free(made);
		return ot_err_nomem();
	}
	m->btf = btf;
	m->made = made;
	m->tried = true;
	return NULL;
}

struct ot_err *vp_types_add_module(struct vp_types *types, const char *module,
				   struct ot_err *(*load)(void *arg, const char *module, uint8_t **ret,
							  size_t *ret_size),
				   void *arg)
{
	struct vp_type_module *m;

	if (!types->count)
		return ot_err_new(OT_ERR_INTERNAL, "a module's types need the kernel's first");
	m = add(types, module);
	if (!m)
		return ot_err_nomem();
	m->load = load;
	m->arg = arg;
	return NULL;
}

static struct ot_err *load(struct vp_type_module *m)
{
	uint8_t *data = NULL;
	size_t size = 0;
	struct ot_err *err = m->load(m->arg, m->name, &data, &size);

	if (!err && data)
		err = vp_btf_create(data, size, m->types->modules[0]->btf, &m->owned);
	free(data);
	vp_budget_give(size);
	OT_TRY(err);
	if (!m->owned)
		return NULL;
	size_t n = vp_btf_end(m->owned) - vp_btf_first(m->owned) + 1;
	OT_TRY(vp_budget_take(n * sizeof(*m->made)));
	m->made = calloc(n, sizeof(*m->made));
	if (!m->made)
		return ot_err_nomem();
	m->btf = m->owned;
	return NULL;
}

/* A module whose BTF is missing or invalid counts as one without types: the other modules stay usable. All of
 * them together have one budget. */
static const struct vp_btf *loaded(struct vp_type_module *m)
{
	struct vp_types *types = m->types;

	if (m->tried)
		return m->btf;
	m->tried = true;
	if (types->guest)
		vp_budget_resume(&types->budget);
	struct ot_err *err = load(m);
	if (types->guest)
		vp_budget_pause(&types->budget);
	if (err && types->guest && ot_err_code(err) == OT_ERR_LIMIT)
		err = vp_guest_note_missing(types->guest, m->name, err);
	ot_err_destroy(err);
	return m->btf;
}

static struct vp_type_module *find_module(struct vp_types *types, const char *name)
{
	for (size_t i = 0; i < types->count; i++)
		if (!strcmp(types->modules[i]->name, name))
			return types->modules[i];
	return NULL;
}

const struct vp_btf *vp_types_btf(struct vp_types *types, const char *module)
{
	struct vp_type_module *m = find_module(types, module);

	return m ? loaded(m) : NULL;
}

struct dif_type *vp_types_get(struct vp_types *types, const struct vp_btf *btf, uint32_t id)
{
	for (size_t i = 0; i < types->count; i++)
		if (types->modules[i]->btf == btf)
			return vp_type_make(types->modules[i], id);
	return NULL;
}

static uint32_t lookup_name(const struct vp_btf *btf, const char *name)
{
	uint32_t id = vp_btf_find(btf, VP_BTF_TYPE, btf_name(name));

	return id ? id : vp_btf_find(btf, VP_BTF_TYPE, name);
}

static uint32_t lookup(const struct vp_btf *btf, enum dif_ckind kind, const char *name)
{
	switch ((int)kind) {
	case DIF_C_STRUCT:
		return vp_btf_find(btf, VP_BTF_STRUCT, name);
	case DIF_C_UNION:
		return vp_btf_find(btf, VP_BTF_UNION, name);
	case DIF_C_ENUM:
		return vp_btf_find(btf, VP_BTF_ENUM, name);
	case DIF_C_TYPEDEF:
		return lookup_name(btf, name);
	default:
		return 0;
	}
}

struct dif_type *vp_types_find(struct vp_types *types, const char *module, enum dif_ckind kind,
			       const char *name)
{
	if (kind == DIF_C_TYPEDEF && !strcmp(name, "void"))
		return types->count ? &types->void_type : NULL;
	for (size_t i = 0; i < types->count; i++) {
		struct vp_type_module *m = types->modules[i];

		if (module && strcmp(module, m->name) != 0)
			continue;

		const struct vp_btf *btf = loaded(m);
		uint32_t id = btf ? lookup(btf, kind, name) : 0;

		if (id)
			return vp_type_make(m, id);
	}
	return NULL;
}

struct dif_type *vp_types_user_pointer(struct vp_types *types, struct dif_type *to)
{
	struct dif_type *type = ot_arena_new(&types->arena, struct dif_type);

	if (type)
		*type = (struct dif_type){
			.kind = DIF_C_POINTER,
			.complete = true,
			.is_userland = true,
			.name = "",
			.module = to->module,
			.size = sizeof(uint64_t),
			.ref = to,
		};
	return type;
}

bool vp_types_enumerator(struct vp_types *types, const char *name, struct dif_type **ret_type,
			 int64_t *ret_value)
{
	for (size_t i = 0; i < types->count; i++) {
		struct vp_type_module *m = types->modules[i];
		const struct vp_btf *btf = loaded(m);
		uint32_t id;

		/* The index of enumerators is a cache; the BTF is otherwise immutable. */
		if (!btf || !vp_btf_enumerator((struct vp_btf *)btf, name, &id, ret_value))
			continue;
		*ret_type = vp_type_make(m, id);
		return *ret_type != NULL;
	}
	return false;
}

struct dif_type *vp_types_symbol(struct vp_types *types, const char *module, const char *name,
				 bool is_function)
{
	struct vp_type_module *m = find_module(types, module ? module : "vmlinux");
	const struct vp_btf *btf = m ? loaded(m) : NULL;
	uint32_t id = btf ? vp_btf_find(btf, is_function ? VP_BTF_FUNC : VP_BTF_VAR, name) : 0;

	/* vp_btf_find() searches the base too: a kernel function of the same name is not the module's. */
	return id && id >= vp_btf_first(btf) ? vp_type_make(m, id) : NULL;
}

static struct ot_err *load_from_guest(void *arg, const char *module, uint8_t **ret, size_t *ret_size)
{
	struct vp_guest *guest = arg;
	const struct vp_modules *modules = vp_guest_modules(guest);

	for (size_t i = 0; modules && i < modules->count; i++)
		if (modules->list[i].formed && !strcmp(modules->list[i].name, module))
			return vp_guest_module_btf(guest, &modules->list[i], ret, ret_size);
	return NULL;
}

struct ot_err *vp_types_add_of_guest(struct vp_types *types, struct vp_guest *guest,
				     const struct vp_module *module)
{
	if (!types->count || find_module(types, module->name))
		return NULL;
	return vp_types_add_module(types, module->name, load_from_guest, guest);
}

static struct ot_err *add_guest(struct vp_types *types, struct vp_guest *guest)
{
	const struct vp_btf *btf = vp_guest_btf(guest);
	const struct vp_modules *modules = vp_guest_modules(guest);

	if (!btf)
		return NULL;
	OT_TRY(vp_types_add_kernel(types, btf));
	types->guest = guest;
	vp_guest_budget_begin(guest, &types->budget, &vp_readings[VP_READ_MODULE_TYPES]);
	vp_budget_pause(&types->budget);
	for (size_t i = 0; modules && i < modules->count; i++)
		if (modules->list[i].formed)
			OT_TRY(vp_types_add_of_guest(types, guest, &modules->list[i]));
	return NULL;
}

struct ot_err *vp_types_of_guest(struct vp_guest *guest, struct vp_types **ret)
{
	struct vp_types *types = new_types();
	struct ot_err *err = types ? add_guest(types, guest) : ot_err_nomem();

	if (err) {
		vp_types_destroy(types);
		return err;
	}
	*ret = types;
	return NULL;
}
