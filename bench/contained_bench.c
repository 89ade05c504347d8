/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * contained_bench DUMP [PAIRS]: what it costs that a guest is read by a child without rights. The guest in a
 * dump is opened, and its stack tables made, by this process and by children, in turn; symbols come from its
 * memory, or, for this process alone, from the cache. Each time in a fresh process, as outsight is one:
 * memory that an earlier time has left would be for free. Medians, with minimum and maximum.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "vmm-probe/backend/dump/dump.h"
#include "vmm-probe/guest/contained.h"
#include "vmm-probe/guest/orc.h"

#define PAIRS_MAX 1000u

enum way { HERE, CONTAINED, WAYS };

static const char *const names[WAYS] = { "by this process", "by children" };

struct cost {
	double wall, cpu; /* ms */
};

static void check(struct ot_err *err)
{
	if (!err)
		return;
	fprintf(stderr, "contained_bench: %s\n", ot_err_message(err));
	exit(1);
}

static double cpu_of(int who)
{
	struct rusage r;

	getrusage(who, &r);
	return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1e3 +
	       (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e3;
}

static struct cost now(void)
{
	return (struct cost){ (double)ot_now_ns() / 1e6, cpu_of(RUSAGE_SELF) + cpu_of(RUSAGE_CHILDREN) };
}

static void open_it(struct vp_dump *dump, enum way way)
{
	struct vp_guest_opts opts = { .phys = vp_dump_phys(dump) };
	struct vp_confined_result table = { 0 };
	struct vp_guest *guest;
	struct ot_buf buf;

	opts.regs = vp_dump_regs(dump, &opts.nregs);
	if (way == CONTAINED) {
		check(vp_contained_open(&opts, &guest));
		check(vp_contained_orc_table(guest, &table));
		vp_confined_result_deinit(&table);
	} else {
		ot_buf_init(&buf);
		check(vp_guest_open(&opts, &guest));
		check(vp_orc_table(guest, &buf));
		ot_buf_deinit(&buf);
	}
	vp_guest_destroy(guest);
}

/* In a process of its own. */
static struct cost measure(struct vp_dump *dump, enum way way)
{
	struct cost before, cost = { 0 };
	int ends[2], status;

	if (pipe(ends))
		exit(1);
	pid_t pid = fork();
	if (pid == 0) {
		before = now();
		open_it(dump, way);
		cost = now();
		cost = (struct cost){ cost.wall - before.wall, cost.cpu - before.cpu };
		_exit(write(ends[1], &cost, sizeof(cost)) != sizeof(cost));
	}
	close(ends[1]);
	if (pid < 0 || read(ends[0], &cost, sizeof(cost)) != sizeof(cost) || waitpid(pid, &status, 0) != pid)
		exit(1);
	close(ends[0]);
	return cost;
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void print(const char *name, const char *what, double *values, size_t n)
{
	qsort(values, n, sizeof(*values), by_value);
	printf("%-40s %-10s %7.1f ms (%.1f to %.1f, n=%zu)\n", name, what, values[n / 2], values[0],
	       values[n - 1], n);
}

int main(int argc, char **argv)
{
	static double wall[WAYS][PAIRS_MAX], cpu[WAYS][PAIRS_MAX], more[2][PAIRS_MAX];
	size_t pairs = argc > 2 ? strtoul(argv[2], NULL, 10) : 20;
	struct vp_dump_opts opts = { .path = argc > 1 ? argv[1] : NULL };
	struct vp_dump *dump;

	if (!opts.path || !pairs || pairs > PAIRS_MAX) {
		fprintf(stderr, "usage: contained_bench DUMP [PAIRS]\n");
		return 2;
	}
	check(vp_dump_open(&opts, &dump));
	for (int way = 0; way < WAYS; way++)
		(void)measure(dump, (enum way)way); /* the dump's pages and the cache are there */
	for (size_t i = 0; i < pairs; i++) {
		for (unsigned k = 0; k < WAYS; k++) {
			unsigned way = (unsigned)(i + k) % WAYS;
			const struct cost cost = measure(dump, (enum way)way);

			wall[way][i] = cost.wall;
			cpu[way][i] = cost.cpu;
		}
		more[0][i] = wall[CONTAINED][i] - wall[HERE][i];
		more[1][i] = cpu[CONTAINED][i] - cpu[HERE][i];
	}
	for (unsigned way = 0; way < WAYS; way++) {
		print(names[way], "wall", wall[way], pairs);
		print(names[way], "processor", cpu[way], pairs);
	}
	print("children, more than this process", "wall", more[0], pairs);
	print("children, more than this process", "processor", more[1], pairs);
	vp_dump_close(dump);
	return 0;
}
