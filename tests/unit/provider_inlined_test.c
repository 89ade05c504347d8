/* SPDX-License-Identifier: GPL-2.0-or-later */
/* provider/inlined_copy: copies in the text of a synthetic guest, and their arguments as programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "provider_fixture.h"
#include "vmm-probe/provider/inlined_copy.h"

static const struct ks_layout layout = { VP_KALLSYMS_PERCPU, true, true, 4, false };

/* Symbol number n has a function of 32 bytes. */
#define FIRST 100u

static const uint8_t code[] = {
	0x0f, 0x1f, 0x44, 0x00, 0x00, /* 00 nop */
	0x53,                         /* 05 push %rbx */
	0x48, 0x89, 0xfb,             /* 06 mov %rdi,%rbx */
	0x48, 0xff, 0xcb,             /* 09 dec %rbx: the head of a loop */
	0x75, 0xfb,                   /* 0c jne 09 */
	0x90,                         /* 0e nop */
	0x85, 0xc0,                   /* 0f test %eax,%eax */
	0x74, 0x01,                   /* 11 je 14 */
	0x90,                         /* 13 nop */
	0x5b,                         /* 14 pop %rbx */
	0xc3,                         /* 15 ret */
};

static uint64_t function(const struct world *w)
{
	return w->g.syms[FIRST].addr;
}

/* Symbol FIRST + 2 is the first one's unlikely part: it jumps back to 13. */
static void write_cold(struct world *w)
{
	struct ks_symbol *cold = &w->g.syms[FIRST + 2];
	uint8_t *at = guest_at(&w->g, cold->addr);
	uint32_t distance = (uint32_t)(function(w) + 0x13 - (cold->addr + 5));

	strcpy(cold->name, "func_100.cold");
	ks_write(&layout, guest_at(&w->g, GUEST_BASE), GUEST_IMAGE, GUEST_KS_OFF, GUEST_BASE, w->g.syms,
		 &w->g.ks);
	memset(at, 0xcc, 32);
	at[0] = 0xe9; /* jmp */
	memcpy(at + 1, &distance, sizeof(distance));
}

static int setup(void **state)
{
	struct world *w = world_create(&layout);

	assert_string_equal(w->g.syms[FIRST].name, "func_100");
	write_cold(w);
	memset(guest_at(&w->g, function(w)), 0xcc, 32);
	memcpy(guest_at(&w->g, function(w)), code, sizeof(code));
	world_open(w);
	assert_ok(vp_probes_create(w->guest, &w->probes));
	*state = w;
	return 0;
}

/* Look for a copy that begins at @entry and has the instructions [@start, @end), offsets in the function. */
static struct ot_err *find(struct world *w, uint32_t entry, uint32_t start, uint32_t end,
			   struct vp_inlined_copy *ret)
{
	uint32_t at = (uint32_t)(function(w) - GUEST_BASE);
	static struct vp_copies_range range;
	static struct vp_copies_copy copy;
	const struct vp_copies all = { .ranges = &range };

	range = (struct vp_copies_range){ at + start, at + end };
	copy = (struct vp_copies_copy){ .entry = at + entry, .nranges = start < end };
	return vp_inlined_copy_find(w->probes, &all, &copy, ret);
}

static void is_found(struct world *w, uint32_t entry, uint32_t start, uint32_t end, uint8_t length)
{
	struct vp_inlined_copy found;
	struct vp_batch_site site;

	assert_ok(find(w, entry, start, end, &found));
	assert_string_equal(found.name, w->g.syms[FIRST].name);
	assert_int_equal(found.function, function(w));
	found.program = 7;
	assert_ok(vp_inlined_copy_site(w->probes, &found, &site));
	assert_int_equal(site.gva, function(w) + entry);
	assert_int_equal(site.offset, entry);
	assert_int_equal(site.length, length);
	assert_memory_equal(site.bytes, code + entry, length);
	assert_int_equal(site.raw, 7);
}

static void is_refused(struct world *w, uint32_t entry, uint32_t start, uint32_t end, const char *why)
{
	struct vp_inlined_copy found;
	struct ot_err *err = find(w, entry, start, end, &found);

	assert_non_null(err);
	assert_int_equal(ot_err_code(err), OT_ERR_UNSUPPORTED);
	if (!strstr(ot_err_message(err), why))
		fail_msg("'%s', not '%s'", ot_err_message(err), why);
	ot_err_destroy(err);
}

static void places(void **state)
{
	struct world *w = *state;

	is_found(w, 0x06, 0x06, 0x09, 3);
	is_found(w, 0x0e, 0, 0, 1);       /* no instruction is its own, and it is fallen through to */
	is_found(w, 0x14, 0x14, 0x16, 1); /* jumped to from outside: entered */
	is_refused(w, 0x09, 0x09, 0x0e, "too often"); /* each turn would count */
	is_found(w, 0x09, 0x09, 0x0c, 3);             /* the loop is the caller's: each turn calls it */
	is_refused(w, 0x14, 0, 0, "too often");       /* is it the jump that enters it, or what is before? */
	is_refused(w, 0x14, 0x06, 0x09, "too often"); /* its instructions are elsewhere */
	is_refused(w, 0x13, 0, 0, "too often");       /* the unlikely part comes back there */
	is_found(w, 0x13, 0x13, 0x14, 1);
	is_refused(w, 0x07, 0x06, 0x09, "no instruction begins there");
	is_refused(w, 0x700000, 0, 0, "in no function");
}

static void changed_text(void **state)
{
	struct world *w = *state;
	struct vp_inlined_copy found;
	struct vp_batch_site site;

	assert_ok(find(w, 0x06, 0x06, 0x09, &found));
	guest_at(&w->g, function(w))[5] = 0xb8; /* mov $…,%eax, over what stood there */
	vp_probes_forget_text(w->probes);
	struct ot_err *err = vp_inlined_copy_site(w->probes, &found, &site);
	assert_non_null(err);
	assert_int_equal(ot_err_code(err), OT_ERR_BAD_DATA);
	ot_err_destroy(err);
}

static bool has_op(const struct dif_object *obj, uint8_t op)
{
	for (uint32_t i = 0; i < obj->text_len; i++)
		if (obj->text[i] >> 24 == op)
			return true;
	return false;
}

static void arguments(void **state)
{
	static const struct vp_copies_place list[] = {
		{ .kind = VP_PLACE_CONST, .value = -5 },
		{ .kind = VP_PLACE_ADDRESS, .value = 0x48000 },
		{ .kind = VP_PLACE_REG, .reg = 5, .value = 0 },
		{ .kind = VP_PLACE_MEMORY, .reg = 7, .value = 16, .size = 4 },
		{ .kind = VP_PLACE_NONE },                        /* other copies have it */
		{ .kind = VP_PLACE_NONE },                        /* no copy has it */
		{ .kind = VP_PLACE_REG, .reg = 200, .value = 0 }, /* no register of this architecture */
	};
	const struct vp_copies all = { .places = list };
	const struct vp_copies_function f = { .nparams = OT_ARRAY_SIZE(list) };
	const struct vp_copies_copy copy = { .first_place = 0 };
	struct world *w = *state;
	uint32_t number;

	assert_ok(vp_inlined_copy_program(w->probes, &all, &f, &copy, 0x1f, &number));
	const struct dif_clause *program = vp_probes_program(w->probes, number);
	assert_non_null(program);
	assert_null(program->predicate);
	assert_int_equal(program->nactions, OT_ARRAY_SIZE(list));
	assert_int_equal((int64_t)program->actions[0].object->ints[0], -5);
	assert_int_equal(program->actions[1].object->ints[0], GUEST_BASE + 0x48000);
	assert_false(has_op(program->actions[2].object, DIF_OP_ldx));
	assert_true(has_op(program->actions[3].object, DIF_OP_lduw));
	/* a fault, not a value */
	assert_true(has_op(program->actions[4].object, DIF_OP_ldx));
	assert_int_equal(program->actions[4].object->int_len, 0);
	/* 0 */
	assert_false(has_op(program->actions[5].object, DIF_OP_ldx));
	assert_int_equal(program->actions[5].object->int_len, 0);
	assert_int_equal(program->actions[6].object->int_len, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(places, setup, world_destroy),
		cmocka_unit_test_setup_teardown(changed_text, setup, world_destroy),
		cmocka_unit_test_setup_teardown(arguments, setup, world_destroy),
	};

	return cmocka_run_group_tests_name("provider_inlined", tests, NULL, NULL);
}
