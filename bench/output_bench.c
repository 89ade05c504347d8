/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of writing records: text, lines of JSON, a Perfetto trace. Records as a session hands them over go
 * through the consumer, which splits them, to /dev/null. Times are CPU time: there is one thread, and it
 * never waits. Medians of several rounds, with the smallest and largest.
 *
 *   output_bench [ROUNDS]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "consumer/consumer.h"

#define RECORDS       100000u
#define ROUNDS_MAX    99
#define GOAL_A_SECOND 300000.0
#define FRAMES        4u
#define STRSIZE       256u
#define RECORD_MAX    512u

/* One clause on one probe. */
struct clause {
	struct dif_clause clause;
	struct dif_clause_layout layout;
	struct vp_probe probe;
	struct vp_enabled ecb;
	uint8_t data[RECORD_MAX];
};

struct bench {
	struct dif_program prog;
	struct dif_options options;
	struct con_consumer consumer;
	struct vp_sink sink;
	struct ot_arena arena;
	FILE *fp;
	uint64_t time_ns;
};

static struct dif_object number = { .ret = { .size = 8 } };
static struct dif_object text = { .ret = { .kind = DIF_TYPE_STRING, .flags = DIF_TF_BYREF } };
static const struct dif_action traced[] = {
	{ .kind = DIF_ACT_difexpr, .object = &text, .uarg = 1 },
	{ .kind = DIF_ACT_difexpr, .object = &number, .uarg = 2 },
};
static const struct dif_action printed[] = {
	{ .kind = DIF_ACT_printf, .object = &text, .uarg = 1, .format = "%s %d %x\n" },
	{ .kind = DIF_ACT_printf, .object = &number, .uarg = 1 },
	{ .kind = DIF_ACT_printf, .object = &number, .uarg = 1 },
};
static const struct dif_action stack[] = { { .kind = DIF_ACT_stack, .arg = FRAMES, .uarg = 1 } };

static void must(struct ot_err *err)
{
	if (!err)
		return;
	fprintf(stderr, "output_bench: %s\n", ot_err_message(err));
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* --- a session's side ----------------------------------------------------------------------------------- */

static void kernel_name(void *arg, uint32_t guest, uint64_t addr, enum vp_symbol_form form, char *buf,
			size_t size)
{
	(void)arg, (void)guest;
	snprintf(buf, size,
		 form == VP_SYM_OFFSET ? "vmlinux`some_function_%" PRIu64 "+0x1f" : "vmlinux`f%" PRIu64,
		 addr);
}

static const char *guest_name(void *arg, uint32_t guest)
{
	(void)arg, (void)guest;
	return "web01";
}

static void vcpu_thread(void *arg, uint32_t guest, uint32_t cpu, uint32_t *ret_pid, uint32_t *ret_tid)
{
	(void)arg, (void)guest;
	*ret_pid = 1000;
	*ret_tid = 1001 + cpu;
}

static void begin(struct bench *b, const struct con_output_ops *ops)
{
	*b = (struct bench){ .fp = fopen("/dev/null", "w"), .time_ns = 1 };
	if (!b->fp)
		must(ot_err_new(OT_ERR_OS, "cannot write to /dev/null"));
	ot_arena_init(&b->arena);
	dif_options_init(&b->options);
	b->options.quiet = true;
	must(con_consumer_init(&b->consumer, &b->options, &b->prog, ops, b->fp));
	b->consumer.out->printer.symbols = (struct con_symbols){
		.kernel = kernel_name, .guest = guest_name, .vcpu = vcpu_thread, .nguests = 1
	};
	b->sink = con_consumer_sink(&b->consumer);
}

static void end(struct bench *b)
{
	must(con_consumer_finish(&b->consumer));
	if (b->consumer.out->ops->end)
		must(b->consumer.out->ops->end(b->consumer.out));
	con_consumer_deinit(&b->consumer);
	dif_options_deinit(&b->options);
	ot_arena_deinit(&b->arena);
	fclose(b->fp);
}

static void set_up_clause(struct bench *b, struct clause *c, const char *name,
			  const struct dif_action *actions, uint32_t n)
{
	const struct dif_layout_opts opts = { .strsize = STRSIZE, .stackframes = FRAMES };
	struct dif_action *own = ot_arena_alloc(&b->arena, (n + 1) * sizeof(*own));

	*c = (struct clause){ 0 };
	if (!own)
		must(ot_err_nomem());
	if (n)
		memcpy(own, actions, n * sizeof(*own));
	c->clause = (struct dif_clause){ .actions = own, .nactions = n };
	must(dif_clause_layout(&c->clause, &opts, &b->arena, &c->layout));
	if (c->layout.size > RECORD_MAX)
		must(ot_err_new(OT_ERR_LIMIT, "a record of %u bytes", c->layout.size));
	c->probe = (struct vp_probe){ .id = 77,
				      .kind = VP_PROBE_SITE,
				      .provider = "fbt",
				      .module = "vmlinux",
				      .function = "vfs_read",
				      .name = name };
	c->ecb =
	    (struct vp_enabled){ .epid = 1, .clause = &c->clause, .layout = &c->layout, .probe = &c->probe };
}

/* Data number @i, then one record after the other, 100 ns apart. */
static void fire(struct bench *b, struct clause *c, uint64_t i)
{
	const struct vp_record r = { .ecb = &c->ecb,
				     .cpu = (uint32_t)(i / 1000 % 4),
				     .time_ns = b->time_ns += 100,
				     .data = c->data,
				     .size = c->layout.size };

	for (uint32_t k = 0; k < c->layout.nrecs; k++) {
		const struct dif_rec *rec = &c->layout.recs[k];
		const struct dif_action *action = &c->clause.actions[rec->action];
		uint8_t *at = c->data + rec->offset;

		if (action->kind == DIF_ACT_stack)
			for (uint64_t f = 0; f < FRAMES; f++)
				memcpy(at + 8 * f, &(uint64_t){ 1 + (i + f) % 50 }, 8);
		else if (action->object == &text)
			snprintf((char *)at, rec->size, "process-%u", (unsigned)(i % 100));
		else
			memcpy(at, &i, rec->size);
	}
	must(b->sink.record(b->sink.arg, &r));
}

/* --- rows ----------------------------------------------------------------------------------------------- */

struct row {
	const char *what;
	const struct con_output_ops *ops;
	const struct dif_action *actions;
	uint32_t nactions;
	bool pairs;  /* entry and return in turn */
	double goal; /* records a second; 0: none */
};

/* CPU seconds for RECORDS of them, flushed as often as a busy session wakes up. */
static double measure(const struct row *row)
{
	struct clause entry, other;
	struct bench b;

	begin(&b, row->ops);
	set_up_clause(&b, &entry, "entry", row->actions, row->nactions);
	set_up_clause(&b, &other, row->pairs ? "return" : "entry", row->actions, row->nactions);
	if (!row->pairs)
		entry.probe.name = other.probe.name = "sample"; /* neither opens a slice */
	double start = now();
	for (uint64_t i = 0; i < RECORDS; i++) {
		fire(&b, i & 1 ? &other : &entry, i);
		if (i % 10000 == 9999)
			must(con_consumer_flush(&b.consumer));
	}
	double seconds = now() - start;
	end(&b);
	return seconds;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static void print_row(const struct row *row, int rounds)
{
	double seconds[ROUNDS_MAX];

	for (int i = 0; i < rounds; i++)
		seconds[i] = measure(row);
	qsort(seconds, (size_t)rounds, sizeof(*seconds), by_size);
	double median = seconds[rounds / 2], a_second = RECORDS / median;
	printf("%s: %.0f records/s (%.0f to %.0f, n=%d), %.2f us each", row->what, a_second,
	       RECORDS / seconds[rounds - 1], RECORDS / seconds[0], rounds, median * 1e6 / RECORDS);
	if (row->goal > 0)
		printf(", goal %.0f/s: %s", row->goal, a_second >= row->goal ? "MET" : "MISSED");
	putchar('\n');
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static const struct row rows[] = {
		{ "text, printf of three", &con_output_text, printed, 3, false, 0 },
		{ "jsonl, printf of three", &con_output_jsonl, printed, 3, false, GOAL_A_SECOND },
		{ "jsonl, trace(execname); trace(arg0)", &con_output_jsonl, traced, 2, false, GOAL_A_SECOND },
		{ "jsonl, stack(4)", &con_output_jsonl, stack, 1, false, 0 },
		{ "perfetto, entry and return, without data", &con_output_perfetto, NULL, 0, true, 0 },
		{ "perfetto, entry and return, with trace(execname); trace(arg0)", &con_output_perfetto,
		  traced, 2, true, 0 },
		{ "perfetto, instants with stack(4)", &con_output_perfetto, stack, 1, false, 0 },
	};
	int rounds = argc > 1 ? atoi(argv[1]) : 11;

	if (rounds < 1 || rounds > ROUNDS_MAX) {
		fprintf(stderr, "usage: output_bench [ROUNDS]\n");
		return 2;
	}
	for (size_t i = 0; i < OT_ARRAY_SIZE(rows); i++)
		print_row(&rows[i], rounds);
	return 0;
}
