/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fault loops: the n-th allocation fails, n = 1, 2, … until all succeeds, in reading types, making the unwind
 * table, and publishing probes. Each failure is an error (never a crash), and nothing leaks: the sanitizer
 * checks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "btf_builder.h"
#include "tests/unit/nomem.h"
#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/btf_types.h"
#include "vmm-probe/guest/orc.h"
#include "vmm-probe/provider/provider.h"
#include "vmm-probe/provider/sites.h"

/* Run @p what with the first, the second … allocation failing until none was left to fail. */
static void loop(struct ot_err *(*what)(void))
{
	for (unsigned n = 1;; n++) {
		assert_true(n < 10000);
		nomem_at(n);
		struct ot_err *err = what();

		if (!nomem_end()) {
			assert_null(err);
			assert_true(n > 1); /* it did allocate */
			return;
		}
		assert_non_null(err);
		assert_int_equal(ot_err_code(err), OT_ERR_NO_MEMORY);
		ot_err_destroy(err);
	}
}

static struct ot_buf blob;

static void describe(void)
{
	struct btf_builder b;

	btf_builder_init(&b, NULL);
	uint32_t i = btf_add_int(&b, "int", 4, BTF_INT_SIGNED);
	btf_add(&b, "node", BTF_KIND_STRUCT, 2, 0, 16);
	btf_add_member(&b, "a", i, 0);
	btf_add_member(&b, "next", b.next_id, 64);
	btf_add(&b, "", BTF_KIND_PTR, 0, 0, b.next_id - 1);
	btf_add(&b, "mode", BTF_KIND_ENUM, 1, 0, 4);
	btf_add_words(&b, 2, btf_add_string(&b, "ON"), 1u);
	ot_buf_init(&blob);
	btf_finish(&b, &blob);
	btf_builder_deinit(&b);
}

static struct ot_err *use_types(struct vp_types *types, const struct vp_btf *btf)
{
	struct dif_type *node;

	OT_TRY(vp_types_add_kernel(types, btf));
	node = vp_types_find(types, NULL, DIF_C_STRUCT, "node");
	if (!node)
		return ot_err_nomem();
	if (!node->complete) {
		struct ot_err *err = node->source->complete(node->source, node);

		/* A type that could not be made has no better name than this. */
		if (err && ot_err_code(err) == OT_ERR_BAD_DATA) {
			ot_err_destroy(err);
			err = ot_err_nomem();
		}
		return err;
	}
	return NULL;
}

static struct ot_err *types(void)
{
	struct vp_btf *btf = NULL;
	struct vp_types *made = NULL;
	uint32_t id;
	int64_t value;
	struct ot_err *err = vp_btf_create(blob.data, blob.len, NULL, &btf);

	if (!err)
		err = vp_types_create(&made);
	if (!err)
		err = use_types(made, btf);
	if (!err && !vp_btf_enumerator(btf, "ON", &id, &value))
		err = ot_err_nomem();
	vp_types_destroy(made);
	vp_btf_destroy(btf);
	return err;
}

static void types_without_memory(void **state)
{
	(void)state;
	describe();
	loop(types);
	ot_buf_deinit(&blob);
}

static struct ot_err *table(void)
{
	static const int32_t ip[2] = { 0, 12 };
	static const uint8_t orc[12] = { 16, 0, 0, 0, 5, 0, 8, 0, 0, 0, 5, 0 };
	const struct vp_orc_raw raw = { (const uint8_t *)ip, sizeof(ip), vp_gva(0xffffffff82000000), orc,
					sizeof(orc) };
	struct vp_orc_layout layout;
	struct vp_orc_builder *b = NULL;
	struct ot_buf out;
	struct ot_err *err = vp_orc_layout(NULL, &raw, &layout);

	ot_buf_init(&out);
	if (!err)
		err = vp_orc_builder_create(&layout, &b);
	if (!err)
		err = vp_orc_builder_add(b, &raw, 0xffffffff82000000, 0xffffffff82001000);
	if (!err)
		err = vp_orc_builder_finish(b, &out);
	vp_orc_builder_destroy(b);
	ot_buf_deinit(&out);
	return err;
}

static void table_without_memory(void **state)
{
	(void)state;
	loop(table);
}

static struct ot_err *probes(void)
{
	struct vp_probes *made = NULL;
	struct dif_probedesc tick = { "", "profile", "", "", "tick-3s", 0 };
	struct dif_probedesc exact = { "", "", "", "main", "", 0 };
	uint64_t n;
	struct ot_err *err = vp_probes_create(NULL, &made);

	if (!err)
		err = vp_probes_match(made, &tick, false, NULL, NULL, &n);
	if (!err)
		err = vp_probes_match(made, &exact, false, NULL, NULL, &n);
	vp_probes_destroy(made);
	return err;
}

static void probes_without_memory(void **state)
{
	(void)state;
	loop(probes);
}

static struct ot_err *sites(void)
{
	static const uint8_t code[] = { 0x31, 0xc0, 0xc3, 0xff, 0xe0 };
	struct vp_exits exits = { 0 };
	struct ot_err *err = vp_exits_find(0x1000, code, sizeof(code), &exits);
	vp_exits_deinit(&exits);
	return err;
}

static void sites_without_memory(void **state)
{
	(void)state;
	loop(sites);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_without_memory),
		cmocka_unit_test(table_without_memory),
		cmocka_unit_test(probes_without_memory),
		cmocka_unit_test(sites_without_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
