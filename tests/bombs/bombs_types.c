/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Bombs in types: names, nesting, enumerators, and modules that all have the same large types. */
#include <stdlib.h>
#include <string.h>

#include "bombs.h"
#include "tests/unit/btf_builder.h"
#include "vmm-probe/guest/btf_types.h"
#include "vmm-probe/guest/census.h"
#include "vmm-probe/guest/facts.h"

/* A blob of @p types, with 1 MiB of strings: any place in it is a name of up to 511 bytes. */
#define STRINGS (1u << 20)

static void make_blob(struct ot_buf *out, const struct ot_buf *types)
{
	struct vp_btf_header h = {
		.magic = 0xeb9f,
		.version = 1,
		.hdr_len = sizeof(h),
		.type_len = (uint32_t)types->len,
		.str_off = (uint32_t)types->len,
		.str_len = STRINGS,
	};
	char *strings = calloc(1, STRINGS);

	if (!strings)
		bomb_ok(ot_err_nomem());
	for (size_t i = 1; i < STRINGS - 1; i++)
		if (i % 511)
			strings[i] = (char)('a' + (i * 2654435761u >> 7) % 26);
	ot_buf_init(out);
	ot_buf_append(out, &h, sizeof(h));
	ot_buf_append(out, types->data, types->len);
	ot_buf_append(out, strings, STRINGS);
	free(strings);
}

static void put(struct ot_buf *types, uint32_t name, unsigned kind, unsigned vlen, uint32_t size_or_type)
{
	const uint32_t words[3] = { name, kind << 24 | vlen, size_or_type };

	ot_buf_append(types, words, sizeof(words));
}

static struct ot_buf *blob_of(void (*fill)(struct ot_buf *types))
{
	struct ot_buf types, *blob = malloc(sizeof(*blob));

	if (!blob)
		bomb_ok(ot_err_nomem());
	ot_buf_init(&types);
	fill(&types);
	make_blob(blob, &types);
	ot_buf_deinit(&types);
	return blob;
}

/* --- a million names --------------------------------------------------------------------------------- */

static void fill_names(struct ot_buf *types)
{
	for (uint32_t i = 0; i < 1000000; i++)
		put(types, 1 + i, BTF_KIND_FLOAT, 0, 4);
}

static void *make_names(void)
{
	return blob_of(fill_names);
}

static struct ot_err *read_types(void *made)
{
	const struct ot_buf *blob = made;
	struct vp_btf *btf = NULL;
	struct vp_budget budget;
	uint32_t type;
	int64_t value;

	vp_budget_begin(&budget, &vp_readings[VP_READ_TYPES], false);
	struct ot_err *err = vp_btf_create(blob->data, blob->len, NULL, &btf);
	vp_budget_end(&budget);
	if (!err)
		(void)vp_btf_enumerator(btf, "none", &type, &value);
	vp_btf_destroy(btf);
	return err;
}

static void fill_enumerators(struct ot_buf *types)
{
	for (uint32_t i = 0; i < 100; i++) {
		put(types, 0, BTF_KIND_ENUM, 10000, 4);
		for (uint32_t k = 0; k < 10000; k++) {
			const uint32_t words[2] = { 1 + i * 10000 + k, k };

			ot_buf_append(types, words, sizeof(words));
		}
	}
}

static void *make_enumerators(void)
{
	return blob_of(fill_enumerators);
}

static void fill_many(struct ot_buf *types)
{
	for (uint32_t i = 0; i < 4000000; i++)
		put(types, 0, BTF_KIND_PTR, 0, 0);
}

static void *make_many(void)
{
	return blob_of(fill_many);
}

/* --- structs in structs --------------------------------------------------------------------------------- */

/* Each type that is asked for has 64 members without a name that are the type itself, so that a search for a
 * member that it lacks visits it as often as it may. */
static void *make_nested(void)
{
	static const char *const names[] = { "module", "task_struct", "pt_regs", "cred",
					     "rq",     "pid",         "xa_node" };
	struct bomb_guest *b = bomb_guest_make(2, NULL);
	struct btf_builder types;
	struct ot_buf blob;

	btf_builder_init(&types, NULL);
	for (size_t i = 0; i < OT_ARRAY_SIZE(names); i++) {
		uint32_t id = btf_add(&types, names[i], BTF_KIND_STRUCT, 64, 0, 1u << 20);

		for (unsigned k = 0; k < 64; k++)
			btf_add_member(&types, "", id, k * 64);
	}
	ot_buf_init(&blob);
	btf_finish(&types, &blob);
	bomb_guest_types(b, blob.data, blob.len);
	return b;
}

static struct ot_err *read_nested(void *made)
{
	struct bomb_guest *b = made;
	struct vp_facts facts = { 0 };
	struct vp_census census = { 0 };

	ot_err_destroy(vp_facts_read(b->guest, NULL, 0, &facts));
	ot_err_destroy(vp_module_layout_from_btf(b->guest->btf, &b->guest->layout));
	ot_err_destroy(vp_census_modules(b->guest, &census));
	return vp_census_tasks(b->guest, &census);
}

/* A typedef of a typedef, a million deep, and arrays of arrays at its end. */
static void fill_chain(struct ot_buf *types)
{
	for (uint32_t i = 1; i < 1000000; i++)
		put(types, i == 1 ? 1 : 0, BTF_KIND_TYPEDEF, 0, i + 1);
	for (uint32_t id = 1000000; id < 1200000; id++) {
		const uint32_t array[3] = { id + 1, id + 1, UINT32_MAX };

		put(types, 0, BTF_KIND_ARRAY, 0, 0);
		ot_buf_append(types, array, sizeof(array));
	}
	put(types, 0, BTF_KIND_FLOAT, 0, 4);
}

static void *make_chain(void)
{
	return blob_of(fill_chain);
}

static struct ot_err *read_chain(void *made)
{
	const struct ot_buf *blob = made;
	struct vp_btf *btf = NULL;
	struct vp_budget budget;
	uint64_t size;

	vp_budget_begin(&budget, &vp_readings[VP_READ_TYPES], false);
	struct ot_err *err = vp_btf_create(blob->data, blob->len, NULL, &btf);
	for (uint32_t id = 1; !err && id < vp_btf_end(btf); id += 7)
		(void)vp_btf_size(btf, id, &size);
	vp_budget_end(&budget);
	vp_btf_destroy(btf);
	return err;
}

/* --- modules' types ------------------------------------------------------------------------------------- */

#define MODULES    (BOMB_BASE + 0x100000)
#define BLOB       (BOMB_BASE + (4u << 20))
#define NMODULES   4000u
#define MODULE_GAP 0x100u

static void fill_floats(struct ot_buf *types)
{
	for (uint32_t i = 0; i < 1500000; i++)
		put(types, 0, BTF_KIND_FLOAT, 0, 4);
}

static void fill_one(struct ot_buf *types)
{
	put(types, 0, BTF_KIND_FLOAT, 0, 4);
}

static void *make_module_types(void)
{
	struct bomb_guest *b = bomb_guest_make(32, NULL);
	struct ot_buf *core = blob_of(fill_one), *blob = blob_of(fill_floats);

	bomb_guest_types(b, core->data, core->len);
	memcpy(bomb_at(b, BLOB), blob->data, blob->len);
	bomb_modules(b, BOMB_BASE, MODULES, NMODULES, MODULE_GAP, BOMB_BASE);
	for (unsigned i = 0; i < NMODULES; i++) {
		bomb_put64(b, MODULES + i * MODULE_GAP + 0x70, BLOB);
		bomb_put32(b, MODULES + i * MODULE_GAP + 0x78, (uint32_t)blob->len);
	}
	bomb_ok(vp_guest_walk_modules(b->guest, vp_gva(BOMB_BASE), &b->guest->modules));
	return b;
}

/* The operator names a type that there is not, so it is looked for in all modules. */
static struct ot_err *read_module_types(void *made)
{
	struct bomb_guest *b = made;
	struct vp_types *types;

	OT_TRY(vp_types_of_guest(b->guest, &types));
	(void)vp_types_find(types, NULL, DIF_C_STRUCT, "none");
	vp_types_destroy(types);
	return *vp_guest_note(b->guest)
		   ? ot_err_new(OT_ERR_LIMIT, "%.*s", (int)strcspn(vp_guest_note(b->guest), "\n"),
				vp_guest_note(b->guest))
		   : NULL;
}

const struct bomb bombs_types[] = {
	{ "btf-names", "a million types, their names of up to 511 bytes in one text", NULL, make_names,
	  read_types },
	{ "btf-enumerators", "a million enumerators with such names", NULL, make_enumerators, read_types },
	{ "btf-many", "four million types", "reading the types takes more than its", make_many, read_types },
	{ "btf-nested", "structs that contain themselves 64 times, asked for members that they lack", "",
	  make_nested, read_nested },
	{ "btf-chain", "a typedef of a typedef, a million deep; arrays of arrays", NULL, make_chain,
	  read_chain },
	{ "module-types", "4,000 modules, each with 18 MiB of types",
	  "reading the modules' types takes more than its", make_module_types, read_module_types },
	{ NULL, NULL, NULL, NULL, NULL },
};
