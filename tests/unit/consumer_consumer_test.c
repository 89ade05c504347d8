/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Records to lines: headings, flowindent, statements, libact: consumer/consumer.c, libact.c, output/text.c.
 */
#include <fcntl.h>
#include <unistd.h>

#include "consumer/consumer.h"
#include "tests/unit/consumer_test_print.h"

#define ACTIONS_MAX 6

/* A clause with its actions, on a probe. */
struct unit {
	struct dif_clause clause;
	struct dif_action actions[ACTIONS_MAX];
	struct dif_clause_layout layout;
	struct vp_probe probe;
	struct vp_enabled ecb;
};

struct fixture {
	struct dif_options opts;
	struct dif_program prog;
	struct dif_aggvar var;
	struct con_consumer c;
	struct vp_sink sink;
	struct ot_arena arena;
	char *text;
	size_t len;
};

static struct dif_object object_of[] = {
	[0] = { .ret = { .size = 0 } },
	[1] = { .ret = { .size = 1 } },
	[4] = { .ret = { .size = 4 } },
	[8] = { .ret = { .size = 8 } },
};
static struct dif_object text_object = { .ret = { .kind = DIF_TYPE_STRING, .size = 16 } };

static void setup(struct fixture *f)
{
	memset(f, 0, sizeof(*f));
	dif_options_init(&f->opts);
	f->var = (struct dif_aggvar){ "a", 1, DIF_AGG_count, 0, 0 };
	f->prog.aggs = &f->var;
	f->prog.naggs = 1;
	ot_arena_init(&f->arena);
	assert_null(con_consumer_init(&f->c, &f->opts, &f->prog, &con_output_text,
				      open_memstream(&f->text, &f->len)));
	f->sink = con_consumer_sink(&f->c);
}

static void teardown(struct fixture *f)
{
	fclose(f->c.out->printer.fp);
	con_consumer_deinit(&f->c);
	dif_options_deinit(&f->opts);
	ot_arena_deinit(&f->arena);
	free(f->text);
}

/* What was printed since the last call. */
static void output(struct fixture *f, const char *expected)
{
	assert_null(con_consumer_flush(&f->c));
	assert_string_equal(f->text, expected);
	rewind(f->c.out->printer.fp);
	memset(f->text, 0, f->len);
}

static void unit(struct fixture *f, struct unit *u, uint32_t epid, uint32_t id, const char *provider,
		 const char *function, const char *name, const struct dif_action *actions, uint32_t n)
{
	const struct dif_layout_opts opts = { .strsize = 16, .stackframes = 2 };

	memset(u, 0, sizeof(*u));
	if (n)
		memcpy(u->actions, actions, n * sizeof(*actions));
	u->clause = (struct dif_clause){ .actions = u->actions, .nactions = n };
	assert_null(dif_clause_layout(&u->clause, &opts, &f->arena, &u->layout));
	u->probe = (struct vp_probe){
		.id = id, .provider = provider, .module = "", .function = function, .name = name
	};
	u->ecb = (struct vp_enabled){
		.epid = epid, .clause = &u->clause, .layout = &u->layout, .probe = &u->probe
	};
}

/* One firing; @values are the data in order, numbers or (for strings) pointers. */
static void fire(struct fixture *f, struct unit *u, const uint64_t *values)
{
	uint8_t data[256] = { 0 };
	struct vp_record r = { .ecb = &u->ecb, .cpu = 2, .data = data, .size = u->layout.size };

	for (uint32_t i = 0; i < u->layout.nrecs; i++) {
		const struct dif_rec *rec = &u->layout.recs[i];
		if (rec->size == 16)
			strcpy((char *)data + rec->offset, (const char *)(uintptr_t)values[i]);
		else
			memcpy(data + rec->offset, &values[i], rec->size);
	}
	assert_null(f->sink.record(f->sink.arg, &r));
}

static void test_lines(void **state)
{
	const struct dif_action two[] = { { .kind = DIF_ACT_difexpr, .object = &object_of[4], .uarg = 1 },
					  { .kind = DIF_ACT_difexpr, .object = &text_object, .uarg = 2 } };
	struct unit data, empty;
	struct fixture f;

	(void)state;
	setup(&f);
	unit(&f, &data, 1, 77, "fbt", "vfs_read", "entry", two, 2);
	unit(&f, &empty, 2, 1, "dtrace", "", "BEGIN", NULL, 0);
	fire(&f, &empty, NULL);
	fire(&f, &data, (uint64_t[]){ 5, (uintptr_t) "hi" });
	output(&f,
	       "CPU     ID                    FUNCTION:NAME\n"
	       "  2      1                           :BEGIN \n"
	       "  2     77                   vfs_read:entry         5  hi                               \n");
	f.opts.quiet = true;
	fire(&f, &data, (uint64_t[]){ 5, (uintptr_t) "hi" });
	fire(&f, &empty, NULL);
	output(&f, "5hi");
	teardown(&f);
}

static void test_printf_runs(void **state)
{
	const struct dif_action actions[] = {
		{ .kind = DIF_ACT_printf, .object = &object_of[4], .uarg = 1, .format = "%d/%s " },
		{ .kind = DIF_ACT_printf, .object = &text_object, .uarg = 1 },
		{ .kind = DIF_ACT_printf, .uarg = 2, .format = "plain " },
		{ .kind = DIF_ACT_exit, .object = &object_of[4], .uarg = 3 },
		{ .kind = DIF_ACT_printf, .object = &object_of[1], .uarg = 4, .format = "%c\n" },
	};
	struct unit u;
	struct fixture f;

	(void)state;
	setup(&f);
	f.opts.quiet = true;
	unit(&f, &u, 1, 1, "dtrace", "", "BEGIN", actions, 5);
	fire(&f, &u, (uint64_t[]){ 42, (uintptr_t) "ok", 0, 9, 'x' });
	fire(&f, &u, (uint64_t[]){ 43, (uintptr_t) "", 0, 9, 'y' });
	output(&f, "42/ok plain x\n43/ plain y\n");
	teardown(&f);
}

static void test_tracemem(void **state)
{
	const struct dif_action actions[] = {
		{ .kind = DIF_ACT_tracemem, .object = &object_of[4], .uarg = 1 },
		{ .kind = DIF_ACT_tracemem_dynsize, .object = &object_of[8], .uarg = 1 },
	};
	struct unit u;
	struct fixture f;

	(void)state;
	setup(&f);
	f.opts.quiet = true;
	unit(&f, &u, 1, 1, "dtrace", "", "BEGIN", actions, 2);
	fire(&f, &u, (uint64_t[]){ 0x44434241, 2 });
	output(&f, "\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"
		   "         0: 41 42                                            AB\n");
	fire(&f, &u, (uint64_t[]){ 0x44434241, 0 });
	output(&f, "");
	fire(&f, &u, (uint64_t[]){ 0x44434241, UINT64_MAX }); /* negative: all of it */
	output(&f, "\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"
		   "         0: 41 42 43 44                                      ABCD\n");
	teardown(&f);
}

static void test_flowindent(void **state)
{
	struct unit in, out, sys_in, sys_out, other, out_again;
	struct fixture f;

	(void)state;
	setup(&f);
	f.opts.flowindent = true;
	unit(&f, &sys_in, 1, 10, "syscall", "read", "entry", NULL, 0);
	unit(&f, &sys_out, 2, 11, "syscall", "read", "return", NULL, 0);
	unit(&f, &in, 3, 12, "fbt", "vfs_read", "entry", NULL, 0);
	unit(&f, &out, 4, 13, "fbt", "vfs_read", "return", NULL, 0);
	unit(&f, &out_again, 5, 13, "fbt", "vfs_read", "return", NULL, 0);
	unit(&f, &other, 6, 14, "profile", "", "tick-1s", NULL, 0);
	fire(&f, &sys_in, NULL);
	fire(&f, &in, NULL);
	fire(&f, &other, NULL);
	fire(&f, &out, NULL);       /* another clause of the same probe follows: not yet out */
	fire(&f, &out_again, NULL); /* now */
	fire(&f, &sys_out, NULL);
	output(&f, "CPU FUNCTION                                 \n"
		   "  2  => read                                  \n"
		   "  2    -> vfs_read                            \n"
		   "  2     | :tick-1s                            \n"
		   "  2     | vfs_read:return                     \n"
		   "  2    <- vfs_read                            \n"
		   "  2  <= read                                  \n");
	teardown(&f);
}

/* A second clause of an entry does not indent again. */
static void test_flowindent_entry_twice(void **state)
{
	struct unit in, in_again, next;
	struct fixture f;

	(void)state;
	setup(&f);
	f.opts.flowindent = true;
	unit(&f, &in, 1, 12, "fbt", "a", "entry", NULL, 0);
	unit(&f, &in_again, 2, 12, "fbt", "a", "entry", NULL, 0);
	unit(&f, &next, 3, 15, "pid7", "b", "method-entry", NULL, 0);
	fire(&f, &in, NULL);
	fire(&f, &in_again, NULL);
	fire(&f, &next, NULL);
	output(&f, "CPU FUNCTION                                 \n"
		   "  2  -> a                                     \n"
		   "  2   | a:entry                               \n"
		   "  2    -> b                                   \n");
	teardown(&f);
}

static void aggregate(struct fixture *f, struct unit *u, uint64_t n)
{
	uint32_t tuple = 1;
	struct vp_aggregate delta = { .ecb = &u->ecb,
				      .layout = &u->layout.aggs[0],
				      .action = &u->actions[0],
				      .tuple = (const uint8_t *)&tuple,
				      .words = &n };

	assert_null(f->sink.aggregate(f->sink.arg, &delta));
}

static void test_libact(void **state)
{
	const struct dif_action count[] = {
		{ .kind = (enum dif_action_kind)DIF_AGG_count, .ntuple = 1, .aggid = 1 }
	};
	const struct dif_action normalize[] = {
		{ .kind = DIF_ACT_libact,
		  .arg = DIF_LIBACT_NORMALIZE,
		  .aggid = 1,
		  .object = &object_of[8],
		  .uarg = 1 },
		{ .kind = DIF_ACT_printa, .aggid = 1, .format = "%@d\n", .uarg = 2 },
		{ .kind = DIF_ACT_libact, .arg = DIF_LIBACT_DENORMALIZE, .aggid = 1, .uarg = 3 },
		{ .kind = DIF_ACT_printa, .aggid = 1, .format = "%@d\n", .uarg = 4 },
		{ .kind = DIF_ACT_libact, .arg = DIF_LIBACT_CLEAR, .aggid = 1, .uarg = 5 },
		{ .kind = DIF_ACT_printa, .aggid = 1, .format = "%@d\n", .uarg = 6 },
	};
	const struct dif_action trunc[] = {
		{ .kind = DIF_ACT_libact, .arg = DIF_LIBACT_TRUNC, .aggid = 1, .uarg = 1 },
		{ .kind = DIF_ACT_libact, .arg = DIF_LIBACT_SETOPT, .object = &text_object, .uarg = 2 },
	};
	struct unit counting, acting, last;
	struct fixture f;

	(void)state;
	setup(&f);
	f.opts.quiet = true;
	unit(&f, &counting, 1, 1, "dtrace", "", "BEGIN", count, 1);
	unit(&f, &acting, 2, 1, "dtrace", "", "BEGIN", normalize, 6);
	unit(&f, &last, 3, 1, "dtrace", "", "BEGIN", trunc, 2);
	aggregate(&f, &counting, 30);
	aggregate(&f, &counting, 12);
	fire(&f, &acting, (uint64_t[]){ 10, 0, 0, 0, 0, 0 });
	output(&f, "4\n42\n0\n");
	assert_int_equal(f.c.aggs.vars[0].count, 1);
	fire(&f, &last, (uint64_t[]){ 0, (uintptr_t) "rawbytes" });
	assert_int_equal(f.c.aggs.vars[0].count, 0);
	assert_true(f.opts.rawbytes);
	output(&f, "");
	teardown(&f);
}

/* Data beyond the record's end is not read. */
static void test_short_record(void **state)
{
	const struct dif_action actions[] = {
		{ .kind = DIF_ACT_difexpr, .object = &object_of[8], .uarg = 1 }
	};
	uint8_t *data = calloc(1, DIF_RECORD_HEADER);
	struct unit u;
	struct fixture f;

	(void)state;
	setup(&f);
	f.opts.quiet = true;
	unit(&f, &u, 1, 1, "dtrace", "", "BEGIN", actions, 1);
	struct vp_record r = { .ecb = &u.ecb, .data = data, .size = DIF_RECORD_HEADER };
	assert_null(f.sink.record(f.sink.arg, &r));
	output(&f, "");
	free(data);
	teardown(&f);
}

/* freopen("") restores the original output. */
static void test_freopen(void **state)
{
	const struct dif_action say[] = { { .kind = DIF_ACT_printf, .uarg = 1, .format = "said\n" } };
	const struct dif_action move[] = {
		{ .kind = DIF_ACT_freopen, .object = &text_object, .uarg = 1, .format = "%s" }
	};
	char first[] = "cli-first-XXXXXX", second[16] = "cliXXXXXX", text[64] = "";
	struct unit saying, moving;
	struct fixture f;

	(void)state;
	setup(&f);
	f.opts.quiet = true;
	fclose(f.c.out->printer.fp);
	f.c.out->printer.fp = fdopen(mkstemp(first), "w");
	close(mkstemp(second));
	unit(&f, &saying, 1, 1, "dtrace", "", "BEGIN", say, 1);
	unit(&f, &moving, 2, 1, "dtrace", "", "BEGIN", move, 1);
	fire(&f, &saying, (uint64_t[]){ 0 });
	fire(&f, &moving, (uint64_t[]){ (uintptr_t)second });
	fire(&f, &saying, (uint64_t[]){ 0 });
	fire(&f, &saying, (uint64_t[]){ 0 });
	fire(&f, &moving, (uint64_t[]){ (uintptr_t) "" });
	fire(&f, &saying, (uint64_t[]){ 0 });
	assert_null(con_consumer_flush(&f.c));
	int fd = open(first, O_RDONLY);
	assert_int_equal(read(fd, text, sizeof(text)), 10);
	assert_string_equal(text, "said\nsaid\n");
	close(fd);
	fd = open(second, O_RDONLY);
	assert_int_equal(read(fd, text, sizeof(text)), 10);
	close(fd);
	unlink(first);
	unlink(second);
	teardown(&f);
}

/* A full disk is an error of the sink. */
static void test_full_disk(void **state)
{
	const struct dif_action say[] = { { .kind = DIF_ACT_printf, .uarg = 1, .format = "said\n" } };
	struct unit saying;
	struct fixture f;

	(void)state;
	setup(&f);
	fclose(f.c.out->printer.fp);
	f.c.out->printer.fp = fopen("/dev/full", "w");
	assert_non_null(f.c.out->printer.fp);
	f.c.out_name = "/dev/full";
	unit(&f, &saying, 1, 1, "dtrace", "", "BEGIN", say, 1);
	fire(&f, &saying, (uint64_t[]){ 0 });
	struct ot_err *err = con_consumer_flush(&f.c);
	assert_non_null(err);
	assert_string_equal(ot_err_message(err), "failed to write to /dev/full: No space left on device");
	ot_err_destroy(err);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_printf_runs),
		cmocka_unit_test(test_tracemem),
		cmocka_unit_test(test_flowindent),
		cmocka_unit_test(test_flowindent_entry_twice),
		cmocka_unit_test(test_libact),
		cmocka_unit_test(test_short_record),
		cmocka_unit_test(test_freopen),
		cmocka_unit_test(test_full_disk),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
