/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the seeds of fuzz_operator: what an honest host says from HELLO to ENDED, and one that says the
 * least. operator_seeds DIRECTORY */
#include "tests/fuzz/operator_program.h"
#include "tests/fuzz/seed_file.h"

#include <stdio.h>

#include "fleet/wire/message.h"
#include "vmm-probe/session/data.h"

static struct lx lx;

/* The message in @body, which is emptied. */
static void say(struct ot_buf *seed, enum fl_kind kind, struct ot_buf *body)
{
	if (body->len > UINT16_MAX)
		exit(1);
	fl_put_u8(seed, (uint8_t)kind);
	fl_put_u8(seed, (uint8_t)body->len);
	fl_put_u8(seed, (uint8_t)(body->len >> 8));
	ot_buf_append(seed, body->data, body->len);
	ot_buf_clear(body);
}

static void say_program(struct ot_buf *seed, struct ot_buf *body)
{
	struct ot_buf dof = { 0 };

	if (dif_dof_write(&lx.prog, &dof))
		exit(1);
	fl_put_program(body, &(struct fl_program){ .dof = { (const uint8_t *)dof.data, (uint32_t)dof.len },
						   .strsize = OPERATOR_STRSIZE,
						   .stackframes = 4,
						   .ustackframes = 4,
						   .jstackframes = 4,
						   .jstackstrsize = 64 });
	ot_buf_deinit(&dof);
	say(seed, FL_PROGRAM, body);
}

static void begin(struct ot_buf *seed, struct ot_buf *body)
{
	fl_put_hello(body, &(struct fl_hello){ FL_PROTOCOL, "h1", { 1, 2, 3, 4 } });
	say(seed, FL_HELLO, body);
	fl_put_guest(body, &(struct fl_guest){ 0, "web01", true, 0, "" });
	say(seed, FL_GUEST, body);
	say_program(seed, body);
	for (uint32_t i = 0; i < lx.prog.nclauses; i++)
		fl_put_enabled(body,
			       &(struct fl_enabled){ i + 1, i, 0, 77, "fbt", "vmlinux", "do_exit", "entry" });
	say(seed, FL_ENABLED, body);
	fl_put_ready(body, &(struct fl_ready){ .matched = 2, .ntexts = 1, .by_text = { 2 } });
	say(seed, FL_READY, body);
	say(seed, FL_STARTED, body);
}

/* A delta of each aggregation, and a record of each clause. */
static void say_data(struct ot_buf *seed, struct ot_buf *body)
{
	const struct dif_layout_opts opts = { OPERATOR_STRSIZE, 4, 4, 4, 64 };
	static const uint8_t zeros[4096];
	struct ot_arena arena;

	ot_arena_init(&arena);
	for (uint32_t i = 0; i < lx.prog.nclauses; i++) {
		struct dif_clause_layout l;

		if (dif_clause_layout(&lx.prog.clauses[i], &opts, &arena, &l))
			exit(1);
		for (uint32_t k = 0; k < l.naggs; k++) {
			fl_put_aggregate(body, &(struct fl_aggregate){ i + 1,
								       l.aggs[k].action,
								       { zeros, l.aggs[k].tuple_size },
								       { zeros, l.aggs[k].nwords * 8 } });
			say(seed, FL_AGGREGATES, body);
		}
		if (!l.size)
			continue;
		fl_put_clock(body, &(struct fl_clock){ 1, 2, 3, 4 });
		fl_put_record(body, &(struct fl_record){ i + 1, 0, 5, { zeros, l.size } });
		say(seed, FL_RECORDS, body);
	}
	ot_arena_deinit(&arena);
}

static void say_events(struct ot_buf *seed, struct ot_buf *body)
{
	fl_put_name(body, &(struct fl_name){ 0, 70000, "vmlinux`do_exit+0x12", "" });
	fl_put_name(body, &(struct fl_name){ 0, 70001, "python3`f", "f (x.py:1)\nmain (x.py:9)" });
	say(seed, FL_NAMES, body);
	fl_put_fault(body, &(struct fl_fault){ 1, 0, 1, 4, 1, 0 });
	say(seed, FL_FAULTS, body);
	fl_put_drop(body, &(struct fl_drop){ VP_DROP_PRINCIPAL, 0, 7 });
	say(seed, FL_DROPS, body);
	fl_put_overload(body, &(struct fl_overload){ 1, 1, 30, 25 });
	say(seed, FL_OVERLOAD, body);
	fl_put_say(body, &(struct fl_say){ true, "what is not traced" });
	say(seed, FL_SAY, body);
	fl_put_guest(body, &(struct fl_guest){ 0, "web01", false, 1, "guest web01 powered off" });
	say(seed, FL_GUEST, body);
}

int main(int argc, char **argv)
{
	struct ot_buf body = { 0 };

	if (argc != 2)
		return 2;
	lx_init(&lx);
	lx.opts.strsize = OPERATOR_STRSIZE;
	if (!lx_compile(&lx, OPERATOR_PROGRAM))
		return 1;
	for (unsigned i = 0; i < 2; i++) {
		struct ot_buf seed = { 0 };

		begin(&seed, &body);
		if (i)
			say_events(&seed, &body), say_data(&seed, &body);
		fl_put_ended(&body, &(struct fl_ended){ .exited = true, .status = 3, .text = "" });
		say(&seed, FL_ENDED, &body);
		seed_write(argv[1], i ? "all" : "least", &seed);
		ot_buf_deinit(&seed);
	}
	ot_buf_deinit(&body);
	lx_deinit(&lx);
	return 0;
}
