/* SPDX-License-Identifier: GPL-2.0-or-later */
/* vmstat, dtmalloc and single instructions of a synthetic guest: which bytes of its text are one, and what a
 * hostile list of caches costs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "btf_builder.h"
#include "provider_fixture.h"

#define COUNTS   (GUEST_BASE + 0x40000) /* a function of 256 bytes */
#define SLABS    (GUEST_BASE + 0x48000) /* the list's head */
#define CACHES   (GUEST_BASE + 0x48100)
#define NAMES    (GUEST_BASE + 0x49000)
#define BTF      (GUEST_BASE + 0x60000)
#define COUNTERS 0x1f00u /* in the per-CPU area */
#define NAME_AT  8u
#define LIST_AT  24u
#define CACHE    0x40u /* bytes of a struct kmem_cache here */

static const struct ks_layout layout = { VP_KALLSYMS_PERCPU, true, true, 4, false };

static void write_btf(struct guest_fixture *g)
{
	static const char *const items[] = { "PGPGIN", "HIDDEN", "BY_REGISTER", "NR_VM_EVENT_ITEMS" };
	struct btf_builder b;
	struct ot_buf blob = { 0 };

	btf_builder_init(&b, NULL);
	uint32_t u64 = btf_add_int(&b, "unsigned long", 8, 0);
	btf_add_int(&b, "long", 8, BTF_INT_SIGNED);
	btf_add(&b, "vm_event_item", BTF_KIND_ENUM, OT_ARRAY_SIZE(items), 0, 4);
	for (uint32_t i = 0; i < OT_ARRAY_SIZE(items); i++)
		btf_add_words(&b, 2, btf_add_string(&b, items[i]), i);
	btf_add(&b, "kmem_cache", BTF_KIND_STRUCT, 2, 0, CACHE);
	btf_add_member(&b, "name", u64, NAME_AT * 8);
	btf_add_member(&b, "list", u64, LIST_AT * 8);
	btf_finish(&b, &blob);
	memcpy(guest_at(g, BTF), blob.data, blob.len);
	g->syms[KS_SYMBOLS - 1].addr = BTF + blob.len;
	ot_buf_deinit(&blob);
	btf_builder_deinit(&b);
}

static void write_symbols(struct guest_fixture *g)
{
	static const struct ks_symbol symbols[] = {
		{ COUNTS, 'T', "counts" },         { COUNTS + 0x100, 'T', "behind" },
		{ COUNTS + 0x200, 'T', "_etext" }, { SLABS, 'D', "slab_caches" },
		{ SLABS + 16, 'D', "slab_mutex" }, { BTF, 'R', "__start_BTF" },
		{ BTF, 'R', "__stop_BTF" },
	};

	strcpy(g->syms[1].name, "vm_event_states");
	memcpy(&g->syms[KS_SYMBOLS - OT_ARRAY_SIZE(symbols)], symbols, sizeof(symbols));
	write_btf(g);
	ks_write(&layout, guest_at(g, GUEST_BASE), GUEST_IMAGE, GUEST_KS_OFF, GUEST_BASE, g->syms, &g->ks);
}

/* An instruction of 8 bytes on counter @element, of which the first four are @op. */
static void put_increment(struct guest_fixture *g, uint64_t at, uint64_t next, const char *op,
			  unsigned element)
{
	uint32_t disp = (uint32_t)(COUNTERS + 8 * element - next);

	memcpy(guest_at(g, at), op, 4);
	memcpy(guest_at(g, at) + 4, &disp, sizeof(disp));
}

static void write_text(struct guest_fixture *g)
{
	memset(guest_at(g, COUNTS), 0xcc, 0x200);
	memset(guest_at(g, COUNTS), 0x90, 0x40);
	put_increment(g, COUNTS + 5, COUNTS + 13, "\x65\x48\xff\x05", 0);
	/* a constant whose bytes are an increment */
	memcpy(guest_at(g, COUNTS + 16), "\x48\xb8", 2);
	put_increment(g, COUNTS + 18, COUNTS + 26, "\x65\x48\xff\x05", 1);
	put_increment(g, COUNTS + 26, COUNTS + 34, "\x65\x48\x01\x1d", 2);  /* add %rbx */
	put_increment(g, COUNTS + 34, COUNTS + 42, "\x65\x48\xff\x05", 77); /* no item's */
	*guest_at(g, COUNTS + 63) = 0xc3;
}

static void put_cache(struct guest_fixture *g, unsigned i, uint64_t next, const char *name)
{
	uint64_t cache = CACHES + i * CACHE;

	guest_put64(g, cache + NAME_AT, name ? NAMES + 128 * i : 0);
	guest_put64(g, cache + LIST_AT, next);
	if (name)
		strcpy((char *)guest_at(g, NAMES + 128 * i), name);
}

static int setup(void **state)
{
	struct world *w = world_create(&layout);

	write_symbols(&w->g);
	write_text(&w->g);
	world_open(w);
	*state = w;
	return 0;
}

/* How many probes there are of that name; *ret is the last one. The guest is read again. */
static uint64_t count(struct world *w, const char *provider, const char *function, const char *name,
		      const struct vp_probe **ret)
{
	struct dif_probedesc desc = {
		.guest = "", .provider = provider, .module = "", .function = function, .name = name
	};
	uint64_t n;

	*ret = NULL;
	vp_probes_destroy(w->probes);
	w->probes = NULL;
	assert_ok(vp_probes_create(w->guest, &w->probes));
	assert_ok(vp_probes_match(w->probes, &desc, true, remember, ret, &n));
	return n;
}

static void assert_site(struct world *w, const char *name, uint64_t gva)
{
	const struct vp_probe *probe;
	struct vp_batch_site *sites;
	uint32_t n;

	assert_int_equal(count(w, "vmstat", "", name, &probe), 1);
	assert_null(probe->refused);
	assert_ok(vp_probes_sites(w->probes, probe, &sites, &n));
	assert_int_equal(n, 1);
	assert_int_equal(sites[0].gva, gva);
	assert_int_equal(sites[0].length, 8);
	assert_non_null(vp_probes_program(w->probes, sites[0].raw));
	free(sites);
}

static void instructions_count(void **state)
{
	assert_site(*state, "pgpgin", COUNTS + 5);
	assert_site(*state, "by_register", COUNTS + 26);
}

static void constants_do_not(void **state)
{
	const struct vp_probe *probe;

	assert_int_equal(count(*state, "vmstat", "", "hidden", &probe), 1);
	assert_non_null(probe->refused);
	assert_non_null(strstr(probe->refused, "by an index"));
	assert_int_equal(count(*state, "vmstat", "", "nr_vm_event_items", &probe), 0);
}

static void assert_refused(struct world *w, const char *offset, const char *why)
{
	const struct vp_probe *probe;

	assert_int_equal(count(w, "fbt", "counts", offset, &probe), 1);
	assert_non_null(probe->refused);
	assert_non_null(strstr(probe->refused, why));
}

static void offsets_are_instructions(void **state)
{
	struct world *w = *state;
	const struct vp_probe *probe;
	struct vp_batch_site *sites;
	uint32_t n;

	assert_int_equal(count(w, "fbt", "counts", "10", &probe), 1);
	assert_null(probe->refused);
	assert_ok(vp_probes_sites(w->probes, probe, &sites, &n));
	assert_int_equal(n, 1);
	assert_int_equal(sites[0].gva, COUNTS + 16);
	assert_int_equal(sites[0].length, 10); /* the constant */
	free(sites);
	assert_refused(w, "12", "the nearest do at 10 and 1a");
	assert_refused(w, "100", "the function has 0x100 bytes");
	*guest_at(&w->g, COUNTS + 0x2f) = 0x06; /* no instruction in 64-bit mode */
	assert_refused(w, "30", "the bytes at 2f are no known instruction");
	assert_int_equal(count(w, "fbt", "counts", "1000000", &probe), 0);
	assert_int_equal(count(w, "fbt", "count*", "0", &probe), 0);
	assert_int_equal(count(w, "fbt", "counts", "0x0", &probe), 0);
}

static void caches_are_named(void **state)
{
	struct world *w = *state;
	const struct vp_probe *probe;

	guest_put64(&w->g, SLABS, CACHES + LIST_AT);
	put_cache(&w->g, 0, CACHES + CACHE + LIST_AT, "a:b *c");
	put_cache(&w->g, 1, CACHES + 2 * CACHE + LIST_AT, NULL);
	put_cache(&w->g, 2, SLABS, "dentry");
	assert_int_equal(count(w, "dtmalloc", "dentry", "malloc", &probe), 1);
	assert_int_equal(count(w, "dtmalloc", "a_b__c", "free", &probe), 1);
	assert_int_equal(count(w, "dtmalloc", "", "", &probe), 4);
}

/* A list that never comes back to its head, one that leads nowhere, and a name without an end. */
static void hostile_lists_end(void **state)
{
	struct world *w = *state;
	const struct vp_probe *probe;

	guest_put64(&w->g, SLABS, CACHES + LIST_AT);
	put_cache(&w->g, 0, CACHES + LIST_AT, "again");
	uint64_t n = count(w, "dtmalloc", "again", "malloc", &probe);
	assert_true(n > 1 && n <= 4096);
	put_cache(&w->g, 0, 0x1000, "last");
	assert_int_equal(count(w, "dtmalloc", "", "malloc", &probe), 1);
	put_cache(&w->g, 0, SLABS, "x");
	memset(guest_at(&w->g, NAMES), 'x', 4096);
	assert_int_equal(count(w, "dtmalloc", "", "malloc", &probe), 0);
	guest_put64(&w->g, SLABS, 0);
	assert_int_equal(count(w, "dtmalloc", "", "", &probe), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(instructions_count, setup, world_destroy),
		cmocka_unit_test_setup_teardown(constants_do_not, setup, world_destroy),
		cmocka_unit_test_setup_teardown(offsets_are_instructions, setup, world_destroy),
		cmocka_unit_test_setup_teardown(caches_are_named, setup, world_destroy),
		cmocka_unit_test_setup_teardown(hostile_lists_end, setup, world_destroy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
