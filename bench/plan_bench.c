/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * plan_bench DUMP: how every function of a dumped guest could be trapped, on hosts with and without exits by
 * int3 and with and without single steps: numbers of probes by kind, the reasons of those refused, and the
 * time that it takes. DUMP is a raw image of RAM with DUMP.regs beside it, or an ELF core.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "vmm-probe/backend/dump/dump.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/provider.h"

#define TOP 40

struct tally {
	struct vp_probes *probes;
	struct vp_planner *planner; /* the same as the registry's: the kind of each site */
	uint64_t probes_by_kind[VP_PLAN_HW + 1], sites_by_kind[VP_PLAN_HW + 1];
	uint64_t fixed; /* refused on every backend */
	struct ot_map reasons;
	const char *name;
};

static void check(struct ot_err *err)
{
	if (!err)
		return;
	fprintf(stderr, "plan_bench: %s\n", ot_err_message(err));
	exit(1);
}

/* CPU time: other processes may be running. */
static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Without the parts that differ between functions: offsets, and the exit. */
static void note_reason(struct tally *t, const char *why)
{
	char text[256];
	const char *colon = !strncmp(why, "exit ", 5) ? strchr(why, ':') : NULL;

	snprintf(text, sizeof(text), "%s", colon ? colon + 2 : why);
	if (strstr(text, " at +0x"))
		*strstr(text, " at +0x") = '\0';
	uintptr_t n = (uintptr_t)ot_map_gets(&t->reasons, text);
	if (!ot_map_puts(&t->reasons, text, (void *)(n + 1)))
		exit(1);
}

/* A probe is as good as its worst site. */
static bool count_probe(void *arg, const struct vp_probe *probe)
{
	struct tally *t = arg;
	struct vp_batch_site *sites;
	uint32_t n;
	enum vp_plan_kind worst = VP_PLAN_NATIVE;

	if (probe->kind != VP_PROBE_SITE || strcmp(probe->name, t->name) != 0)
		return true;
	if (probe->refused) {
		note_reason(t, probe->refused);
		t->probes_by_kind[VP_PLAN_REFUSE]++;
		return true;
	}
	check(vp_probes_sites(t->probes, probe, &sites, &n));
	for (uint32_t i = 0; i < n; i++) {
		struct vp_verdict v = vp_planner_site(t->planner, &sites[i]);
		t->sites_by_kind[v.kind]++;
		worst = v.kind > worst ? v.kind : worst;
	}
	free(sites);
	t->probes_by_kind[worst]++;
	return true;
}

static int by_count(const void *a, const void *b)
{
	const struct ot_map_entry *const *x = a, *const *y = b;
	uintptr_t m = (uintptr_t)(*x)->value, n = (uintptr_t)(*y)->value;

	return m < n ? 1 : m > n ? -1 : 0;
}

static void print_reasons(const struct ot_map *reasons)
{
	struct ot_map_entry **all = malloc((reasons->count + 1) * sizeof(struct ot_map_entry *));

	if (!all)
		exit(1);
	memcpy(all, reasons->entries, reasons->count * sizeof(*all));
	qsort(all, reasons->count, sizeof(*all), by_count);
	for (size_t i = 0; i < reasons->count && i < TOP; i++)
		printf("%10lu  %s\n", (unsigned long)(uintptr_t)all[i]->value, all[i]->key);
	free(all);
}

static void measure(struct vp_guest *guest, uint32_t traps, const char *name, const char *label, bool reasons)
{
	struct tally t = { .name = name };
	struct dif_probedesc all = {
		.guest = "", .provider = "fbt", .module = "", .function = "", .name = name
	};
	uint64_t count;
	double start, time;

	ot_map_init(&t.reasons);
	check(vp_probes_create(guest, &t.probes));
	start = now();
	check(vp_probes_plan(t.probes, traps, VP_WISH_AUTO, NULL));
	check(vp_planner_create(guest, traps, VP_WISH_AUTO, &t.planner));
	check(vp_probes_match(t.probes, &all, true, NULL, NULL, &count));
	time = now() - start;
	check(vp_probes_match(t.probes, &all, true, count_probe, &t, &count));
	printf(
	    "%-7s %-14s %7lu native %7lu emulate %6lu step %6lu refused; sites %7lu native %7lu emulate %6lu "
	    "step; %.2f s\n",
	    name, label, t.probes_by_kind[VP_PLAN_NATIVE], t.probes_by_kind[VP_PLAN_EMULATE],
	    t.probes_by_kind[VP_PLAN_STEP], t.probes_by_kind[VP_PLAN_REFUSE], t.sites_by_kind[VP_PLAN_NATIVE],
	    t.sites_by_kind[VP_PLAN_EMULATE], t.sites_by_kind[VP_PLAN_STEP], time);
	if (reasons)
		print_reasons(&t.reasons);
	ot_map_deinit(&t.reasons);
	vp_planner_destroy(t.planner);
	vp_probes_destroy(t.probes);
}

int main(int argc, char **argv)
{
	static const struct {
		uint32_t traps;
		const char *label;
	} hosts[] = {
		{ VP_TRAPS_TEXT, "text" },
		{ VP_TRAPS_TEXT | VP_TRAPS_STEP, "text,step" },
		{ VP_TRAPS_TEXT | VP_TRAPS_INT3, "text,int3" },
		{ VP_TRAPS_TEXT | VP_TRAPS_INT3 | VP_TRAPS_STEP, "text,int3,step" },
	};
	char regs[4096];

	if (argc != 2) {
		fprintf(stderr, "usage: plan_bench DUMP\n");
		return 2;
	}
	snprintf(regs, sizeof(regs), "%s.regs", argv[1]);
	struct vp_dump_opts opts = { .path = argv[1], .registers = access(regs, R_OK) ? NULL : regs };
	struct vp_dump *dump;
	check(vp_dump_open(&opts, &dump));
	size_t nregs;
	struct vp_guest_opts guest_opts = { .phys = vp_dump_phys(dump), .regs = vp_dump_regs(dump, &nregs) };
	guest_opts.nregs = nregs;
	struct vp_guest *guest;
	check(vp_guest_open(&guest_opts, &guest));
	printf("%s\n", vp_guest_kernel(guest)->release);
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		bool reasons = i == 1 || i == 2;
		measure(guest, hosts[i].traps, "entry", hosts[i].label, reasons);
		measure(guest, hosts[i].traps, "return", hosts[i].label, reasons);
	}
	vp_guest_destroy(guest);
	vp_dump_close(dump);
	return 0;
}
