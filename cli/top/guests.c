/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The guests of this host: see guests.h. */
#include "cli/top/guests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "dif/obj/program.h"

enum { PID, VCPUS, CPU, STEAL, EXITS, SYSCALLS, FAULTS, READ, WRITTEN };

static const struct cli_top_column columns[] = {
	{ "PID", CLI_TOP_INTEGER, 7, PID },    { "VCPU", CLI_TOP_INTEGER, 5, VCPUS },
	{ "%CPU", CLI_TOP_PERCENT, 6, CPU },   { "%STEAL", CLI_TOP_PERCENT, 7, STEAL },
	{ "EXITS", CLI_TOP_RATE, 6, EXITS },   { "CALLS", CLI_TOP_RATE, 6, SYSCALLS },
	{ "FAULTS", CLI_TOP_RATE, 7, FAULTS }, { "READ", CLI_TOP_RATE, 6, READ },
	{ "WRITE", CLI_TOP_RATE, 6, WRITTEN },
};
static const struct cli_top_shape by_what = { "GUEST", columns, OT_ARRAY_SIZE(columns), false };

/* Values are CLI_TOP_EXIT_… */
static const struct cli_top_column kinds[] = {
	{ "EXITS", CLI_TOP_RATE, 6, CLI_TOP_EXIT_all },
	{ "HALT", CLI_TOP_RATE, 6, CLI_TOP_EXIT_halt },
	{ "IO", CLI_TOP_RATE, 6, CLI_TOP_EXIT_io },
	{ "MMIO", CLI_TOP_RATE, 6, CLI_TOP_EXIT_mmio },
	{ "IRQ", CLI_TOP_RATE, 6, CLI_TOP_EXIT_irq },
	{ "IRQWIN", CLI_TOP_RATE, 7, CLI_TOP_EXIT_window },
	{ "EMUL", CLI_TOP_RATE, 6, CLI_TOP_EXIT_emulated },
	{ "SIGNAL", CLI_TOP_RATE, 7, CLI_TOP_EXIT_signal },
	{ "PGFLT", CLI_TOP_RATE, 6, CLI_TOP_EXIT_fault },
};
static const struct cli_top_shape by_exits = { "GUEST", kinds, OT_ARRAY_SIZE(kinds), false };

/* --- which there are ------------------------------------------------------------------------------------- */

static void guest_deinit(struct cli_top_guest *guest)
{
	cli_top_vmm_deinit(&guest->vmm);
}

void cli_top_guests_deinit(struct cli_top_guests *g)
{
	for (size_t i = 0; i < g->count; i++)
		guest_deinit(&g->items[i]);
	free(g->items);
	g->items = NULL;
	g->count = g->cap = 0;
}

struct cli_top_guest *cli_top_guests_find(struct cli_top_guests *g, uint32_t pid)
{
	for (size_t i = 0; i < g->count; i++)
		if (g->items[i].pid == pid)
			return &g->items[i];
	return NULL;
}

static bool is_selected(const struct cli_top_guests *g, const struct vp_qemu *q)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)q->pid);
	for (size_t i = 0; i < g->npatterns; i++)
		if (!strcmp(g->patterns[i], "all") || !strcmp(g->patterns[i], pid) ||
		    !strcmp(g->patterns[i], q->name) || dif_glob_match(g->patterns[i], q->name))
			return true;
	return !g->npatterns;
}

/* A guest that has ended meanwhile is omitted. */
static struct ot_err *add(struct cli_top_guests *g, const struct vp_qemu *q)
{
	struct cli_top_guest guest = {
		.pid = (uint32_t)q->pid, .nvcpus = q->nvcpus, .listed = true, .syscalls = NAN
	};

	if (!ot_grow(&g->items, &g->cap, g->count + 1, sizeof(*g->items)))
		return ot_err_nomem();
	struct ot_err *err = cli_top_vmm_init(&guest.vmm, &g->host, q->pid);
	if (err && ot_err_code(err) == OT_ERR_NOT_FOUND) {
		ot_err_destroy(err);
		return NULL;
	}
	if (err)
		return err;
	if (*q->name)
		memcpy(guest.name, q->name, sizeof(guest.name));
	else
		snprintf(guest.name, sizeof(guest.name), "qemu-%d", (int)q->pid); /* the name in its engine */
	g->items[g->count++] = guest;
	return NULL;
}

static struct ot_err *take(struct cli_top_guests *g, const struct vp_qemu *q)
{
	struct cli_top_guest *guest = cli_top_guests_find(g, (uint32_t)q->pid);

	if (!is_selected(g, q))
		return NULL;
	if (!guest)
		return add(g, q);
	guest->listed = true;
	guest->nvcpus = q->nvcpus;
	struct ot_err *err = cli_top_vmm_threads(&guest->vmm, &g->host);
	if (err && ot_err_code(err) == OT_ERR_NOT_FOUND) {
		ot_err_destroy(err);
		return NULL; /* its counters can't be read either */
	}
	return err;
}

static void remove_at(struct cli_top_guests *g, size_t i)
{
	guest_deinit(&g->items[i]);
	g->items[i] = g->items[--g->count];
}

static struct ot_err *list(struct cli_top_guests *g)
{
	ot_auto_free struct vp_qemu *vmms = NULL;
	size_t n = 0;

	OT_TRY(g->list(&vmms, &n));
	for (size_t i = 0; i < g->count; i++)
		g->items[i].listed = false;
	for (size_t i = 0; i < n; i++)
		OT_TRY(take(g, &vmms[i]));
	for (size_t i = g->count; i > 0; i--)
		if (!g->items[i - 1].listed)
			remove_at(g, i - 1);
	return NULL;
}

/* False: its process has ended, and perhaps another has its PID. */
static bool read_guest(struct cli_top_guests *g, struct cli_top_guest *guest)
{
	struct cli_top_counters now;

	if (!cli_top_counters_read(&guest->vmm, &g->host, &now) ||
	    (guest->nread && now.began != guest->began))
		return false;
	guest->began = now.began;
	guest->before = guest->now;
	guest->now = now;
	guest->nread += guest->nread < 2;
	return true;
}

struct ot_err *cli_top_guests_refresh(struct cli_top_guests *g)
{
	uint64_t now = ot_now_ns();

	if (!g->listed_ns || now - g->listed_ns >= CLI_TOP_LIST_NS) {
		OT_TRY(list(g));
		g->listed_ns = now;
	}
	for (size_t i = g->count; i > 0; i--)
		if (!read_guest(g, &g->items[i - 1])) {
			remove_at(g, i - 1);
			g->listed_ns = 0; /* another with its PID is found at once */
		}
	return NULL;
}

/* --- what they do ---------------------------------------------------------------------------------------- */

/* The increase of a counter in a second, times @scale; NAN: not known yet. */
static double rate(const struct cli_top_guest *guest, uint64_t now, uint64_t before, double scale)
{
	double seconds = (double)(guest->now.at_ns - guest->before.at_ns) / 1e9;

	if (guest->nread < 2 || seconds <= 0)
		return NAN;
	return now > before ? (double)(now - before) / seconds * scale : 0;
}

static double cpu_of(const struct cli_top_guest *guest)
{
	return rate(guest, guest->now.cpu_ns, guest->before.cpu_ns, 100 / 1e9);
}

static double steal_of(const struct cli_top_guest *guest)
{
	return guest->now.has_wait ? rate(guest, guest->now.wait_ns, guest->before.wait_ns, 100 / 1e9) : NAN;
}

static double exits_of(const struct cli_top_guest *guest, unsigned kind)
{
	return guest->now.exits_known >> kind & 1
		   ? rate(guest, guest->now.exits[kind], guest->before.exits[kind], 1)
		   : NAN;
}

static void fill(const struct cli_top_guest *guest, struct cli_top_row *row)
{
	const struct cli_top_counters *now = &guest->now, *before = &guest->before;

	row->values[PID] = guest->pid;
	row->values[VCPUS] = guest->nvcpus ? guest->nvcpus : NAN;
	row->values[CPU] = cpu_of(guest);
	row->values[STEAL] = steal_of(guest);
	row->values[EXITS] = exits_of(guest, CLI_TOP_EXIT_all);
	row->values[SYSCALLS] = guest->syscalls;
	row->values[FAULTS] = rate(guest, now->faults, before->faults, 1);
	row->values[READ] = now->has_io ? rate(guest, now->read_bytes, before->read_bytes, 1) : NAN;
	row->values[WRITTEN] = now->has_io ? rate(guest, now->written_bytes, before->written_bytes, 1) : NAN;
}

struct ot_err *cli_top_guests_table(const struct cli_top_guests *g, bool exits, struct cli_top_table *t)
{
	struct cli_top_row *row;

	cli_top_table_clear(t, exits ? &by_exits : &by_what);
	for (size_t i = 0; i < g->count; i++) {
		const struct cli_top_guest *guest = &g->items[i];

		OT_TRY(cli_top_table_add(t, guest->pid, guest->name, strlen(guest->name), &row));
		for (unsigned k = 0; exits && k < CLI_TOP_NEXITS; k++)
			row->values[k] = exits_of(guest, k);
		if (!exits)
			fill(guest, row);
	}
	return NULL;
}

struct cli_top_sums cli_top_guests_sums(const struct cli_top_guests *g)
{
	struct cli_top_sums sums = { .guests = g->count };

	for (size_t i = 0; i < g->count; i++) {
		double cpu = cpu_of(&g->items[i]), steal = steal_of(&g->items[i]);

		sums.vcpus += g->items[i].nvcpus;
		sums.cpu += isnan(cpu) ? 0 : cpu;
		sums.steal += isnan(steal) ? 0 : steal;
	}
	return sums;
}
