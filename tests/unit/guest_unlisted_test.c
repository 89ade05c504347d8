/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/guest/unlisted: variables of a kernel whose symbols are functions only, by its table of exports
 * and by the shape of what is searched for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "guest_fixture.h"
#include "vmm-probe/guest/guest.h"

#define EXPORTS (GUEST_BASE + 0x200000)
#define NAMES   (GUEST_BASE + 0x210000)
#define DATA    (GUEST_BASE + 0x220000)
#define HEAD    (GUEST_BASE + 0x230000) /* of the list of modules */
#define RULES   (GUEST_BASE + 0x240000) /* addresses that unwind rules are for */
#define NRULES  5000u
#define PERCPU  0x1d440u /* an offset: older kernels have per-CPU variables from 0 on */
#define NODE(n) (GUEST_MODULES + (uint64_t)(n)*0x1000 + 8)
#define NOTE    "not all variables have symbols"

static const struct ks_layout layout = { VP_KALLSYMS_PERCPU, false, true, 4, false };

static const char *const names[] = { "__cpu_online_mask", "a_function",  "cpu_info", "init_net",
				     "init_pid_ns",       "init_task",   "jiffies",  "nr_cpu_ids",
				     "system_state",      "vmemmap_base" };

static void put_distance(struct guest_fixture *g, uint64_t gva, uint64_t to)
{
	uint32_t v = (uint32_t)(to - gva);

	memcpy(guest_at(g, gva), &v, sizeof(v));
}

static uint64_t value_of(unsigned int i)
{
	return strcmp(names[i], "cpu_info") == 0 ? PERCPU : DATA + 0x40 * i;
}

/* Entries of @p stride bytes. The name that another one ends with is a part of it, as linkers have it. */
static void write_exports(struct guest_fixture *g, unsigned int stride)
{
	uint64_t at = EXPORTS;
	char *name = (char *)guest_at(g, NAMES);

	memset(guest_at(g, EXPORTS - 64), 0, 0x1000);
	/* another copy, which no table points to */
	strcpy((char *)guest_at(g, NAMES - 0x1000), "init_task");
	for (unsigned int i = 0; i < OT_ARRAY_SIZE(names); i++, at += stride) {
		put_distance(g, at, value_of(i));
		put_distance(g, at + 4, NAMES + (uint64_t)(name - (char *)guest_at(g, NAMES)));
		strcpy(name, names[i]);
		name += strlen(name) + 1;
	}
}

static void write_modules(struct guest_fixture *g, unsigned int n)
{
	for (unsigned int i = 0; i <= n; i++) {
		uint64_t at = i ? NODE(i) : HEAD;

		guest_put64(g, at, i < n ? NODE(i + 1) : HEAD);
		guest_put64(g, at + 8, i ? (i > 1 ? NODE(i - 1) : HEAD) : NODE(n));
		if (i)
			strcpy((char *)guest_at(g, at + 16), i > 1 ? "virtio_net" : "loop");
	}
}

static void write_rules(struct guest_fixture *g)
{
	for (unsigned int i = 0; i < NRULES; i++)
		put_distance(g, RULES + 4 * i, GUEST_BASE + 0x1000 + 16 * i);
	memset(guest_at(g, RULES + 4 * NRULES), 0, 6 * NRULES);
}

/* Give the symbol @p from, or the last one if it is NULL, another name; its address. */
static uint64_t rename_symbol(struct guest_fixture *g, const char *from, const char *to)
{
	struct ks_symbol *at = &g->syms[KS_SYMBOLS - 1];

	while (from && strcmp(at->name, from) != 0)
		at--;
	strcpy(at->name, to);
	ks_write(&layout, guest_at(g, GUEST_BASE), GUEST_IMAGE, GUEST_KS_OFF, GUEST_BASE, g->syms, &g->ks);
	return at->addr;
}

static int setup(void **state)
{
	struct guest_fixture *g = calloc(1, sizeof(*g));

	assert_non_null(g);
	guest_fixture_init(g, &layout, 4);
	rename_symbol(g, "modules", "modulus");
	write_exports(g, 12);
	write_modules(g, 2);
	write_rules(g);
	*state = g;
	return 0;
}

static int teardown(void **state)
{
	struct guest_fixture *g = *state;

	guest_fixture_deinit(g);
	free(g);
	return 0;
}

static struct vp_guest *open_guest(struct guest_fixture *g)
{
	struct vp_regs regs = guest_regs(g, GUEST_CR3);
	struct vp_guest_opts opts = { .phys = g->phys, .regs = &regs, .nregs = 1 };
	struct vp_guest *guest;

	assert_ok(vp_guest_open(&opts, &guest));
	return guest;
}

/* @p addr 0: it has no such symbol. */
static void assert_symbol(const struct vp_guest *guest, const char *name, uint64_t addr)
{
	struct vp_gva at = { 0 };
	struct ot_err *err = vp_guest_symbol(guest, name, &at);

	if (addr)
		assert_ok(err);
	else
		assert_err(err, OT_ERR_NOT_FOUND, name);
	assert_int_equal(at.v, addr);
}

static void exports_have_symbols(void **state)
{
	static const unsigned int strides[] = { 12, 8 }; /* with a namespace, and before 5.4 */

	for (unsigned int k = 0; k < OT_ARRAY_SIZE(strides); k++) {
		write_exports(*state, strides[k]);
		struct vp_guest *guest = open_guest(*state);
		for (unsigned int i = 0; i < OT_ARRAY_SIZE(names); i++)
			assert_symbol(guest, names[i], value_of(i));
		assert_non_null(strstr(vp_guest_note(guest), NOTE));
		vp_guest_destroy(guest);
	}
}

static void a_value_outside_the_image_is_none(void **state)
{
	struct guest_fixture *g = *state;

	put_distance(g, EXPORTS, GUEST_BASE + GUEST_IMAGE + 8);
	struct vp_guest *guest = open_guest(g);
	assert_symbol(guest, names[0], 0);
	assert_symbol(guest, names[1], value_of(1));
	vp_guest_destroy(guest);
}

static void a_table_of_too_few_is_none(void **state)
{
	struct guest_fixture *g = *state;

	/* What is left around init_task is seven entries. */
	put_distance(g, EXPORTS + 12 * 2 + 4, NAMES - 8);
	memset(guest_at(g, NAMES - 8), 0, 8);
	struct vp_guest *guest = open_guest(g);
	assert_symbol(guest, "init_task", 0);
	vp_guest_destroy(guest);
}

static void modules_and_stack_tables_have_symbols(void **state)
{
	struct guest_fixture *g = *state;
	struct vp_guest *guest = open_guest(g);

	assert_symbol(guest, "modules", HEAD);
	assert_symbol(guest, "__start_orc_unwind_ip", RULES);
	assert_symbol(guest, "__stop_orc_unwind_ip", RULES + 4 * NRULES);
	assert_symbol(guest, "__start_orc_unwind", RULES + 4 * NRULES);
	assert_symbol(guest, "__stop_orc_unwind", RULES + 10 * NRULES);
	vp_guest_destroy(guest);
}

static void lists_that_lie_are_none(void **state)
{
	struct guest_fixture *g = *state;
	/* a node that is its own next one, a name that is none, a state that is none, a link that does not
	 * lead back */
	const struct {
		uint64_t at, value;
	} lies[] = { { NODE(2), NODE(2) }, { NODE(1) + 16, 0 },      { NODE(1) + 16, 0x0a0a0a0a0a0a0a0aull },
		     { NODE(2) - 8, 3 },   { NODE(2) + 8, NODE(2) }, { NODE(1), 0xfffffffffefffff8ull } };

	for (size_t i = 0; i < OT_ARRAY_SIZE(lies); i++) {
		uint64_t before;

		memcpy(&before, guest_at(g, lies[i].at), sizeof(before));
		guest_put64(g, lies[i].at, lies[i].value);
		struct vp_guest *guest = open_guest(g);
		assert_symbol(guest, "modules", 0);
		vp_guest_destroy(guest);
		guest_put64(g, lies[i].at, before);
	}
}

/* A kernel that lists init_task lists all: nothing is searched for. */
static void a_kernel_with_data_symbols_is_left_alone(void **state)
{
	struct guest_fixture *g = *state;

	uint64_t listed = rename_symbol(g, NULL, "init_task");
	struct vp_guest *guest = open_guest(g);
	assert_symbol(guest, "init_task", listed);
	assert_symbol(guest, "init_net", 0);
	assert_symbol(guest, "modules", 0);
	assert_null(strstr(vp_guest_note(guest), NOTE));
	vp_guest_destroy(guest);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(exports_have_symbols, setup, teardown),
		cmocka_unit_test_setup_teardown(a_value_outside_the_image_is_none, setup, teardown),
		cmocka_unit_test_setup_teardown(a_table_of_too_few_is_none, setup, teardown),
		cmocka_unit_test_setup_teardown(modules_and_stack_tables_have_symbols, setup, teardown),
		cmocka_unit_test_setup_teardown(lists_that_lie_are_none, setup, teardown),
		cmocka_unit_test_setup_teardown(a_kernel_with_data_symbols_is_left_alone, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
