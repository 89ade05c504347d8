/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/planner/places: text that a kernel patches or excludes from probing, read from a synthetic guest.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "btf_builder.h"
#include "guest_fixture.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/planner/places.h"
#include "vmm-probe/planner/planner.h"

#define NOINSTR   (GUEST_BASE + 0x40000)
#define CALL_TEXT (GUEST_BASE + 0x41000)
#define JUMPS     (GUEST_BASE + 0x50000)
#define CALLS     (GUEST_BASE + 0x50100)
#define BLACKLIST (GUEST_BASE + 0x50200)
#define ENTRIES   (GUEST_BASE + 0x50300) /* of the blacklist */
#define BTF       (GUEST_BASE + 0x60000)
#define CODE      (GUEST_BASE + 0x20000)
#define MODULE    GUEST_MODULES
#define MODULES   (GUEST_BASE + 0x6000)

static const struct ks_layout layout = { VP_KALLSYMS_PERCPU, true, true, 4, false };

static void put32(struct guest_fixture *g, uint64_t gva, uint64_t value)
{
	uint32_t v = (uint32_t)value;

	memcpy(guest_at(g, gva), &v, sizeof(v));
}

/* A distance from the word itself to @to. */
static void put_distance(struct guest_fixture *g, uint64_t gva, uint64_t to)
{
	put32(g, gva, to - gva);
}

static void put_jump(struct guest_fixture *g, uint64_t entry, uint64_t code)
{
	put_distance(g, entry, code);
	put_distance(g, entry + 4, code + 0x40);
	guest_put64(g, entry + 8, 0x1000);
}

static void write_btf(struct guest_fixture *g)
{
	struct btf_builder b;
	struct ot_buf blob = { 0 };

	btf_builder_init(&b, NULL);
	uint32_t u8 = btf_add_int(&b, "u8", 1, 0), u32 = btf_add_int(&b, "u32", 4, 0);
	uint32_t u64 = btf_add_int(&b, "u64", 8, 0), name = btf_add_array(&b, u8, 56);
	uint32_t list = btf_add(&b, "list_head", BTF_KIND_STRUCT, 2, 0, 16);
	btf_add_member(&b, "next", u64, 0);
	btf_add_member(&b, "prev", u64, 64);
	btf_add(&b, "jump_entry", BTF_KIND_STRUCT, 3, 0, 16);
	btf_add_member(&b, "code", u32, 0);
	btf_add_member(&b, "target", u32, 32);
	btf_add_member(&b, "key", u64, 64);
	btf_add(&b, "kprobe_blacklist_entry", BTF_KIND_STRUCT, 3, 0, 32);
	btf_add_member(&b, "list", list, 0);
	btf_add_member(&b, "start_addr", u64, 128);
	btf_add_member(&b, "end_addr", u64, 192);
	uint32_t layout_id = btf_add(&b, "module_layout", BTF_KIND_STRUCT, 2, 0, 16);
	btf_add_member(&b, "base", u64, 0);
	btf_add_member(&b, "size", u32, 64);
	btf_add(&b, "module", BTF_KIND_STRUCT, 8, 0, 256);
	btf_add_member(&b, "state", u32, 0);
	btf_add_member(&b, "list", list, 64);
	btf_add_member(&b, "name", name, 192);
	btf_add_member(&b, "core_layout", layout_id, 1024);
	btf_add_member(&b, "jump_entries", u64, 1152);
	btf_add_member(&b, "num_jump_entries", u32, 1216);
	btf_add_member(&b, "static_call_sites", u64, 1280);
	btf_add_member(&b, "num_static_call_sites", u32, 1344);
	btf_finish(&b, &blob);
	memcpy(guest_at(g, BTF), blob.data, blob.len);
	g->syms[KS_SYMBOLS - 1].addr = BTF + blob.len;
	ot_buf_deinit(&blob);
	btf_builder_deinit(&b);
}

/* The last symbols by address get the names that the planner searches for. */
static void write_symbols(struct guest_fixture *g)
{
	static const struct ks_symbol symbols[] = {
		{ NOINSTR, 'T', "__noinstr_text_start" },
		{ NOINSTR + 0x100, 'T', "__noinstr_text_end" },
		{ CALL_TEXT, 'T', "__static_call_text_start" },
		{ CALL_TEXT + 0x100, 'T', "__static_call_text_end" },
		{ JUMPS, 'D', "__start___jump_table" },
		{ JUMPS + 0x20, 'D', "__stop___jump_table" },
		{ CALLS, 'D', "__start_static_call_sites" },
		{ CALLS + 8, 'D', "__stop_static_call_sites" },
		{ BLACKLIST, 'd', "kprobe_blacklist" },
		{ BTF, 'R', "__start_BTF" },
		{ BTF, 'R', "__stop_BTF" },
	};
	struct ks_symbol *at = &g->syms[KS_SYMBOLS - OT_ARRAY_SIZE(symbols)];

	memcpy(at, symbols, sizeof(symbols));
	write_btf(g);
	ks_write(&layout, guest_at(g, GUEST_BASE), GUEST_IMAGE, GUEST_KS_OFF, GUEST_BASE, g->syms, &g->ks);
}

static void write_module(struct guest_fixture *g)
{
	guest_put64(g, MODULES, MODULE + 8);
	guest_put64(g, MODULES + 8, MODULE + 8);
	guest_put64(g, MODULE + 8, MODULES);
	guest_put64(g, MODULE + 16, MODULES);
	strcpy((char *)guest_at(g, MODULE + 24), "nbd");
	guest_put64(g, MODULE + 128, MODULE);
	put32(g, MODULE + 136, 0x8000);
	guest_put64(g, MODULE + 144, MODULE + 0x2000);
	put32(g, MODULE + 152, 1);
	guest_put64(g, MODULE + 160, MODULE + 0x2100);
	put32(g, MODULE + 168, 1);
	put_jump(g, MODULE + 0x2000, MODULE + 0x4000);
	put_distance(g, MODULE + 0x2100, MODULE + 0x4100);
}

struct world {
	struct guest_fixture g;
	struct vp_guest *guest;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	assert_non_null(w);
	guest_fixture_init(&w->g, &layout, 4);
	write_symbols(&w->g);
	write_module(&w->g);
	put_jump(&w->g, JUMPS, CODE + 0x100);
	put_jump(&w->g, JUMPS + 0x10, CODE + 0x10);
	put_distance(&w->g, CALLS, CODE + 0x200);
	/* two entries */
	guest_put64(&w->g, BLACKLIST, ENTRIES);
	guest_put64(&w->g, ENTRIES, ENTRIES + 0x20);
	guest_put64(&w->g, ENTRIES + 16, CODE + 0x300);
	guest_put64(&w->g, ENTRIES + 24, CODE + 0x340);
	guest_put64(&w->g, ENTRIES + 0x20, BLACKLIST);
	guest_put64(&w->g, ENTRIES + 0x30, CODE + 0x1000);
	guest_put64(&w->g, ENTRIES + 0x38, CODE + 0x1400);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	vp_guest_destroy(w->guest);
	guest_fixture_deinit(&w->g);
	free(w);
	return 0;
}

static struct vp_places read_places(struct world *w)
{
	struct vp_regs regs = guest_regs(&w->g, GUEST_CR3);
	struct vp_guest_opts opts = { .phys = w->g.phys, .regs = &regs, .nregs = 1 };
	struct vp_places p;

	assert_ok(vp_guest_open(&opts, &w->guest));
	assert_non_null(vp_guest_btf(w->guest));
	assert_ok(vp_places_read(w->guest, &p));
	return p;
}

static void is(const struct vp_places *p, uint64_t gva, uint8_t len, const char *why)
{
	const char *found = vp_places_find(p, gva, len);

	if (!why && found)
		fail_msg("%s at +0x%llx", found, (unsigned long long)(gva - GUEST_BASE));
	if (why && (!found || !strstr(found, why)))
		fail_msg("%s at +0x%llx, not %s", found ? found : "nothing",
			 (unsigned long long)(gva - GUEST_BASE), why);
}

static void tables(void **state)
{
	struct world *w = *state;
	struct vp_places p = read_places(w);

	is(&p, CODE + 0x100, 5, "static key");
	is(&p, CODE + 0x10, 2, "static key");
	is(&p, CODE + 0x200, 5, "static call");
	is(&p, MODULE + 0x4000, 5, "static key");
	is(&p, MODULE + 0x4100, 5, "static call");
	/* in front of it and behind it: other instructions */
	is(&p, CODE + 0xfb, 5, NULL);
	is(&p, CODE + 0xfc, 5, "static key");
	is(&p, CODE + 0x105, 3, NULL);
	is(&p, CODE + 0x140, 1, NULL); /* where the key jumps to */
	/* a single instruction is no whole function */
	assert_null(vp_places_function(&p, CODE + 0x100));
	vp_places_deinit(&p);
}

static void functions(void **state)
{
	struct world *w = *state;
	struct vp_places p = read_places(w);

	is(&p, NOINSTR, 5, "noinstr");
	is(&p, NOINSTR + 0xff, 1, "noinstr");
	is(&p, NOINSTR + 0x100, 5, NULL);
	is(&p, CALL_TEXT + 8, 5, "trampoline");
	is(&p, CODE + 0x2ff, 1, NULL);
	is(&p, CODE + 0x300, 5, "blacklist");
	is(&p, CODE + 0x33f, 1, "blacklist");
	is(&p, CODE + 0x340, 1, NULL);
	is(&p, CODE + 0x13ff, 5, "blacklist");
	assert_non_null(strstr(vp_places_function(&p, CODE + 0x1000), "blacklist"));
	assert_null(vp_places_function(&p, CODE + 0x1400));
	vp_places_deinit(&p);
}

/* Places overlap: all of them are checked. */
static void nested(void **state)
{
	struct world *w = *state;

	guest_put64(&w->g, ENTRIES + 16, CODE);
	guest_put64(&w->g, ENTRIES + 24, CODE + 0x2000);
	struct vp_places p = read_places(w);
	is(&p, CODE + 0x1800, 1, "blacklist");
	is(&p, CODE + 0x2000, 1, NULL);
	assert_non_null(vp_places_function(&p, CODE + 0x100));
	vp_places_deinit(&p);
}

static void a_planner_says_so(void **state)
{
	struct world *w = *state;
	struct vp_places p = read_places(w);
	struct vp_batch_site site = { .gva = CODE + 0x10, .length = 5, .room = 5 };
	struct vp_planner *planner;

	vp_places_deinit(&p);
	memcpy(site.bytes, "\x0f\x1f\x44\x00\x00", 5);
	assert_ok(vp_planner_create(w->guest, VP_TRAPS_TEXT, VP_WISH_AUTO, &planner));
	struct vp_verdict v = vp_planner_site(planner, &site);
	assert_int_equal(v.kind, VP_PLAN_REFUSE);
	assert_string_equal(v.why, "a static key is patched there");
	site.gva += 0x20;
	assert_int_equal(vp_planner_site(planner, &site).kind, VP_PLAN_NATIVE);
	assert_non_null(vp_planner_function(planner, NOINSTR + 0x10));
	vp_planner_destroy(planner);
}

static void decides(struct vp_planner *planner, uint64_t code, uint64_t target, const char *why)
{
	struct vp_batch_site site = { .gva = code, .target = target, .length = 5, .room = 5 };

	memcpy(site.bytes, "\x0f\x1f\x44\x00\x00", 5);
	struct vp_verdict v = vp_planner_site(planner, &site);
	assert_int_equal(v.kind, why ? VP_PLAN_REFUSE : VP_PLAN_NATIVE);
	if (why)
		assert_non_null(strstr(v.why, why));
}

/* A trap that can be on both of its forms may be on a static key's branch, and on nothing else there. */
static void branches(void **state)
{
	struct world *w = *state;
	struct vp_places p = read_places(w);
	struct vp_planner *planner;

	vp_places_deinit(&p);
	put_jump(&w->g, JUMPS + 0x10, CODE + 0x310); /* on the blacklist */
	put_distance(&w->g, CALLS, MODULE + 0x4000);
	assert_ok(vp_planner_create(w->guest, VP_TRAPS_TEXT, VP_WISH_AUTO, &planner));
	decides(planner, CODE + 0x100, CODE + 0x140, NULL);
	decides(planner, CODE + 0x100, CODE + 0x141, "static key");
	decides(planner, CODE + 0x101, CODE + 0x140, "static key");
	decides(planner, CODE + 0x100, 0, "static key");
	decides(planner, CODE + 0x310, CODE + 0x350, "blacklist");
	decides(planner, MODULE + 0x4000, MODULE + 0x4040, "static call");
	vp_planner_destroy(planner);
}

/* What can't be: lists without end or into nowhere, tables that end before they begin or are not mapped. */
static void lies(void **state)
{
	struct world *w = *state;

	guest_put64(&w->g, ENTRIES + 0x20, ENTRIES); /* never back to the head */
	put32(&w->g, MODULE + 152, 0xffffffff);
	guest_put64(&w->g, MODULE + 160, 0x1234);
	struct vp_places p = read_places(w);
	is(&p, CODE + 0x300, 5, "blacklist");
	is(&p, CODE + 0x100, 5, "static key");
	is(&p, MODULE + 0x4000, 5, NULL);
	is(&p, MODULE + 0x4100, 5, NULL);
	vp_places_deinit(&p);
	vp_guest_destroy(w->guest);

	guest_put64(&w->g, ENTRIES + 0x20, 0x10);
	guest_put64(&w->g, ENTRIES + 24, CODE + 0x2ff); /* ends before it begins */
	p = read_places(w);
	is(&p, CODE + 0x300, 5, NULL);
	is(&p, CODE + 0x1000, 5, "blacklist");
	vp_places_deinit(&p);
}

static struct ot_err *places_error(struct world *w)
{
	struct vp_regs regs = guest_regs(&w->g, GUEST_CR3);
	struct vp_guest_opts opts = { .phys = w->g.phys, .regs = &regs, .nregs = 1 };
	struct vp_planner *planner;

	assert_ok(vp_guest_open(&opts, &w->guest));
	return vp_planner_create(w->guest, VP_TRAPS_TEXT, VP_WISH_AUTO, &planner);
}

/* A place that is not known would not be refused. */
static void too_many_places_are_an_error(void **state)
{
	struct world *w = *state;

	guest_put64(&w->g, MODULE + 144, GUEST_BASE);
	put32(&w->g, MODULE + 152, GUEST_IMAGE / 16);
	guest_put64(&w->g, MODULE + 160, GUEST_BASE);
	put32(&w->g, MODULE + 168, GUEST_IMAGE / 8);
	assert_err(places_error(w), OT_ERR_LIMIT, "more than 524288 places");
}

static void a_place_longer_than_a_kernel_is_an_error(void **state)
{
	struct world *w = *state;

	guest_put64(&w->g, ENTRIES + 16, 0);
	guest_put64(&w->g, ENTRIES + 24, UINT64_MAX);
	assert_err(places_error(w), OT_ERR_BAD_DATA, "from 0x0 to 0xffffffffffffffff");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(tables, setup, teardown),
		cmocka_unit_test_setup_teardown(functions, setup, teardown),
		cmocka_unit_test_setup_teardown(nested, setup, teardown),
		cmocka_unit_test_setup_teardown(a_planner_says_so, setup, teardown),
		cmocka_unit_test_setup_teardown(branches, setup, teardown),
		cmocka_unit_test_setup_teardown(lies, setup, teardown),
		cmocka_unit_test_setup_teardown(too_many_places_are_an_error, setup, teardown),
		cmocka_unit_test_setup_teardown(a_place_longer_than_a_kernel_is_an_error, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
