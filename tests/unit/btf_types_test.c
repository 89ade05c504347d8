/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/guest/btf_type*: a guest's C types as D's, of the kernel and of modules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "btf_builder.h"
#include "vmm-probe/guest/btf_types.h"

struct fixture {
	struct btf_builder kernel, module;
	struct vp_btf *btf;
	struct vp_types *types;
	struct ot_buf blob; /* the module's */
	unsigned loads;
};

static void assert_ok(struct ot_err *err)
{
	if (err)
		fail_msg("%s", ot_err_message(err));
}

/*
 * typedef unsigned long ulong_t; struct node { struct node *next; const volatile ulong_t v; int a : 3;
 * char name[8]; union { int x; _Bool y; }; int (*fn)(struct node *, ...); struct later *l; };
 */
static void describe_kernel(struct btf_builder *b)
{
	btf_builder_init(b, NULL);
	uint32_t i = btf_add_int(b, "int", 4, BTF_INT_SIGNED);
	uint32_t ul = btf_add_int(b, "long unsigned int", 8, 0);
	uint32_t c = btf_add_int(b, "char", 1, BTF_INT_SIGNED);
	uint32_t flag = btf_add_int(b, "_Bool", 1, BTF_INT_BOOL);
	uint32_t td = btf_add(b, "ulong_t", BTF_KIND_TYPEDEF, 0, 0, ul);
	uint32_t vol = btf_add(b, "", BTF_KIND_VOLATILE, 0, 0, td);
	uint32_t con = btf_add(b, "", BTF_KIND_CONST, 0, 0, vol);
	uint32_t arr = btf_add_array(b, c, 8);
	uint32_t anon = btf_add(b, "", BTF_KIND_UNION, 2, 0, 4);
	btf_add_member(b, "x", i, 0);
	btf_add_member(b, "y", flag, 0);
	uint32_t fwd = btf_add(b, "later", BTF_KIND_FWD, 0, 0, 0);
	uint32_t pfwd = btf_add(b, "", BTF_KIND_PTR, 0, 0, fwd);
	uint32_t node = b->next_id + 3;
	uint32_t pnode = btf_add(b, "", BTF_KIND_PTR, 0, 0, node);
	uint32_t proto = btf_add(b, "", BTF_KIND_FUNC_PROTO, 2, 0, i);
	btf_add_words(b, 4, btf_add_string(b, "n"), pnode, 0u, 0u);
	uint32_t pfn = btf_add(b, "", BTF_KIND_PTR, 0, 0, proto);
	btf_add(b, "node", BTF_KIND_STRUCT, 7, 1, 56);
	btf_add_member(b, "next", pnode, 0);
	btf_add_member(b, "v", con, 64);
	btf_add_member(b, "a", i, 3u << 24 | 128);
	btf_add_member(b, "name", arr, 160);
	btf_add_member(b, "", anon, 224);
	btf_add_member(b, "fn", pfn, 256);
	btf_add_member(b, "l", pfwd, 320);
	btf_add(b, "walk", BTF_KIND_FUNC, 0, 0, proto);
	uint32_t tag = btf_add(b, "user", BTF_KIND_TYPE_TAG, 0, 0, c);
	uint32_t puser = btf_add(b, "", BTF_KIND_PTR, 0, 0, tag);
	btf_add(b, "userstr_t", BTF_KIND_TYPEDEF, 0, 0, puser);
	btf_add(b, "later", BTF_KIND_STRUCT, 1, 0, 4);
	btf_add_member(b, "z", i, 0);
	btf_add(b, "mode", BTF_KIND_ENUM, 2, 1, 4);
	btf_add_words(b, 4, btf_add_string(b, "ON"), 1u, btf_add_string(b, "OFF"), (uint32_t)-2);
	uint32_t var = btf_add(b, "cpu_number", BTF_KIND_VAR, 0, 0, i);
	btf_add_words(b, 1, 1u);
	btf_add(b, ".data..percpu", BTF_KIND_DATASEC, 1, 0, 4);
	btf_add_words(b, 3, var, 0u, 4u);
	uint32_t loop = b->next_id;
	btf_add(b, "loop", BTF_KIND_TYPE_TAG, 0, 0, loop);
	btf_add(b, "loop_t", BTF_KIND_TYPEDEF, 0, 0, loop);
}

static void describe_module(struct btf_builder *b, const struct btf_builder *kernel)
{
	btf_builder_init(b, kernel);
	btf_add(b, "ext_thing", BTF_KIND_STRUCT, 1, 0, 8);
	btf_add_member(b, "n", 1, 0);
	uint32_t proto = btf_add(b, "", BTF_KIND_FUNC_PROTO, 0, 0, b->next_id - 1);
	btf_add(b, "ext_walk", BTF_KIND_FUNC, 0, 0, proto);
	btf_add(b, "em", BTF_KIND_ENUM, 1, 0, 4);
	btf_add_words(b, 2, btf_add_string(b, "EXT_ONE"), 41u);
}

static struct ot_err *load(void *arg, const char *module, uint8_t **ret, size_t *ret_size)
{
	struct fixture *f = arg;

	f->loads++;
	if (strcmp(module, "ext") != 0)
		return ot_err_new(OT_ERR_FAULT, "unmapped");
	*ret = malloc(f->blob.len);
	assert_non_null(*ret);
	memcpy(*ret, f->blob.data, f->blob.len);
	*ret_size = f->blob.len;
	return NULL;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct ot_buf blob;

	describe_kernel(&f->kernel);
	describe_module(&f->module, &f->kernel);
	ot_buf_init(&blob);
	btf_finish(&f->kernel, &blob);
	assert_ok(vp_btf_create(blob.data, blob.len, NULL, &f->btf));
	ot_buf_deinit(&blob);
	ot_buf_init(&f->blob);
	btf_finish(&f->module, &f->blob);
	assert_ok(vp_types_create(&f->types));
	assert_ok(vp_types_add_kernel(f->types, f->btf));
	assert_ok(vp_types_add_module(f->types, "broken", load, f));
	assert_ok(vp_types_add_module(f->types, "ext", load, f));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	vp_types_destroy(f->types);
	vp_btf_destroy(f->btf);
	ot_buf_deinit(&f->blob);
	btf_builder_deinit(&f->kernel);
	btf_builder_deinit(&f->module);
	free(f);
	return 0;
}

static struct dif_type *complete(struct dif_type *type)
{
	assert_non_null(type);
	if (!type->complete)
		assert_ok(type->source->complete(type->source, type));
	assert_true(type->complete);
	return type;
}

static void base_types_have_d_names(void **state)
{
	struct fixture *f = *state;
	struct dif_type *t = vp_types_find(f->types, NULL, DIF_C_TYPEDEF, "unsigned long");

	assert_non_null(t);
	assert_int_equal(t->kind, DIF_C_INT);
	assert_string_equal(t->name, "unsigned long");
	assert_int_equal(t->size, 8);
	assert_false(t->is_signed);
	t = vp_types_find(f->types, "vmlinux", DIF_C_TYPEDEF, "char");
	assert_true(t->is_char && t->is_signed);
	t = vp_types_find(f->types, NULL, DIF_C_TYPEDEF, "_Bool");
	assert_true(t->is_bool && !t->is_char);
	t = vp_types_find(f->types, NULL, DIF_C_TYPEDEF, "void");
	assert_int_equal(t->kind, DIF_C_VOID);
	assert_null(vp_types_find(f->types, NULL, DIF_C_TYPEDEF, "no_such_t"));
	assert_null(vp_types_find(f->types, NULL, DIF_C_UNION, "node"));
}

static void structs_are_completed_when_asked(void **state)
{
	struct fixture *f = *state;
	struct dif_type *node = vp_types_find(f->types, NULL, DIF_C_STRUCT, "node");

	assert_non_null(node);
	assert_false(node->complete);
	assert_int_equal(node->size, 56);
	complete(node);
	assert_int_equal(node->nmembers, 7);
	struct dif_member *m = node->members;

	assert_string_equal(m[0].name, "next");
	assert_ptr_equal(complete(m[0].type)->ref, node); /* the same type, not another like it */
	assert_int_equal(m[1].type->kind, DIF_C_CONST);
	assert_int_equal(complete(m[1].type)->ref->kind, DIF_C_VOLATILE);
	assert_int_equal(complete(complete(m[1].type)->ref)->ref->kind, DIF_C_TYPEDEF);
	assert_int_equal(m[1].type->size, 8);
	assert_int_equal(m[2].bit_offset, 128);
	assert_int_equal(m[2].bit_size, 3);
	assert_int_equal(m[3].type->nelems, 8);
	assert_int_equal(m[3].type->size, 8);
	assert_true(complete(m[3].type)->ref->is_char);
	assert_string_equal(m[4].name, "");
	assert_int_equal(complete(m[4].type)->nmembers, 2);
	struct dif_type *fn = complete(complete(m[5].type)->ref);

	assert_int_equal(fn->kind, DIF_C_FUNCTION);
	assert_int_equal(fn->nparams, 1);
	assert_true(fn->is_variadic);
	assert_string_equal(fn->params[0].name, "n");
	/* A forward declaration leads to the definition. */
	assert_int_equal(complete(m[6].type)->ref->kind, DIF_C_STRUCT);
	assert_int_equal(complete(m[6].type)->ref->size, 4);
}

static void tags_are_skipped_and_remembered(void **state)
{
	struct fixture *f = *state;
	struct dif_type *t = complete(vp_types_find(f->types, NULL, DIF_C_TYPEDEF, "userstr_t"));

	assert_true(t->ref->is_userland);
	assert_true(complete(t->ref)->ref->is_char);
	t = vp_types_find(f->types, NULL, DIF_C_TYPEDEF, "loop_t");
	assert_non_null(t);
	struct ot_err *err = t->source->complete(t->source, t);

	assert_non_null(err);
	assert_int_equal(ot_err_code(err), OT_ERR_BAD_DATA);
	ot_err_destroy(err);
}

static void enumerators_and_symbols_are_found(void **state)
{
	struct fixture *f = *state;
	struct dif_type *t;
	int64_t value;

	assert_true(vp_types_enumerator(f->types, "OFF", &t, &value));
	assert_int_equal(value, -2);
	assert_true(t->is_signed);
	assert_int_equal(complete(t)->nenumerators, 2);
	assert_string_equal(t->enumerators[0].name, "ON");
	assert_int_equal(f->loads, 0); /* no module was needed */
	t = vp_types_symbol(f->types, NULL, "walk", true);
	assert_int_equal(t->kind, DIF_C_FUNCTION);
	t = vp_types_symbol(f->types, "vmlinux", "cpu_number", false);
	assert_int_equal(t->kind, DIF_C_INT);
	assert_null(vp_types_symbol(f->types, "vmlinux", "cpu_number", true));
	assert_null(vp_types_symbol(f->types, "nothing", "walk", true));
}

static void modules_are_loaded_when_asked(void **state)
{
	struct fixture *f = *state;
	struct dif_type *t = vp_types_find(f->types, "ext", DIF_C_STRUCT, "ext_thing");
	int64_t value;

	assert_non_null(t);
	assert_int_equal(f->loads, 1);
	assert_string_equal(t->module, "ext");
	/* The kernel's types are the kernel's, whoever asks. */
	assert_ptr_equal(complete(t)->members[0].type, vp_types_find(f->types, NULL, DIF_C_TYPEDEF, "int"));
	assert_non_null(vp_types_symbol(f->types, "ext", "ext_walk", true));
	assert_null(vp_types_symbol(f->types, "ext", "walk", true));       /* that is the kernel's */
	assert_true(vp_types_enumerator(f->types, "EXT_ONE", &t, &value)); /* past the broken one */
	assert_int_equal(value, 41);
	assert_null(vp_types_find(f->types, "broken", DIF_C_STRUCT, "node"));
	assert_int_equal(f->loads, 2); /* each once */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(base_types_have_d_names, setup, teardown),
		cmocka_unit_test_setup_teardown(structs_are_completed_when_asked, setup, teardown),
		cmocka_unit_test_setup_teardown(tags_are_skipped_and_remembered, setup, teardown),
		cmocka_unit_test_setup_teardown(enumerators_and_symbols_are_found, setup, teardown),
		cmocka_unit_test_setup_teardown(modules_are_loaded_when_asked, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
