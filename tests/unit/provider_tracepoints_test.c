/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tracepoints of a synthetic guest: which of its tables' entries become sites, and which never do. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "btf_builder.h"
#include "pace.h"
#include "provider_fixture.h"
#include "vmm-probe/arch/native.h"
#include "vmm-probe/planner/planner.h"
#include "vmm-probe/provider/sentinels.h"

#define TRACED    (GUEST_BASE + 0x40000) /* a function of 256 bytes */
#define TP        (GUEST_BASE + 0x48000) /* its tracepoint */
#define TP_NAME   (GUEST_BASE + 0x48200)
#define CALL_KEY  (GUEST_BASE + 0x49000)
#define QUEUE     (GUEST_BASE + 0x42000) /* the functions that patch branches on static keys */
#define APPLY     (GUEST_BASE + 0x42100)
#define JUMPS     (GUEST_BASE + 0x50000)
#define CALLS     (GUEST_BASE + 0x50100)
#define BTF       (GUEST_BASE + 0x60000)
#define SITE      (TRACED + 6)
#define COLD      (TRACED + 0x20)
#define EVENT     (COLD + 8)
#define MUTATIONS pace_rounds(500, 10000)

static const struct ks_layout layout = { VP_KALLSYMS_PERCPU, true, true, 4, false };

static const uint8_t code[] = {
	0x0f, 0x1f, 0x44, 0x00, 0x00, /* nop, ftrace's */
	0x53,                         /* push %rbx */
	0x0f, 0x1f, 0x44, 0x00, 0x00, /* nop, the tracepoint's */
	0x5b,                         /* pop %rbx */
	0xc3,                         /* ret */
};

static const uint8_t cold[] = {
	0x48, 0x89, 0xda,             /* mov %rbx,%rdx */
	0xbe, 0x05, 0x00, 0x00, 0x00, /* mov $5,%esi */
	0xe8, 0x53, 0x00, 0x00, 0x00, /* call +0x80 */
	0xe9, 0xd9, 0xff, 0xff, 0xff, /* jmp +0xb */
};

static const uint8_t queue[] = {
	0x0f, 0x1f, 0x44, 0x00, 0x00,       /* nop, ftrace's */
	0x55,                               /* push %rbp */
	0x8b, 0x05, 0x00, 0x10, 0x00, 0x00, /* mov 0x1000(%rip),%eax */
	0x48, 0x89, 0xfb,                   /* mov %rdi,%rbx */
	0x5d,                               /* pop %rbp */
	0xc3,                               /* ret */
};

static const uint8_t apply[] = {
	0x0f, 0x1f, 0x44, 0x00, 0x00, /* nop, ftrace's */
	0x85, 0xff,                   /* test %edi,%edi */
	0x74, 0x02,                   /* je +0xb */
	0xc3, 0xcc,                   /* ret */
	0xc3, 0xcc,                   /* ret */
};

static void put_distance(struct guest_fixture *g, uint64_t gva, uint64_t to)
{
	uint32_t v = (uint32_t)(to - gva);

	memcpy(guest_at(g, gva), &v, sizeof(v));
}

static void write_btf(struct guest_fixture *g)
{
	struct btf_builder b;
	struct ot_buf blob = { 0 };

	btf_builder_init(&b, NULL);
	uint32_t u64 = btf_add_int(&b, "u64", 8, 0), i32 = btf_add_int(&b, "int", 4, BTF_INT_SIGNED);
	uint32_t proto = btf_add(&b, "", BTF_KIND_FUNC_PROTO, 3, 0, 0);
	btf_add_words(&b, 6, 0u, u64, 0u, i32, 0u, u64);
	uint32_t pointer = btf_add(&b, "", BTF_KIND_PTR, 0, 0, proto);
	btf_add(&b, "btf_trace_event", BTF_KIND_TYPEDEF, 0, 0, pointer);
	btf_add(&b, "tracepoint", BTF_KIND_STRUCT, 5, 0, 80);
	btf_add_member(&b, "name", u64, 0);
	btf_add_member(&b, "key", u64, 64);
	btf_add_member(&b, "static_call_key", u64, 192);
	btf_add_member(&b, "regfunc", u64, 448);
	btf_add_member(&b, "funcs", u64, 576);
	btf_finish(&b, &blob);
	memcpy(guest_at(g, BTF), blob.data, blob.len);
	g->syms[KS_SYMBOLS - 1].addr = BTF + blob.len;
	ot_buf_deinit(&blob);
	btf_builder_deinit(&b);
}

static void write_symbols(struct guest_fixture *g)
{
	static const struct ks_symbol symbols[] = {
		{ TRACED, 'T', "traced" },
		{ TRACED + 0x100, 'T', "behind" },
		{ TRACED + 0x200, 'T', "_etext" },
		{ QUEUE, 'T', "arch_jump_label_transform_queue" },
		{ APPLY, 'T', "arch_jump_label_transform_apply" },
		{ APPLY + 0x100, 'T', "behind_it" },
		{ TP, 'D', "__tracepoint_event" },
		{ TP + 0x100, 'D', "__tracepoint_ptr_event" }, /* no tracepoint */
		{ TP + 0x800, 'd', "jump_label_mutex" },
		{ JUMPS, 'D', "__start___jump_table" },
		{ JUMPS + 32, 'D', "__stop___jump_table" },
		{ CALLS, 'D', "__start_static_call_sites" },
		{ CALLS + 8, 'D', "__stop_static_call_sites" },
		{ BTF, 'R', "__start_BTF" },
		{ BTF, 'R', "__stop_BTF" },
	};

	memcpy(&g->syms[KS_SYMBOLS - OT_ARRAY_SIZE(symbols)], symbols, sizeof(symbols));
	write_btf(g);
	ks_write(&layout, guest_at(g, GUEST_BASE), GUEST_IMAGE, GUEST_KS_OFF, GUEST_BASE, g->syms, &g->ks);
}

static void put_jump(struct guest_fixture *g, uint64_t entry, uint64_t at, uint64_t target, uint64_t key)
{
	put_distance(g, entry, at);
	put_distance(g, entry + 4, target);
	guest_put64(g, entry + 8, key - (entry + 8));
}

/* As a good kernel has them: one entry of the tracepoint, one of another key. */
static void write_tables(struct guest_fixture *g)
{
	memset(guest_at(g, TRACED), 0xcc, 0x200);
	memcpy(guest_at(g, TRACED), code, sizeof(code));
	memcpy(guest_at(g, COLD), cold, sizeof(cold));
	memset(guest_at(g, QUEUE), 0xcc, 0x200);
	memcpy(guest_at(g, QUEUE), queue, sizeof(queue));
	memcpy(guest_at(g, APPLY), apply, sizeof(apply));
	memset(guest_at(g, TP), 0, 0x200);
	guest_put64(g, TP, TP_NAME);
	guest_put64(g, TP + 24, CALL_KEY);
	strcpy((char *)guest_at(g, TP_NAME), "event");
	put_jump(g, JUMPS, SITE, COLD, TP + 8);
	put_jump(g, JUMPS + 16, TRACED, COLD, TP + 0x80);
	put_distance(g, CALLS, EVENT);
	put_distance(g, CALLS + 4, CALL_KEY);
}

static int setup(void **state)
{
	struct world *w = world_create(&layout);

	write_symbols(&w->g);
	write_tables(&w->g);
	world_open(w);
	*state = w;
	return 0;
}

/* A kernel that does not list its table of branches on static keys. */
static int setup_unlisted(void **state)
{
	struct world *w = world_create(&layout);
	struct ks_symbol *at = &w->g.syms[KS_SYMBOLS - 1];

	write_symbols(&w->g);
	write_tables(&w->g);
	while (strcmp(at->name, "__start___jump_table") != 0)
		at--;
	strcpy(at->name, "unknown");
	ks_write(&layout, guest_at(&w->g, GUEST_BASE), GUEST_IMAGE, GUEST_KS_OFF, GUEST_BASE, w->g.syms,
		 &w->g.ks);
	world_open(w);
	*state = w;
	return 0;
}

/* The tracepoint's probe, the guest read again; NULL: there is none. @traps: what is planned with; 0: nothing
 * is.
 */
static const struct vp_probe *planned(struct world *w, const char *provider, uint32_t traps,
				      enum vp_trap_wish wish)
{
	struct dif_probedesc desc = {
		.guest = "", .provider = provider, .module = "", .function = "", .name = "event"
	};
	const struct vp_probe *found = NULL;
	uint64_t count;

	vp_probes_destroy(w->probes);
	w->probes = NULL;
	assert_ok(vp_probes_create(w->guest, &w->probes));
	if (traps)
		assert_ok(vp_probes_plan(w->probes, traps, wish, NULL));
	assert_ok(vp_probes_match(w->probes, &desc, true, remember, &found, &count));
	return found;
}

static const struct vp_probe *probe(struct world *w, const char *provider)
{
	return planned(w, provider, 0, VP_WISH_AUTO);
}

static void is_refused(struct world *w, const char *why)
{
	const struct vp_probe *p = probe(w, "sdt");

	assert_non_null(p);
	if (!p->refused || !strstr(p->refused, why))
		fail_msg("'%s', not '%s'", p->refused ? p->refused : "", why);
	write_tables(&w->g);
}

/* The one site of the probe. */
static struct vp_batch_site site_of(struct world *w, const struct vp_probe *p)
{
	struct vp_batch_site *sites, site;
	uint32_t n;

	assert_non_null(p);
	assert_null(p->refused);
	assert_ok(vp_probes_sites(w->probes, p, &sites, &n));
	assert_int_equal(n, 1);
	site = sites[0];
	free(sites);
	return site;
}

static void found(void **state)
{
	struct world *w = *state;
	const struct vp_probe *p = probe(w, "rawtp");

	assert_string_equal(p->module, "vmlinux");
	p = probe(w, "sdt");
	assert_string_equal(p->module, "vmlinux"); /* it has no trace event */
	struct vp_batch_site site = site_of(w, p);
	assert_int_equal(site.gva, SITE);
	assert_int_equal(site.length, 5);
	assert_memory_equal(site.bytes, code + 6, 5);
	const struct dif_clause *program = vp_probes_program(w->probes, site.raw);
	assert_non_null(program);
	assert_null(program->predicate);
	assert_int_equal(program->nactions, 2);
	assert_int_equal(program->actions[0].object->ints[0], 5);
	assert_int_equal(vp_probes_nargs(w->probes, p), 2);
	struct dif_probe_arg arg;
	assert_true(vp_probes_arg(w->probes, p, 1, &arg));
	assert_int_equal(arg.mapping, 1);
}

static void enabled_in_the_guest(void **state)
{
	static const uint8_t jump[] = { 0xe9, 0x15, 0x00, 0x00, 0x00 };
	struct world *w = *state;

	memcpy(guest_at(&w->g, SITE), jump, sizeof(jump));
	const struct vp_probe *p = probe(w, "sdt");
	struct vp_batch_site site = site_of(w, p);
	assert_int_equal(site.gva, SITE);
	assert_memory_equal(site.bytes, jump, sizeof(jump));
	/* it is disabled again: the text is read again */
	write_tables(&w->g);
	vp_probes_forget_text(w->probes);
	site = site_of(w, p);
	assert_memory_equal(site.bytes, code + 6, sizeof(jump));
}

static void refused(void **state)
{
	struct world *w = *state;

	put_jump(&w->g, JUMPS, SITE + 1, COLD, TP + 8);
	is_refused(w, "neither its nop nor its jump");
	put_jump(&w->g, JUMPS, GUEST_BASE + 0x700000, COLD, TP + 8);
	is_refused(w, "it is in no function");
	guest_at(&w->g, SITE)[0] = 0xe9; /* a jump to somewhere else */
	is_refused(w, "neither its nop nor its jump");
	/* the nop's bytes in the middle of an instruction: mov $…,%rax */
	memcpy(guest_at(&w->g, TRACED + 0x40), "\x48\xb8\x0f\x1f\x44\x00\x00\x00\x00\x00", 10);
	put_jump(&w->g, JUMPS, TRACED + 0x42, COLD, TP + 8);
	is_refused(w, "no instruction begins there");
	put_jump(&w->g, JUMPS, SITE, COLD, TP + 0x60);
	is_refused(w, "no code of the guest");
	put_distance(&w->g, CALLS, EVENT + 1);
	is_refused(w, "only while it is enabled");
	guest_put64(&w->g, TP + 56, TRACED);
	is_refused(w, "call a function");
}

/* Where text is changed, the kernel's own patching of the branch must be watched. */
static void trapped(void **state)
{
	struct world *w = *state;
	struct vp_batch_site *sites;
	uint32_t n;

	struct vp_batch_site site = site_of(w, planned(w, "sdt", VP_TRAPS_TEXT, VP_WISH_AUTO));
	assert_int_equal(site.gva, SITE);
	assert_int_equal(site.target, COLD);
	assert_int_equal(site.trap, VP_SITE_TEXT);
	assert_ok(vp_sentinels_find(w->probes, VP_TRAPS_TEXT,
				    &(struct vp_sentinels_wish){ .text = true, .keys = true }, &sites, &n));
	assert_int_equal(n, 3);
	assert_int_equal(sites[0].sentinel, VP_SENTINEL_KEY_ENTER);
	assert_int_equal(sites[0].gva, QUEUE + 6); /* of two bytes at least */
	assert_int_equal(sites[1].sentinel, VP_SENTINEL_KEY_LEAVE);
	assert_int_equal(sites[1].gva, APPLY + 9);
	assert_int_equal(sites[2].sentinel, VP_SENTINEL_KEY_LEAVE);
	assert_int_equal(sites[2].gva, APPLY + 11);
	free(sites);
	/* they cost an exit each: only with traps on branches */
	assert_ok(vp_sentinels_find(w->probes, VP_TRAPS_TEXT, &(struct vp_sentinels_wish){ .text = true },
				    &sites, &n));
	assert_int_equal(n, 0);
	free(sites);
}

static void is_unwatchable(struct world *w, const char *what)
{
	const struct vp_probe *p = planned(w, "sdt", VP_TRAPS_TEXT, VP_WISH_AUTO);

	assert_non_null(p);
	if (!p->refused || !strstr(p->refused, "a static key is patched there, and ") ||
	    !strstr(p->refused, what))
		fail_msg("'%s', not '%s'", p->refused ? p->refused : "", what);
	/* a debug register changes no text */
	p = planned(w, "sdt", VP_TRAPS_TEXT | VP_TRAPS_HW, VP_WISH_HW);
	assert_int_equal(site_of(w, p).trap, VP_SITE_HW);
	write_tables(&w->g);
}

static void unwatchable(void **state)
{
	struct world *w = *state;

	/* push %rdi; pop %rdi: the entry of the jump table may be another afterwards */
	memcpy(guest_at(&w->g, QUEUE + 5), "\x57\x5f", 2);
	is_unwatchable(w, "arch_jump_label_transform_queue() can't be watched");
	memcpy(guest_at(&w->g, QUEUE + 5), "\xe9\x00\x10\x00\x00", 5);
	is_unwatchable(w, "arch_jump_label_transform_queue() can't be watched");
	memcpy(guest_at(&w->g, APPLY + 9), "\xff\xe0", 2); /* jmp *%rax */
	is_unwatchable(w, "arch_jump_label_transform_apply() can't be watched");
	memcpy(guest_at(&w->g, APPLY + 11), "\xe9\xf0\x00\x00\x00", 5); /* others come to that exit too */
	is_unwatchable(w, "arch_jump_label_transform_apply() can't be watched");
}

static void nothing_is_changed_where_the_table_is_unlisted(void **state)
{
	struct world *w = *state;
	struct vp_batch_site *sites;
	uint32_t n;

	assert_ok(vp_probes_create(w->guest, &w->probes));
	assert_err(vp_sentinels_find(w->probes, VP_TRAPS_TEXT, &(struct vp_sentinels_wish){ .text = true },
				     &sites, &n),
		   OT_ERR_UNSUPPORTED, "__start___jump_table, its list of these places, is not among");
	assert_ok(vp_sentinels_find(w->probes, VP_TRAPS_HW, &(struct vp_sentinels_wish){ 0 }, &sites, &n));
	assert_int_equal(n, 0);
	free(sites);
	/* mappings are not reported, without an error */
	assert_ok(vp_sentinels_find(w->probes, 0, &(struct vp_sentinels_wish){ .maps = true }, &sites, &n));
	assert_int_equal(n, 0);
	free(sites);
}

static bool is_branch(struct world *w, const struct vp_batch_site *s)
{
	const uint8_t *at = guest_at(&w->g, s->gva);

	if (s->length == 2)
		return !memcmp(at, "\x66\x90", 2) || at[0] == 0xeb;
	return s->length == 5 && (!memcmp(at, code + 6, 5) || at[0] == 0xe9);
}

/* Damaged tables cost a probe; a site is always a branch on a static key. */
static void damaged(void **state)
{
	static const struct {
		uint64_t gva;
		unsigned size;
	} parts[] = { { JUMPS, 32 }, { CALLS, 8 }, { TP, 80 }, { TRACED, 0x40 }, { TP_NAME, 8 } };
	struct world *w = *state;
	unsigned sites_seen = 0;

	srand(13);
	for (unsigned i = 0; i < MUTATIONS; i++) {
		for (int n = rand() % 3; n >= 0; n--) {
			unsigned part = (unsigned)rand() % OT_ARRAY_SIZE(parts);
			unsigned at = (unsigned)rand() % parts[part].size;
			guest_at(&w->g, parts[part].gva)[at] = (uint8_t)(rand() % 4 ? rand() : rand() % 64);
		}
		const struct vp_probe *p = probe(w, "sdt");
		if (p && !p->refused) {
			struct vp_batch_site s = site_of(w, p);
			assert_true(s.gva >= TRACED && s.gva < TRACED + 0x100);
			assert_true(is_branch(w, &s));
			sites_seen++;
		}
		write_tables(&w->g);
	}
	assert_true(sites_seen > MUTATIONS / 20);
	assert_true(sites_seen < MUTATIONS);
}

/* The forms that the kernel gives a branch on a static key, and nothing else. */
static void branches(void **state)
{
	static const struct {
		uint8_t bytes[5], length;
	} all[] = {
		{ { 0x0f, 0x1f, 0x44, 0x00, 0x00 }, 5 }, { { 0x66, 0x66, 0x66, 0x66, 0x90 }, 5 },
		{ { 0xe9, 0x0b, 0x00, 0x00, 0x00 }, 5 }, { { 0xe9, 0x0c, 0x00, 0x00, 0x00 }, 0 },
		{ { 0x66, 0x90, 0x90, 0x90, 0x90 }, 2 }, { { 0xeb, 0x0e, 0x90, 0x90, 0x90 }, 2 },
		{ { 0xeb, 0x0f, 0x90, 0x90, 0x90 }, 0 }, { { 0x66, 0x66, 0x66, 0x90, 0x90 }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		assert_int_equal(vp_native_static_branch(all[i].bytes, 5, 16), all[i].length);
	assert_int_equal(vp_native_static_branch(all[1].bytes, 4, 16), 0);
	assert_int_equal(vp_native_static_branch(all[4].bytes, 2, 16), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(branches),
		cmocka_unit_test_setup_teardown(found, setup, world_destroy),
		cmocka_unit_test_setup_teardown(enabled_in_the_guest, setup, world_destroy),
		cmocka_unit_test_setup_teardown(refused, setup, world_destroy),
		cmocka_unit_test_setup_teardown(trapped, setup, world_destroy),
		cmocka_unit_test_setup_teardown(unwatchable, setup, world_destroy),
		cmocka_unit_test_setup_teardown(nothing_is_changed_where_the_table_is_unlisted,
						setup_unlisted, world_destroy),
		cmocka_unit_test_setup_teardown(damaged, setup, world_destroy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
