/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/guest/orc*: both layouts of entries, recognised by types and by values, and the table built from
 * them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "btf_builder.h"
#include "vmm-probe/guest/btf.h"
#include "vmm-probe/guest/orc.h"

#define BASE 0xffffffff81000000ull
#define IPS  0xffffffff82000000ull

static void assert_ok(struct ot_err *err)
{
	if (err)
		fail_msg("%s", ot_err_message(err));
}

enum { UNDEF, PREV_SP, DX, DI, BP, SP, R10, R13, BP_IND, SP_IND };

/* The registers' numbers of kernels before 7. */
#define OLD_NUMBERS                                    \
	.sp_bases = { [DX] = VP_ORC_DX,                \
		      [DI] = VP_ORC_DI,                \
		      [BP] = VP_ORC_BP,                \
		      [SP] = VP_ORC_SP,                \
		      [R10] = VP_ORC_R10,              \
		      [R13] = VP_ORC_R13,              \
		      [BP_IND] = VP_ORC_BP_INDIRECT,   \
		      [SP_IND] = VP_ORC_SP_INDIRECT }, \
	.bp_bases = { [PREV_SP] = VP_ORC_SP, [BP] = VP_ORC_BP }

/* The two layouts, as the kernel's headers have them. */
static const struct vp_orc_layout old_form = {
	.bp_reg_shift = 4,
	.type_shift = 8,
	.type_bits = 2,
	.end_shift = 10,
	.type_call = 0,
	.type_regs = 1,
	.type_partial = 2,
	.type_end = 0xff,
	OLD_NUMBERS,
};
static const struct vp_orc_layout new_form = {
	.bp_reg_shift = 4,
	.type_shift = 8,
	.type_bits = 3,
	.end_shift = 0xff,
	.type_call = 2,
	.type_regs = 3,
	.type_partial = 4,
	.type_end = 1,
	OLD_NUMBERS,
};

struct raw {
	struct ot_buf ip, orc;
};

static void raw_init(struct raw *r)
{
	ot_buf_init(&r->ip);
	ot_buf_init(&r->orc);
}

static void raw_deinit(struct raw *r)
{
	ot_buf_deinit(&r->ip);
	ot_buf_deinit(&r->orc);
}

static void add(struct raw *r, uint64_t addr, int16_t sp_off, int16_t bp_off, unsigned flags)
{
	int32_t rel = (int32_t)(addr - (IPS + r->ip.len));
	uint16_t f = (uint16_t)flags;

	ot_buf_append(&r->ip, &rel, 4);
	ot_buf_append(&r->orc, &sp_off, 2);
	ot_buf_append(&r->orc, &bp_off, 2);
	ot_buf_append(&r->orc, &f, 2);
}

static struct vp_orc_raw view(const struct raw *r)
{
	return (struct vp_orc_raw){
		.ip = (const uint8_t *)r->ip.data,
		.ip_size = r->ip.len,
		.ip_addr = vp_gva(IPS),
		.orc = (const uint8_t *)r->orc.data,
		.orc_size = r->orc.len,
	};
}

struct table {
	struct ot_buf out;
	uint32_t n;
	const uint64_t *addrs;
	const struct vp_orc_rule *rules;
};

static void read_table(struct table *t)
{
	const struct vp_orc_header *h = (const void *)t->out.data;

	assert_true(t->out.len >= sizeof(*h));
	assert_int_equal(h->magic, VP_ORC_MAGIC);
	t->n = h->nentries;
	assert_int_equal(t->out.len, sizeof(*h) + t->n * (8 + sizeof(struct vp_orc_rule)));
	t->addrs = (const void *)(h + 1);
	t->rules = (const void *)(t->addrs + t->n);
	for (uint32_t i = 1; i < t->n; i++)
		assert_true(t->addrs[i - 1] < t->addrs[i]);
}

static void build(const struct vp_orc_layout *layout, const struct raw *r, struct table *ret)
{
	struct vp_orc_builder *b;
	struct vp_orc_raw raw = view(r);

	assert_ok(vp_orc_builder_create(layout, &b));
	assert_ok(vp_orc_builder_add(b, &raw, BASE, BASE + 0x1000));
	ot_buf_init(&ret->out);
	assert_ok(vp_orc_builder_finish(b, &ret->out));
	vp_orc_builder_destroy(b);
	read_table(ret);
}

static const struct vp_orc_rule *rule_at(const struct table *t, uint64_t addr)
{
	const struct vp_orc_rule *r = NULL;

	for (uint32_t i = 0; i < t->n && t->addrs[i] <= addr; i++)
		r = &t->rules[i];
	return r;
}

static void assert_rule(const struct table *t, uint64_t addr, enum vp_orc_base sp, int sp_off,
			enum vp_orc_base bp, int bp_off, enum vp_orc_type type)
{
	const struct vp_orc_rule *r = rule_at(t, addr);

	assert_non_null(r);
	assert_int_equal(r->sp_base, sp);
	assert_int_equal(r->sp_offset, sp_off);
	assert_int_equal(r->bp_base, bp);
	assert_int_equal(r->bp_offset, bp_off);
	assert_int_equal(r->type, type);
}

static void old_entries_become_rules(void **state)
{
	struct raw r;
	struct table t;

	(void)state;
	raw_init(&r);
	add(&r, BASE + 0x00, 8, 0, SP);
	add(&r, BASE + 0x10, 16, -16, SP | PREV_SP << 4);
	add(&r, BASE + 0x20, 16, -16, BP | PREV_SP << 4);
	add(&r, BASE + 0x30, 0, 0, SP | 1 << 8);     /* regs */
	add(&r, BASE + 0x40, 0, 0, SP | 2 << 8);     /* iret frame */
	add(&r, BASE + 0x50, 0, 0, UNDEF | 1 << 10); /* end */
	add(&r, BASE + 0x60, 0, 0, UNDEF);
	add(&r, BASE + 0x70, 8, 0, SP_IND);
	add(&r, BASE + 0x80, -24, -32, BP_IND | BP << 4);
	add(&r, BASE + 0x90, 0, 0, R10);
	add(&r, BASE + 0xa0, 0, 0, SP | 3 << 8); /* a type that does not exist */
	add(&r, BASE + 0xb0, 0, 0, 15);          /* a register that does not exist */
	build(&old_form, &r, &t);
	assert_rule(&t, BASE + 0x0f, VP_ORC_SP, 8, VP_ORC_UNDEFINED, 0, VP_ORC_CALL);
	assert_rule(&t, BASE + 0x10, VP_ORC_SP, 16, VP_ORC_SP, -16, VP_ORC_CALL);
	assert_rule(&t, BASE + 0x20, VP_ORC_BP, 16, VP_ORC_SP, -16, VP_ORC_CALL);
	assert_rule(&t, BASE + 0x30, VP_ORC_SP, 0, VP_ORC_UNDEFINED, 0, VP_ORC_REGS);
	assert_rule(&t, BASE + 0x40, VP_ORC_SP, 0, VP_ORC_UNDEFINED, 0, VP_ORC_REGS_PARTIAL);
	assert_rule(&t, BASE + 0x50, VP_ORC_END, 0, VP_ORC_UNDEFINED, 0, VP_ORC_CALL);
	assert_rule(&t, BASE + 0x60, VP_ORC_UNDEFINED, 0, VP_ORC_UNDEFINED, 0, VP_ORC_CALL);
	assert_rule(&t, BASE + 0x70, VP_ORC_SP_INDIRECT, 8, VP_ORC_UNDEFINED, 0, VP_ORC_CALL);
	assert_rule(&t, BASE + 0x80, VP_ORC_BP_INDIRECT, -24, VP_ORC_BP, -32, VP_ORC_CALL);
	assert_rule(&t, BASE + 0x90, VP_ORC_R10, 0, VP_ORC_UNDEFINED, 0, VP_ORC_CALL);
	assert_int_equal(rule_at(&t, BASE + 0xa0)->sp_base, VP_ORC_UNDEFINED);
	assert_int_equal(rule_at(&t, BASE + 0xb0)->sp_base, VP_ORC_UNDEFINED);
	assert_null(rule_at(&t, BASE - 1));
	ot_buf_deinit(&t.out);
	raw_deinit(&r);
}

static void new_entries_become_rules(void **state)
{
	struct raw r;
	struct table t;

	(void)state;
	raw_init(&r);
	add(&r, BASE + 0x00, 8, 0, SP | 2 << 8);
	add(&r, BASE + 0x10, 0, 0, SP | 3 << 8 | 1 << 11); /* regs, signal */
	add(&r, BASE + 0x20, 0, 0, SP | 4 << 8);
	add(&r, BASE + 0x30, 0, 0, 1 << 8);      /* end */
	add(&r, BASE + 0x40, 8, 0, SP | 0 << 8); /* undefined, whatever the register says */
	add(&r, BASE + 0x50, 0, 0, DI | 2 << 8);
	add(&r, BASE + 0x60, 0, 0, DX | 2 << 8);
	add(&r, BASE + 0x70, 0, 0, R13 | 2 << 8);
	build(&new_form, &r, &t);
	assert_rule(&t, BASE, VP_ORC_SP, 8, VP_ORC_UNDEFINED, 0, VP_ORC_CALL);
	assert_rule(&t, BASE + 0x10, VP_ORC_SP, 0, VP_ORC_UNDEFINED, 0, VP_ORC_REGS);
	assert_rule(&t, BASE + 0x20, VP_ORC_SP, 0, VP_ORC_UNDEFINED, 0, VP_ORC_REGS_PARTIAL);
	assert_rule(&t, BASE + 0x30, VP_ORC_END, 0, VP_ORC_UNDEFINED, 0, VP_ORC_CALL);
	assert_int_equal(rule_at(&t, BASE + 0x40)->sp_base, VP_ORC_UNDEFINED);
	assert_int_equal(rule_at(&t, BASE + 0x50)->sp_base, VP_ORC_DI);
	assert_int_equal(rule_at(&t, BASE + 0x60)->sp_base, VP_ORC_DX);
	assert_int_equal(rule_at(&t, BASE + 0x70)->sp_base, VP_ORC_R13);
	assert_int_equal(rule_at(&t, BASE + 0xfff)->sp_base, VP_ORC_R13);
	assert_int_equal(rule_at(&t, BASE + 0x1000)->sp_base, VP_ORC_UNDEFINED); /* where the range ends */
	ot_buf_deinit(&t.out);
	raw_deinit(&r);
}

static void tables_are_sorted_thinned_and_bounded(void **state)
{
	struct raw r;
	struct table t;

	(void)state;
	raw_init(&r);
	add(&r, BASE + 0x40, 24, 0, SP);
	add(&r, BASE + 0x20, 16, 0, SP);
	add(&r, BASE + 0x30, 16, 0, SP);   /* the same rule continues: no entry */
	add(&r, BASE + 0x20, 0, 0, UNDEF); /* a dropped weak function's */
	add(&r, BASE - 0x10, 8, 0, SP);    /* outside */
	add(&r, BASE + 0x1000, 8, 0, SP);  /* outside */
	build(&old_form, &r, &t);
	assert_int_equal(t.n, 3);
	assert_true(t.addrs[0] == BASE + 0x20 && t.addrs[1] == BASE + 0x40 && t.addrs[2] == BASE + 0x1000);
	assert_int_equal(t.rules[0].sp_offset, 16);
	assert_int_equal(t.rules[1].sp_offset, 24);
	ot_buf_deinit(&t.out);
	raw_deinit(&r);
}

static void ranges_come_in_any_order_and_never_overlap(void **state)
{
	struct raw r;
	struct table t = { 0 };
	struct vp_orc_builder *b;

	(void)state;
	raw_init(&r);
	add(&r, BASE + 0x10, 8, 0, SP);
	add(&r, BASE + 0x2010, 16, 0, SP);
	struct vp_orc_raw raw = view(&r);

	assert_ok(vp_orc_builder_create(&old_form, &b));
	assert_ok(vp_orc_builder_add(b, &raw, BASE + 0x2000, BASE + 0x3000));
	assert_ok(vp_orc_builder_add(b, &raw, BASE, BASE + 0x1000));
	assert_ok(vp_orc_builder_add(b, &raw, BASE, BASE + 0x2800));          /* ignored */
	assert_ok(vp_orc_builder_add(b, &raw, BASE + 0x5000, BASE + 0x6000)); /* has no entries */
	ot_buf_init(&t.out);
	assert_ok(vp_orc_builder_finish(b, &t.out));
	read_table(&t);
	assert_int_equal(t.n, 4);
	assert_int_equal(rule_at(&t, BASE + 0x20)->sp_offset, 8);
	assert_int_equal(rule_at(&t, BASE + 0x1000)->sp_base, VP_ORC_UNDEFINED);
	assert_int_equal(rule_at(&t, BASE + 0x2fff)->sp_offset, 16);
	vp_orc_builder_destroy(b);
	ot_buf_deinit(&t.out);
	raw_deinit(&r);
}

static void sizes_that_lie_are_refused(void **state)
{
	struct raw r;
	struct vp_orc_builder *b;

	(void)state;
	raw_init(&r);
	add(&r, BASE, 8, 0, SP);
	add(&r, BASE + 4, 8, 0, SP);
	assert_ok(vp_orc_builder_create(&old_form, &b));
	for (int i = 0; i < 4; i++) {
		struct vp_orc_raw raw = view(&r);

		raw.ip_size -= i == 0 ? 1 : i == 1 ? 4 : 0;
		raw.orc_size -= i == 2 ? 1 : 0;
		struct ot_err *err = vp_orc_builder_add(b, &raw, BASE, i == 3 ? BASE : BASE + 0x1000);

		assert_non_null(err);
		assert_int_equal(ot_err_code(err), OT_ERR_BAD_DATA);
		ot_err_destroy(err);
	}
	vp_orc_builder_destroy(b);
	raw_deinit(&r);
}

static void assert_layout(const struct vp_orc_layout *a, const struct vp_orc_layout *b)
{
	assert_int_equal(a->bp_reg_shift, b->bp_reg_shift);
	assert_int_equal(a->type_shift, b->type_shift);
	assert_int_equal(a->type_bits, b->type_bits);
	assert_int_equal(a->end_shift, b->end_shift);
	assert_int_equal(a->type_call, b->type_call);
	assert_int_equal(a->type_regs, b->type_regs);
	assert_int_equal(a->type_partial, b->type_partial);
	assert_int_equal(a->type_end, b->type_end);
	assert_memory_equal(a->sp_bases, b->sp_bases, sizeof(a->sp_bases));
	assert_memory_equal(a->bp_bases, b->bp_bases, sizeof(a->bp_bases));
}

/* struct orc_entry as compilers describe it; @p end_bit 0: the member is not there. */
static struct vp_btf *orc_types(unsigned type_bits, unsigned end_bit, unsigned size)
{
	struct btf_builder b;
	struct ot_buf blob;
	struct vp_btf *btf;

	btf_builder_init(&b, NULL);
	uint32_t s16 = btf_add_int(&b, "s16", 2, BTF_INT_SIGNED);
	uint32_t u32 = btf_add_int(&b, "unsigned int", 4, 0);
	btf_add(&b, "orc_entry", BTF_KIND_STRUCT, end_bit ? 6 : 5, 1, size);
	btf_add_member(&b, "sp_offset", s16, 0);
	btf_add_member(&b, "bp_offset", s16, 16);
	btf_add_member(&b, "sp_reg", u32, 4u << 24 | 32);
	btf_add_member(&b, "bp_reg", u32, 4u << 24 | 36);
	btf_add_member(&b, "type", u32, type_bits << 24 | 40);
	if (end_bit)
		btf_add_member(&b, "end", u32, 1u << 24 | (32 + end_bit));
	ot_buf_init(&blob);
	btf_finish(&b, &blob);
	assert_ok(vp_btf_create(blob.data, blob.len, NULL, &btf));
	ot_buf_deinit(&blob);
	btf_builder_deinit(&b);
	return btf;
}

static void types_tell_the_layout(void **state)
{
	static const struct {
		unsigned type_bits, end_bit;
		const struct vp_orc_layout *form;
		unsigned end_shift;
	} cases[] = {
		{ 2, 10, &old_form, 10 },
		{ 2, 11, &old_form, 11 }, /* with a signal bit before it */
		{ 3, 0, &new_form, 0xff },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vp_btf *btf = orc_types(cases[i].type_bits, cases[i].end_bit, 6);
		struct vp_orc_layout got, want = *cases[i].form;
		struct raw r;

		raw_init(&r);
		add(&r, BASE, 8, 0, SP | (unsigned)want.type_call << 8);
		struct vp_orc_raw raw = view(&r);

		want.end_shift = (uint8_t)cases[i].end_shift;
		assert_ok(vp_orc_layout(btf, &raw, &got));
		assert_layout(&got, &want);
		vp_btf_destroy(btf);
		raw_deinit(&r);
	}
}

static void values_tell_the_layout(void **state)
{
	struct raw r;
	struct vp_orc_layout got;
	struct vp_orc_raw raw;
	struct vp_btf *odd = orc_types(2, 10, 8); /* an entry of another size is not believed */

	(void)state;
	raw_init(&r);
	for (int i = 0; i < 20; i++)
		add(&r, BASE + 16 * (unsigned)i, 8, 0, SP);
	add(&r, BASE + 0x800, 0, 0, 1 << 10);
	raw = view(&r);
	assert_ok(vp_orc_layout(odd, &raw, &got));
	assert_layout(&got, &old_form);
	ot_buf_clear(&r.orc);
	ot_buf_clear(&r.ip);
	for (int i = 0; i < 20; i++)
		add(&r, BASE + 16 * (unsigned)i, 8, 0, SP | 2 << 8);
	add(&r, BASE + 0x800, 0, 0, 1 << 8);
	raw = view(&r);
	assert_ok(vp_orc_layout(NULL, &raw, &got));
	assert_layout(&got, &new_form);
	ot_buf_clear(&r.orc);
	ot_buf_clear(&r.ip);
	for (int i = 0; i < 21; i++)
		add(&r, BASE + 16 * (unsigned)i, 8, 0, SP | (unsigned)(i % 3) << 8);
	raw = view(&r);
	struct ot_err *err = vp_orc_layout(NULL, &raw, &got);

	assert_non_null(err);
	assert_int_equal(ot_err_code(err), OT_ERR_NOT_FOUND);
	ot_err_destroy(err);
	vp_btf_destroy(odd);
	raw_deinit(&r);
}

/* Ten ordinary entries, two that saved the frame pointer, one each by other registers; then the layout. */
static void numbered(unsigned sp, unsigned prev_sp, const unsigned *others, size_t n,
		     struct vp_orc_layout *ret)
{
	struct raw r;

	raw_init(&r);
	for (unsigned i = 0; i < 10; i++)
		add(&r, BASE + 16 * i, 8, 0, sp | 2 << 8);
	for (unsigned i = 10; i < 12; i++)
		add(&r, BASE + 16 * i, 16, -16, sp | prev_sp << 4 | 2 << 8);
	for (unsigned i = 0; i < n; i++)
		add(&r, BASE + 0x800 + 16 * i, 8, 0, others[i] | 2 << 8);
	struct vp_orc_raw raw = view(&r);

	assert_ok(vp_orc_layout(NULL, &raw, ret));
	raw_deinit(&r);
}

/* 7.x renumbers the registers: the numbers are inferred from the entries. */
static void registers_numbered_anew_are_told(void **state)
{
	static const unsigned others[] = { 2, 4, 5, 6, 7, 9, 10 };
	static const enum vp_orc_base want[VP_ORC_REGISTERS] = {
		[2] = VP_ORC_DX,  [3] = VP_ORC_SP,  [4] = VP_ORC_BP,          [5] = VP_ORC_DI,
		[6] = VP_ORC_R10, [7] = VP_ORC_R13, [9] = VP_ORC_SP_INDIRECT, [10] = VP_ORC_BP_INDIRECT,
	};
	struct vp_orc_layout got;

	(void)state;
	numbered(3, 8, others, sizeof(others) / sizeof(others[0]), &got);
	for (unsigned i = 0; i < VP_ORC_REGISTERS; i++) {
		assert_int_equal(got.sp_bases[i], want[i]);
		assert_int_equal(got.bp_bases[i], i == 8 ? VP_ORC_SP : i == 4 ? VP_ORC_BP : VP_ORC_UNDEFINED);
	}
	numbered(SP, PREV_SP, others, 0, &got);
	assert_layout(&got, &new_form);
}

/* An unknown numbering: the register that most entries use is found, the others stay unknown. */
static void registers_of_no_known_numbering_stay_undefined(void **state)
{
	static const unsigned others[] = { 4, 5 };
	struct vp_orc_layout got;

	(void)state;
	numbered(12, 11, others, 2, &got);
	for (unsigned i = 0; i < VP_ORC_REGISTERS; i++) {
		assert_int_equal(got.sp_bases[i], i == 12 ? VP_ORC_SP : VP_ORC_UNDEFINED);
		assert_int_equal(got.bp_bases[i], i == 11 ? VP_ORC_SP : VP_ORC_UNDEFINED);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(old_entries_become_rules),
		cmocka_unit_test(new_entries_become_rules),
		cmocka_unit_test(tables_are_sorted_thinned_and_bounded),
		cmocka_unit_test(ranges_come_in_any_order_and_never_overlap),
		cmocka_unit_test(sizes_that_lie_are_refused),
		cmocka_unit_test(types_tell_the_layout),
		cmocka_unit_test(values_tell_the_layout),
		cmocka_unit_test(registers_numbered_anew_are_told),
		cmocka_unit_test(registers_of_no_known_numbering_stay_undefined),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
