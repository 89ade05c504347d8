/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Addresses to numbers of names: fleet/host/places.c and names.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fleet/host/names.h"

static unsigned asked; /* how often the session was */

static void kernel(void *arg, uint32_t guest, uint64_t addr, enum vp_symbol_form form, char *buf, size_t size)
{
	(void)arg;
	(void)guest;
	asked++;
	if (form == VP_SYM_MODULE)
		snprintf(buf, size, "m");
	else if (form == VP_SYM_NAME)
		snprintf(buf, size, "m`f%llx", (unsigned long long)addr >> 8);
	else
		snprintf(buf, size, "m`f%llx+0x%llx", (unsigned long long)addr >> 8,
			 (unsigned long long)addr & 0xff);
}

static void nameless(void *arg, uint32_t guest, uint64_t addr, enum vp_symbol_form form, char *buf,
		     size_t size)
{
	(void)arg;
	(void)guest;
	(void)form;
	snprintf(buf, size, "0x%llx", (unsigned long long)addr);
}

static void user(void *arg, uint32_t guest, uint64_t pid, uint64_t addr, enum vp_symbol_form form, char *buf,
		 size_t size)
{
	(void)arg;
	(void)guest;
	(void)pid;
	snprintf(buf, size,
		 form == VP_SYM_NAME     ? "u`%llx"
		 : form == VP_SYM_MODULE ? "u"
					 : "u`%llx+",
		 (unsigned long long)addr);
}

static const char *note(void *arg, uint32_t guest, uint64_t pid, uint64_t addr, const char *text)
{
	(void)arg;
	(void)guest;
	(void)pid;
	(void)addr;
	return !strcmp(text, "\1known") ? "inner\nouter" : NULL;
}

#define ACTIONS_MAX 8

struct fixture {
	struct dif_options opts;
	struct dif_layout_opts sizes;
	struct fl_names names;
	struct ot_arena arena;
	struct dif_clause clause;
	struct dif_clause_layout layout;
	struct fl_places places;
	uint8_t data[512];
};

static void setup(struct fixture *f)
{
	const struct con_symbols symbols = { .kernel = kernel, .user = user, .note = note, .nguests = 1 };

	memset(f, 0, sizeof(*f));
	dif_options_init(&f->opts);
	f->sizes = (struct dif_layout_opts){ 16, 3, 3, 3, 0 };
	f->opts.ustackframes = 3;
	fl_names_init(&f->names, &symbols, &f->opts);
	ot_arena_init(&f->arena);
}

static void teardown(struct fixture *f)
{
	fl_names_deinit(&f->names);
	ot_arena_deinit(&f->arena);
	dif_options_deinit(&f->opts);
}

/* A record of these actions; its places. */
static void record_of(struct fixture *f, struct dif_action *actions, uint32_t n)
{
	memset(f->data, 0, sizeof(f->data));
	f->clause = (struct dif_clause){ .actions = actions, .nactions = n };
	assert_null(dif_clause_layout(&f->clause, &f->sizes, &f->arena, &f->layout));
	assert_true(f->layout.size <= sizeof(f->data));
	assert_null(fl_places_of_record(&f->clause, &f->layout, &f->arena, &f->places));
}

static void put(struct fixture *f, uint32_t rec, uint32_t at, uint64_t value)
{
	const struct dif_rec *r = &f->layout.recs[rec];

	memcpy(f->data + r->offset + at, &value, r->size < 8 ? r->size : 8);
}

static uint64_t get(const struct fixture *f, uint32_t rec, uint32_t at)
{
	const struct dif_rec *r = &f->layout.recs[rec];

	return con_load(f->data + r->offset + at, r->size < 8 ? r->size : 8);
}

static void replace(struct fixture *f, uint32_t guest)
{
	assert_null(fl_names_replace(&f->names, guest, &f->places, false, f->data));
}

/* The name that was sent for @number. */
static struct fl_name sent(struct fixture *f, uint64_t number)
{
	struct fl_reader r = fl_reader_of(f->names.fresh.data, f->names.fresh.len);
	struct fl_name name;

	while (fl_next_name(&r, &f->arena, &name))
		if (name.number == number)
			return name;
	fail_msg("no name was sent for %llu", (unsigned long long)number);
	return name;
}

static void is_named(struct fixture *f, uint64_t number, uint32_t guest, const char *text, const char *lines)
{
	const struct fl_name name = sent(f, number);

	assert_true(number >= FL_NAMES_FIRST);
	assert_int_equal(name.guest, guest);
	assert_string_equal(name.text, text);
	assert_string_equal(name.note, lines);
}

static struct dif_object number8 = { .ret = { .size = 8 } }, number4 = { .ret = { .size = 4 } },
			 number2 = { .ret = { .size = 2 } };

/* sym(), mod() and the like, each in its form. */
static void test_symbols(void **state)
{
	struct dif_action actions[] = {
		{ .kind = DIF_ACT_sym, .object = &number8 },
		{ .kind = DIF_ACT_mod, .object = &number8 },
		{ .kind = DIF_ACT_usym, .object = &number8 },
		{ .kind = DIF_ACT_umod, .object = &number8 },
		{ .kind = DIF_ACT_uaddr, .object = &number8 },
		{ .kind = DIF_ACT_difexpr, .object = &number8 },
	};
	struct fixture f;

	(void)state;
	setup(&f);
	record_of(&f, actions, OT_ARRAY_SIZE(actions));
	for (uint32_t i = 0; i < OT_ARRAY_SIZE(actions); i++)
		put(&f, i, 0, i < 2 || i == 5 ? 0x1234 : 77);
	for (uint32_t i = 2; i < 5; i++)
		put(&f, i, 8, 0x5678);
	replace(&f, 4);
	is_named(&f, get(&f, 0, 0), 4, "m`f12", "");
	is_named(&f, get(&f, 1, 0), 4, "m", "");
	is_named(&f, get(&f, 2, 8), 4, "u`5678", "");
	is_named(&f, get(&f, 3, 8), 4, "u", "");
	is_named(&f, get(&f, 4, 8), 4, "u`5678+", "");
	assert_int_equal(get(&f, 2, 0), 77); /* the process stays */
	assert_int_equal(get(&f, 5, 0), 0x1234);
	teardown(&f);
}

/* Equal names are one number in one guest, and sent once; another guest's are its own. */
static void test_equal_names(void **state)
{
	struct dif_action actions[] = { { .kind = DIF_ACT_sym, .object = &number8 },
					{ .kind = DIF_ACT_sym, .object = &number8 },
					{ .kind = DIF_ACT_sym, .object = &number8 } };
	struct fixture f;

	(void)state;
	setup(&f);
	record_of(&f, actions, 3);
	put(&f, 0, 0, 0x1234);
	put(&f, 1, 0, 0x1299);
	put(&f, 2, 0, 0x1334);
	replace(&f, 0);
	const uint64_t first = get(&f, 0, 0);
	assert_int_equal(get(&f, 1, 0), first);
	assert_int_not_equal(get(&f, 2, 0), first);
	const size_t len = f.names.fresh.len;
	put(&f, 0, 0, 0x1201);
	put(&f, 1, 0, 0x1200);
	put(&f, 2, 0, 0x1300);
	replace(&f, 0);
	assert_int_equal(get(&f, 0, 0), first);
	assert_int_equal(f.names.fresh.len, len);
	put(&f, 0, 0, 0x1234);
	replace(&f, 1);
	assert_int_not_equal(get(&f, 0, 0), first);
	is_named(&f, get(&f, 0, 0), 1, "m`f12", "");
	teardown(&f);
}

/* Up to the first frame that is none. */
static void test_stack(void **state)
{
	struct dif_action action = { .kind = DIF_ACT_stack };
	struct fixture f;

	(void)state;
	setup(&f);
	record_of(&f, &action, 1);
	put(&f, 0, 0, 0x1234);
	put(&f, 0, 8, 0x4321);
	replace(&f, 0);
	is_named(&f, get(&f, 0, 0), 0, "m`f12+0x34", "");
	is_named(&f, get(&f, 0, 8), 0, "m`f43+0x21", "");
	assert_int_equal(get(&f, 0, 16), 0);
	teardown(&f);
}

/* A frame's text of the helper goes as it is, but for one that only this host can read. */
static void test_ustack(void **state)
{
	struct dif_action action = { .kind = DIF_ACT_ustack, .arg = 40ull << 32 };
	static const char texts[] = "\0\1known\0plain";
	struct fixture f;

	(void)state;
	setup(&f);
	record_of(&f, &action, 1);
	put(&f, 0, 0, 9);
	put(&f, 0, 8, 0x100);
	put(&f, 0, 16, 0x200);
	put(&f, 0, 24, DIF_FRAME_WITHOUT_PC);
	memcpy(f.data + f.layout.recs[0].offset + 32, texts, sizeof(texts));
	replace(&f, 2);
	assert_int_equal(get(&f, 0, 0), 9);
	is_named(&f, get(&f, 0, 8), 2, "u`100+", "");
	is_named(&f, get(&f, 0, 16), 2, "u`200+", "inner\nouter");
	assert_true(get(&f, 0, 24) == DIF_FRAME_WITHOUT_PC);
	assert_memory_equal(f.data + f.layout.recs[0].offset + 32, texts, sizeof(texts));
	teardown(&f);
}

/* Whatever the guest has left in place of texts. */
static void test_ustack_without_texts(void **state)
{
	struct dif_action action = { .kind = DIF_ACT_ustack, .arg = 8ull << 32 };
	struct fixture f;

	(void)state;
	setup(&f);
	record_of(&f, &action, 1);
	memset(f.data + f.layout.recs[0].offset, 1, f.layout.recs[0].size); /* no NUL anywhere */
	replace(&f, 0);
	is_named(&f, get(&f, 0, 8), 0, "u`101010101010101+", "");
	is_named(&f, get(&f, 0, 24), 0, "u`101010101010101+", "");
	teardown(&f);
}

/* %a and %A, behind widths and other conversions; what has no room for a number stays. */
static void test_printf(void **state)
{
	struct dif_action actions[] = {
		{ .kind = DIF_ACT_printf, .object = &number4, .uarg = 1, .format = "%*a %x%% %a %A %a" },
		{ .kind = DIF_ACT_printf, .object = &number8, .uarg = 1 },
		{ .kind = DIF_ACT_printf, .object = &number8, .uarg = 1 },
		{ .kind = DIF_ACT_printf, .object = &number4, .uarg = 1 },
		{ .kind = DIF_ACT_printf, .object = &number8, .uarg = 1 },
		{ .kind = DIF_ACT_printf, .object = &number2, .uarg = 1 },
		{ .kind = DIF_ACT_printf, .object = &number8, .uarg = 2, .format = "%d" },
	};
	struct fixture f;

	(void)state;
	setup(&f);
	record_of(&f, actions, OT_ARRAY_SIZE(actions));
	for (uint32_t i = 0; i < OT_ARRAY_SIZE(actions); i++)
		put(&f, i, 0, 0x1234);
	replace(&f, 0);
	assert_int_equal(get(&f, 0, 0), 0x1234); /* the width */
	is_named(&f, get(&f, 1, 0), 0, "m`f12+0x34", "");
	assert_int_equal(get(&f, 2, 0), 0x1234);
	assert_int_equal(get(&f, 3, 0), get(&f, 1, 0));
	is_named(&f, get(&f, 4, 0), 0, "u`1234+", "");
	assert_int_equal(get(&f, 5, 0), 0x1234);
	assert_int_equal(get(&f, 6, 0), 0x1234);
	teardown(&f);
}

/* A printf() with stacks and symbols begins with an action that has no object. */
static void test_printf_with_symbols(void **state)
{
	struct dif_action actions[] = {
		{ .kind = DIF_ACT_printf, .uarg = 1, .format = "%a %a %k" },
		{ .kind = DIF_ACT_sym, .object = &number8, .uarg = 1 },
		{ .kind = DIF_ACT_printf, .object = &number8, .uarg = 1 },
		{ .kind = DIF_ACT_stack, .uarg = 1, .arg = 1 },
	};
	struct fixture f;

	(void)state;
	setup(&f);
	record_of(&f, actions, OT_ARRAY_SIZE(actions));
	for (uint32_t i = 0; i < OT_ARRAY_SIZE(actions); i++)
		put(&f, i, 0, 0x1234);
	replace(&f, 0);
	is_named(&f, get(&f, 1, 0), 0, "m`f12", "");
	is_named(&f, get(&f, 2, 0), 0, "m`f12+0x34", "");
	is_named(&f, get(&f, 3, 0), 0, "m`f12+0x34", "");
	teardown(&f);
}

/* Keys that printa() shows by %a, and by nothing else. */
static void test_printed_keys(void **state)
{
	struct dif_action keys[] = {
		{ .kind = DIF_ACT_difexpr, .object = &number8, .is_key = true },
		{ .kind = DIF_ACT_difexpr, .object = &number8, .is_key = true },
		{ .kind = (enum dif_action_kind)DIF_AGG_count, .ntuple = 3, .aggid = 2 }
	};
	struct dif_action prints[] = {
		{ .kind = DIF_ACT_printa, .aggid = 2, .uarg = 1, .format = "%a %a %@d" },
		{ .kind = DIF_ACT_printa, .aggid = 2, .uarg = 2, .format = "%@d %a %x" },
		{ .kind = DIF_ACT_printa, .aggid = 1, .uarg = 3 }
	};
	struct dif_clause clauses[] = { { .actions = keys, .nactions = 3 },
					{ .actions = prints, .nactions = 3 } };
	const struct dif_program prog = { .clauses = clauses, .nclauses = 2, .naggs = 2 };
	struct fl_printed_keys printed;
	struct dif_clause_layout layout;
	struct fl_places places;
	struct fixture f;

	(void)state;
	setup(&f);
	assert_null(fl_printed_keys(&prog, &f.arena, &printed));
	assert_null(dif_clause_layout(&clauses[0], &f.sizes, &f.arena, &layout));
	assert_null(fl_places_of_keys(&clauses[0], &layout.aggs[0], &printed, &f.arena, &places));
	assert_int_equal(places.n, 1);
	assert_int_equal(places.items[0].kind, FL_PLACE_KERNEL);
	assert_int_equal(places.items[0].offset, layout.aggs[0].keys[0].offset);
	/* found once */
	const uint64_t addr = 0x1234;
	memcpy(f.data + places.items[0].offset, &addr, 8);
	asked = 0;
	for (int i = 0; i < 2; i++) {
		memcpy(f.data + places.items[0].offset, &addr, 8);
		assert_null(fl_names_replace(&f.names, 0, &places, true, f.data));
		is_named(&f, con_load(f.data + places.items[0].offset, 8), 0, "m`f12+0x34", "");
	}
	assert_int_equal(asked, 1);
	teardown(&f);
}

static uint64_t number_key(struct fixture *f, uint32_t guest, uint64_t addr, uint32_t size)
{
	struct fl_place place = { FL_PLACE_KERNEL, NULL, 0, size };
	const struct fl_places places = { &place, 1 };

	memcpy(f->data, &addr, 8);
	assert_null(fl_names_replace(&f->names, guest, &places, true, f->data));
	return con_load(f->data, size);
}

/* Integers that are keys: an operator joins rows of several hosts by them. */
static void test_same_on_each_host(void **state)
{
	struct fixture one, other;

	(void)state;
	setup(&one);
	setup(&other);
	for (uint32_t size = 4; size <= 8; size += 4) {
		const uint64_t first = number_key(&one, 0, 0x1200, size),
			       second = number_key(&one, 1, 0x1300, size);

		assert_int_not_equal(first, second);
		assert_int_equal(number_key(&other, 2, 0x1300, size), second);
		assert_int_equal(number_key(&other, 0, 0x1200, size), first);
		assert_int_equal(number_key(&one, 3, 0x1300, size), second);
		is_named(&other, first, 0, "m`f12+0x0", "");
		is_named(&one, second, 0, "m`f13+0x0", "");
	}
	teardown(&one);
	teardown(&other);
}

/* A merger's: names of all guests are one, but for addresses that have none. */
static void test_joint_names(void **state)
{
	struct dif_action action = { .kind = DIF_ACT_sym, .object = &number8 };
	struct fixture f;

	(void)state;
	setup(&f);
	f.names.joint = true;
	record_of(&f, &action, 1);
	put(&f, 0, 0, 0x1234);
	replace(&f, 0);
	const uint64_t first = get(&f, 0, 0);
	const size_t len = f.names.fresh.len;
	put(&f, 0, 0, 0x1235);
	replace(&f, 1);
	assert_int_equal(get(&f, 0, 0), first);
	assert_int_equal(f.names.fresh.len, len);
	is_named(&f, first, 0, "m`f12", "");
	f.names.printer.symbols.kernel = nameless;
	put(&f, 0, 0, 0x5678);
	replace(&f, 0);
	const uint64_t address = get(&f, 0, 0);
	put(&f, 0, 0, 0x5678);
	replace(&f, 1);
	assert_int_not_equal(get(&f, 0, 0), address);
	is_named(&f, address, 0, "0x5678", "");
	is_named(&f, get(&f, 0, 0), 1, "0x5678", "");
	teardown(&f);
}

/* A guest that shows ever new names: the rest is one. */
static void test_too_many(void **state)
{
	struct dif_action action = { .kind = DIF_ACT_sym, .object = &number8 };
	struct fixture f;

	(void)state;
	setup(&f);
	record_of(&f, &action, 1);
	put(&f, 0, 0, 0x1234);
	replace(&f, 0);
	const uint64_t known = get(&f, 0, 0);
	assert_false(fl_names_overflowed(&f.names));
	f.names.bytes = FL_NAMES_BYTES;
	assert_true(fl_names_overflowed(&f.names));
	uint64_t other = 0;
	for (uint64_t i = 1; i <= 3; i++) {
		put(&f, 0, 0, i << 20);
		replace(&f, 0);
		assert_true(i == 1 || get(&f, 0, 0) == other);
		other = get(&f, 0, 0);
	}
	is_named(&f, other, 0, FL_NAMES_OTHER, "");
	put(&f, 0, 0, 0x1234);
	replace(&f, 0);
	assert_int_equal(get(&f, 0, 0), known);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_equal_names),
		cmocka_unit_test(test_stack),
		cmocka_unit_test(test_ustack),
		cmocka_unit_test(test_ustack_without_texts),
		cmocka_unit_test(test_printf),
		cmocka_unit_test(test_printf_with_symbols),
		cmocka_unit_test(test_printed_keys),
		cmocka_unit_test(test_same_on_each_host),
		cmocka_unit_test(test_joint_names),
		cmocka_unit_test(test_too_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
