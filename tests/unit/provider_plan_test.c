/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmm-probe/provider with a planner: which probes of a synthetic guest's functions there are, and why not the
 * others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "provider_fixture.h"

static const struct ks_layout layout = { VP_KALLSYMS_PERCPU, true, true, 4, false };

/* Symbol number n has a function of 32 bytes, and shares it with n + 1. */
#define FIRST 100u
#define NAME  "func_100"

static uint8_t *code(struct world *w)
{
	return guest_at(&w->g, w->g.syms[FIRST].addr);
}

static void write_code(struct world *w, const void *bytes, size_t len)
{
	memset(code(w), 0xcc, 32);
	memcpy(code(w), bytes, len);
}

#define CODE(w, bytes) write_code(w, bytes, sizeof(bytes) - 1)

static int setup(void **state)
{
	struct world *w = world_create(&layout);

	assert_string_equal(w->g.syms[FIRST].name, NAME);
	world_open(w);
	assert_ok(vp_probes_create(w->guest, &w->probes));
	*state = w;
	return 0;
}

/* The reason, "" for none; requested again each time. */
static const char *refused(struct world *w, const char *name)
{
	struct dif_probedesc desc = {
		.guest = "", .provider = "fbt", .module = "", .function = NAME, .name = name
	};
	const struct vp_probe *probe = NULL;
	uint64_t with, without;

	vp_probes_forget_text(w->probes);
	assert_ok(vp_probes_match(w->probes, &desc, false, NULL, NULL, &without));
	assert_ok(vp_probes_match(w->probes, &desc, true, remember, &probe, &with));
	assert_int_equal(with, 1);
	assert_int_equal(without, !probe->refused);
	return probe->refused ? probe->refused : "";
}

static void says(struct world *w, const char *name, const char *why)
{
	const char *found = refused(w, name);

	if (*why ? !strstr(found, why) : *found)
		fail_msg("%s: '%s', not '%s'", name, found, why);
}

static void without_a_planner_nothing_is_refused(void **state)
{
	struct world *w = *state;

	CODE(w, "\x0f\x31\xc3");
	says(w, "entry", "");
	says(w, "return", "");
}

static void verdicts(void **state)
{
	struct world *w = *state;

	assert_ok(vp_probes_plan(w->probes, VP_TRAPS_TEXT, VP_WISH_AUTO, NULL));
	CODE(w, "\x0f\x1f\x44\x00\x00\x31\xc0\xc3");
	says(w, "entry", "");
	says(w, "return", "");
	CODE(w, "\x0f\x31\xc3"); /* rdtsc */
	says(w, "entry", "`rdtsc`: a system instruction");
	says(w, "return", "");
	CODE(w, "\x55\x5d\xc3");
	says(w, "entry", "one byte");
	/* two ways out, one of them far: none of the return probe */
	CODE(w, "\x48\x85\xff\x74\x01\xc3\x48\xcb");
	says(w, "return", "exit 1 of 2, at +0x5: an instruction of one byte");
	CODE(w, "\x48\x85\xff\x74\x02\xc3\xcc\x48\xcb");
	says(w, "return", "exit 2 of 2, at +0x7: `retfq`");
	/* ret alone: entry and return are one place, and it has the room of both */
	CODE(w, "\xc3");
	says(w, "entry", "");
	says(w, "return", "");
}

static void branches(void **state)
{
	struct world *w = *state;

	assert_ok(vp_probes_plan(w->probes, VP_TRAPS_TEXT | VP_TRAPS_INT3, VP_WISH_AUTO, NULL));
	/* dec %rdi; jnz back to it; ret */
	CODE(w, "\x48\xff\xcf\x75\xfb\xc3");
	says(w, "entry", "a jump target inside the function");
	/* the nop in front of the loop makes it an entry */
	CODE(w, "\x0f\x1f\x44\x00\x00\x48\xff\xcf\x75\xfb\xc3");
	says(w, "entry", "");
	/* jz to the int3 behind the ret, which a trap there would cover */
	CODE(w, "\x48\x85\xff\x74\x01\xc3\xcc\xc3");
	says(w, "return", "a branch targets the middle of its exit at +0x5");
	CODE(w, "\x48\x85\xff\x74\x02\xc3\xcc\xc3");
	says(w, "return", "");
}

/* How much of the padding behind its only ret is the site's. */
static uint8_t room_of(struct world *w)
{
	struct dif_probedesc desc = {
		.guest = "", .provider = "fbt", .module = "", .function = NAME, .name = "return"
	};
	const struct vp_probe *probe = NULL;
	struct vp_batch_site *sites;
	uint64_t count;
	uint32_t n;

	vp_probes_forget_text(w->probes);
	assert_ok(vp_probes_match(w->probes, &desc, false, remember, &probe, &count));
	assert_ok(vp_probes_sites(w->probes, probe, &sites, &n));
	assert_int_equal(n, 1);
	uint8_t room = sites[0].room;
	free(sites);
	return room;
}

/* As much as a jump takes, up to where something else begins, or a branch leads. */
static void padding(void **state)
{
	struct world *w = *state;

	assert_ok(vp_probes_plan(w->probes, VP_TRAPS_TEXT | VP_TRAPS_INT3, VP_WISH_AUTO, NULL));
	CODE(w, "\x31\xc0\xc3\xcc\xcc\xcc\xcc\xcc");
	assert_int_equal(room_of(w), 5);
	CODE(w, "\x31\xc0\xc3\xcc\xcc\xcc\x90");
	assert_int_equal(room_of(w), 4);
	CODE(w, "\x31\xc0\xc3\x90");
	assert_int_equal(room_of(w), 1);
	/* jz to the ret; then to the third byte of its padding */
	CODE(w, "\x85\xff\x74\x02\x31\xc0\xc3\xcc\xcc\xcc\xcc");
	assert_int_equal(room_of(w), 5);
	CODE(w, "\x85\xff\x74\x05\x31\xc0\xc3\xcc\xcc\xcc\xcc");
	assert_int_equal(room_of(w), 3);
}

/* Symbol FIRST + 2 is the function's unlikely part, which jumps back into it. */
static int setup_cold(void **state)
{
	struct world *w = world_create(&layout);

	strcpy(w->g.syms[FIRST + 2].name, NAME ".cold");
	ks_write(&layout, guest_at(&w->g, GUEST_BASE), GUEST_IMAGE, GUEST_KS_OFF, GUEST_BASE, w->g.syms,
		 &w->g.ks);
	world_open(w);
	assert_ok(vp_probes_create(w->guest, &w->probes));
	*state = w;
	return 0;
}

/* jz to the unlikely part; xor; ret and padding. That part: jmp to @to in the function. */
static void write_parts(struct world *w, uint32_t to)
{
	const uint64_t function = w->g.syms[FIRST].addr, cold = w->g.syms[FIRST + 2].addr;
	const uint32_t there = (uint32_t)(cold - function - 8), back = (uint32_t)(function + to - cold - 5);
	uint8_t *at = guest_at(&w->g, cold);

	CODE(w, "\x85\xff\x0f\x84....\x31\xc0\xc3\xcc\xcc\xcc\xcc");
	memcpy(code(w) + 4, &there, sizeof(there));
	memset(at, 0xcc, 32);
	at[0] = 0xe9;
	memcpy(at + 1, &back, sizeof(back));
}

/* Branches from there lead into the padding too. */
static void padding_and_parts(void **state)
{
	struct world *w = *state;

	assert_ok(vp_probes_plan(w->probes, VP_TRAPS_TEXT | VP_TRAPS_INT3, VP_WISH_AUTO, NULL));
	write_parts(w, 8); /* before the ret */
	assert_int_equal(room_of(w), 5);
	write_parts(w, 10); /* to it */
	assert_int_equal(room_of(w), 5);
	write_parts(w, 13);
	assert_int_equal(room_of(w), 3);
	write_parts(w, 11);
	says(w, "return", "a branch targets the middle of its exit at +0xa");
	write_parts(w, 15); /* behind what a jump takes */
	assert_int_equal(room_of(w), 5);
}

/* A decision is kept until a change of the text is reported. */
static void decisions_are_kept(void **state)
{
	struct world *w = *state;
	struct dif_probedesc desc = {
		.guest = "", .provider = "fbt", .module = "", .function = NAME, .name = "entry"
	};
	struct vp_batch_site *sites;
	const struct vp_probe *probe;
	uint64_t count;
	uint32_t n;

	assert_ok(vp_probes_plan(w->probes, VP_TRAPS_TEXT, VP_WISH_AUTO, NULL));
	CODE(w, "\x0f\x1f\x44\x00\x00\xc3");
	says(w, "entry", "");
	CODE(w, "\xe8\x00\x00\x00\x00\xc3"); /* ftrace is turned on there */
	assert_ok(vp_probes_match(w->probes, &desc, false, remember, &probe, &count));
	assert_ok(vp_probes_sites(w->probes, probe, &sites, &n));
	assert_int_equal(n, 1);
	assert_int_equal(sites[0].bytes[0], 0x0f);
	free(sites);
	vp_probes_forget_text(w->probes);
	assert_ok(vp_probes_sites(w->probes, probe, &sites, &n));
	assert_int_equal(sites[0].bytes[0], 0xe8);
	assert_int_equal(sites[0].trap, VP_SITE_TEXT);
	free(sites);
	CODE(w, "\x0f\x31\xc3");
	vp_probes_forget_text(w->probes);
	assert_err(vp_probes_sites(w->probes, probe, &sites, &n), OT_ERR_UNSUPPORTED, "`rdtsc`");
	/* and back */
	CODE(w, "\x0f\x1f\x44\x00\x00\xc3");
	says(w, "entry", "");
	/* another wish, another plan */
	assert_ok(vp_probes_plan(w->probes, VP_TRAPS_TEXT | VP_TRAPS_STEP | VP_TRAPS_HW, VP_WISH_HW, NULL));
	assert_ok(vp_probes_sites(w->probes, probe, &sites, &n));
	assert_int_equal(sites[0].trap, VP_SITE_HW);
	free(sites);
	assert_err(vp_probes_plan(w->probes, VP_TRAPS_TEXT, VP_WISH_HW, NULL), OT_ERR_UNSUPPORTED,
		   "debug registers");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(without_a_planner_nothing_is_refused, setup, world_destroy),
		cmocka_unit_test_setup_teardown(verdicts, setup, world_destroy),
		cmocka_unit_test_setup_teardown(branches, setup, world_destroy),
		cmocka_unit_test_setup_teardown(padding, setup, world_destroy),
		cmocka_unit_test_setup_teardown(padding_and_parts, setup_cold, world_destroy),
		cmocka_unit_test_setup_teardown(decisions_are_kept, setup, world_destroy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
