/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tracepoint_bench DUMP [-v]: where the tracepoints of a dumped guest can be probed from outside: their
 * numbers, why the others can't, and the time that it takes. -v lists each site with its condition and
 * arguments. DUMP is a raw image of RAM with DUMP.regs beside it, or an ELF core.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "vmm-probe/backend/dump/dump.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/tracepoint.h"
#include "vmm-probe/provider/tracepoint_sites.h"

struct totals {
	unsigned tracepoints, found, sites, conditional, args, unknown_args;
};

static void check(struct ot_err *err)
{
	if (!err)
		return;
	fprintf(stderr, "tracepoint_bench: %s\n", ot_err_message(err));
	exit(1);
}

/* CPU time: other processes may be running. */
static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void list_site(struct vp_guest *guest, const struct vp_event_site *site, unsigned nargs)
{
	const struct vp_symtab *tab = vp_guest_symtab(guest);
	const struct vp_symbol *sym = vp_symtab_find_addr(tab, vp_gva(site->gva), NULL);
	struct ot_buf text;

	ot_buf_init(&text);
	for (unsigned i = 0; i < nargs; i++) {
		ot_buf_puts(&text, i ? ", " : "");
		vp_expr_print(site->args[i], &text);
	}
	if (site->when) {
		ot_buf_puts(&text, "   when ");
		vp_expr_print(site->when, &text);
	}
	printf("    %s+0x%llx: %s\n", sym ? vp_symbol_name(tab, sym) : "?",
	       (unsigned long long)(site->gva - site->function), ot_buf_str(&text));
	ot_buf_deinit(&text);
}

static void find(struct vp_tracepoint_finder *finder, struct vp_probes *probes, struct vp_guest *guest,
		 const struct vp_guest_tracepoint *tp, bool list, struct totals *t)
{
	unsigned nargs = vp_tracepoint_words(probes, tp->gva, tp->name);
	struct vp_event_sites sites;
	struct ot_err *err = vp_tracepoint_find_sites(finder, tp, nargs, &sites);

	t->tracepoints++;
	if (err) {
		if (list)
			printf("%s:%s: %s\n", tp->system, tp->name, ot_err_message(err));
		ot_err_destroy(err);
		return;
	}
	t->found++;
	t->sites += (unsigned)sites.count;
	if (list)
		printf("%s:%s\n", tp->system, tp->name);
	for (size_t i = 0; i < sites.count; i++) {
		t->args += nargs;
		t->conditional += sites.list[i].when != NULL;
		for (unsigned n = 0; n < nargs; n++)
			t->unknown_args += !sites.list[i].args[n];
		if (list)
			list_site(guest, &sites.list[i], nargs);
	}
}

static void measure(struct vp_guest *guest, bool list)
{
	struct vp_tracepoint_finder *finder;
	struct vp_probes *probes;
	struct totals t = { 0 };

	check(vp_probes_create(guest, &probes));
	double start = now();
	check(vp_tracepoint_finder_create(probes, &finder));
	double read = now();
	const struct vp_guest_tracepoints *all = vp_tracepoint_list(finder);
	for (size_t i = 0; i < all->count; i++)
		find(finder, probes, guest, &all->list[i], list, &t);
	printf(
	    "%u tracepoints, %u can be probed at %u sites, %u of them with a condition; %u arguments, %u not "
	    "known\n",
	    t.tracepoints, t.found, t.sites, t.conditional, t.args, t.unknown_args);
	printf("list %.3f s, sites %.3f s\n", read - start, now() - read);
	vp_tracepoint_finder_destroy(finder);
	vp_probes_destroy(probes);
}

int main(int argc, char **argv)
{
	bool list = argc == 3 && !strcmp(argv[2], "-v");
	struct vp_guest *guest;
	struct vp_dump *dump;
	char regs[4096];
	size_t nregs;

	if (argc != 2 && !list) {
		fprintf(stderr, "usage: tracepoint_bench DUMP [-v]\n");
		return 2;
	}
	snprintf(regs, sizeof(regs), "%s.regs", argv[1]);
	struct vp_dump_opts opts = { .path = argv[1], .registers = access(regs, R_OK) ? NULL : regs };
	check(vp_dump_open(&opts, &dump));
	struct vp_guest_opts guest_opts = { .phys = vp_dump_phys(dump), .regs = vp_dump_regs(dump, &nregs) };
	guest_opts.nregs = nregs;
	check(vp_guest_open(&guest_opts, &guest));
	printf("%s\n", vp_guest_kernel(guest)->release);
	measure(guest, list);
	vp_guest_destroy(guest);
	vp_dump_close(dump);
	return 0;
}
