/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Writes the seeds of fuzz_merge: sessions of an operator and two hosts, from HELLO to the end. merge_seeds
 * DIRECTORY */
#include "tests/unit/dif_lang_fixture.h"

#include "fleet/trust/keys.h"
#include "fleet/wire/message.h"
#include "tests/fuzz/merge_steps.h"
#include "tests/fuzz/seed_file.h"

#define STRSIZE 16u

static const char text[] =
    "fbt::do_exit:entry { trace(arg0); } fbt::do_exit:entry { @a[probefunc] = count(); } "
    "fbt::do_exit:entry { @s[sym(arg0)] = sum(arg0); } "
    "fbt::do_exit:entry { @u[usym(arg0)] = max(arg0); }";

enum { OPERATOR, FIRST, SECOND };
/* EPIDs: of each clause, in order. */
enum { RECORD = 1, BY_NAME, BY_SYMBOL, BY_PROCESS };

struct session {
	struct ot_buf out, body;
	struct ot_buf dof;
};

/* The body that was written. */
static void put(struct session *s, uint8_t who, enum fl_kind kind)
{
	if (s->body.failed || s->body.len > UINT16_MAX)
		abort();
	merge_step_put(&s->out, who, kind, &s->body);
	ot_buf_clear(&s->body);
}

static void put_hello(struct session *s, uint8_t who)
{
	fl_put_hello(&s->body, &(struct fl_hello){ .protocol = FL_PROTOCOL, .name = "x" });
	put(s, who, FL_HELLO);
}

static void put_member(struct session *s, uint32_t number, const char *name)
{
	static const uint8_t key[FL_PUBLIC];
	const struct fl_source source = { .name = "", .text = { (const uint8_t *)text, sizeof(text) - 1 } };
	const struct fl_option option = { "aggrate", "100ms" };
	const char *const arg = "outsight";
	struct ot_buf run = { 0 };

	fl_put_run(&run, &(struct fl_run){ "web*", &source, 1, &option, 1, &arg, 1 });
	fl_put_member(&s->body, &(struct fl_member){ number,
						     name,
						     { key, sizeof(key) },
						     { (const uint8_t *)run.data, (uint32_t)run.len },
						     1,
						     { { key, sizeof(key) } } });
	ot_buf_deinit(&run);
	put(s, OPERATOR, FL_MEMBER);
}

static void put_program(struct session *s, uint8_t who)
{
	fl_put_program(&s->body,
		       &(struct fl_program){
			   { (const uint8_t *)s->dof.data, (uint32_t)s->dof.len }, STRSIZE, 4, 4, 4, 64 });
	put(s, who, FL_PROGRAM);
}

static void put_host(struct session *s, uint8_t who)
{
	put_hello(s, who);
	fl_put_guest(&s->body, &(struct fl_guest){ .name = "web01", .joined = true, .text = "", .uuid = "" });
	put(s, who, FL_GUEST);
	put_program(s, who);
	for (uint32_t i = 0; i < BY_PROCESS; i++)
		fl_put_enabled(&s->body,
			       &(struct fl_enabled){ i + 1, i, 0, 7, "fbt", "vmlinux", "do_exit", "entry" });
	put(s, who, FL_ENABLED);
	fl_put_ready(&s->body, &(struct fl_ready){ .matched = 1, .ntexts = 1, .by_text = { 1 } });
	put(s, who, FL_READY);
}

static void put_of(struct session *s, uint32_t member, enum fl_kind kind)
{
	fl_put_of(&s->body, &(struct fl_of){ .member = member, .kind = kind });
	put(s, OPERATOR, FL_OF);
}

static void put_sum(struct session *s, uint32_t epid, uint32_t size, uint64_t key)
{
	uint8_t tuple[24] = { 0 };
	const uint64_t word = 3;

	memcpy(tuple + size - 8, &key, sizeof(key));
	fl_put_aggregate(&s->body,
			 &(struct fl_aggregate){ epid, 1, { tuple, size }, { (const uint8_t *)&word, 8 } });
}

static void put_data(struct session *s, uint8_t who)
{
	const uint8_t record[24] = { 0 };

	fl_put_name(&s->body, &(struct fl_name){ 0, 70000 + who, "vmlinux`vfs_read", "" });
	put(s, who, FL_NAMES);
	put_sum(s, BY_NAME, 24, 'x');
	put_sum(s, BY_SYMBOL, 16, 70000 + who);
	put_sum(s, BY_PROCESS, 24, 70000 + who);
	put(s, who, FL_AGGREGATES);
	fl_put_clock(&s->body, &(struct fl_clock){ 1, 2, 3, 4 });
	fl_put_record(&s->body, &(struct fl_record){ RECORD, 0, 5, { record, sizeof(record) } });
	put(s, who, FL_RECORDS);
	fl_put_fault(&s->body, &(struct fl_fault){ RECORD, 0, 1, 4, 1, 16 });
	put(s, who, FL_FAULTS);
	fl_put_drop(&s->body, &(struct fl_drop){ 0, 1, 2 });
	put(s, who, FL_DROPS);
	fl_put_overload(&s->body, &(struct fl_overload){ BY_NAME, 1, 30, 20 });
	put(s, who, FL_OVERLOAD);
}

static void put_session(struct session *s, uint32_t nhosts)
{
	static const char *const names[] = { "h1", "h2" };

	put_hello(s, OPERATOR);
	for (uint32_t i = 0; i < nhosts; i++)
		put_member(s, i, names[i]);
	for (uint32_t i = 0; i < nhosts; i++)
		put_host(s, (uint8_t)(FIRST + i));
	put_program(s, OPERATOR);
	for (uint32_t i = 0; i < nhosts; i++) {
		put_of(s, i, FL_START);
		put(s, (uint8_t)(FIRST + i), FL_STARTED);
		put_data(s, (uint8_t)(FIRST + i));
	}
	for (uint32_t i = 0; i < nhosts; i++) {
		put_of(s, i, FL_STOP);
		fl_put_ended(&s->body, &(struct fl_ended){ .text = "" });
		put(s, (uint8_t)(FIRST + i), FL_ENDED);
	}
	put(s, OPERATOR, FL_STOP);
}

int main(int argc, char **argv)
{
	struct lx lx;

	if (argc != 2)
		return 2;
	lx_init(&lx);
	lx.opts.strsize = STRSIZE;
	if (!lx_compile(&lx, text))
		return 1;
	for (uint32_t n = 1; n <= 2; n++) {
		struct session s = { 0 };

		if (dif_dof_write(&lx.prog, &s.dof))
			return 1;
		put_session(&s, n);
		seed_write(argv[1], n == 1 ? "one" : "two", &s.out);
		ot_buf_deinit(&s.out);
		ot_buf_deinit(&s.body);
		ot_buf_deinit(&s.dof);
	}
	lx_deinit(&lx);
	return 0;
}
