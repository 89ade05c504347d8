/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The live view without a terminal: what guests answer (answer.c, answer_tables.c), keys (model.c, keys.c),
 * lines (view.c). */
#include <locale.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/top/view.h"

/* --- answers --------------------------------------------------------------------------------------------- */

static void answer(struct cli_top_answer *a, const char *const *lines)
{
	for (; *lines; lines++)
		cli_top_answer_line(a, *lines);
	assert_false(a->failed);
}

static const char *const processes[] = { "process 1 97 - - - init\\0",
					 "process 4242 48 1000 20 3 a\\033[2J b\\0", "end", NULL };
static const char *const stacks[] = { "stack 30",
				      "  vmlinux`vfs_read+0x10",
				      "  vmlinux`ksys_read+0x65",
				      "",
				      "  libc.so.6`read+0x12",
				      "  a b`main+0x1",
				      "stack 10",
				      "  vmlinux`vfs_read+0x99",
				      "stack 5",
				      "end",
				      NULL };

static void test_processes(void **state)
{
	struct cli_top_table t = { 0 };
	struct cli_top_answer a;

	(void)state;
	cli_top_answer_init(&a, 2000);
	assert_null(cli_top_answer_processes(&a, &t));
	assert_int_equal(t.count, 0);
	answer(&a, processes);
	cli_top_answer_line(&a, "process 9 1 - - - not yet\\0"); /* its period has not ended */
	assert_null(cli_top_answer_processes(&a, &t));
	assert_int_equal(t.count, 2);
	assert_string_equal(t.rows[1].name, "a\\x1b[2J b");
	const double second[] = { 4242, 48. / 97 / 2 * 100, 500, 10, 1.5 };
	for (unsigned i = 0; i < 5; i++)
		assert_true(fabs(t.rows[1].values[i] - second[i]) < 1e-9);
	assert_true(fabs(t.rows[0].values[1] - 50) < 1e-9 && isnan(t.rows[0].values[2]));
	cli_top_answer_line(&a, "end");
	assert_null(cli_top_answer_processes(&a, &t));
	assert_int_equal(t.count, 1);
	cli_top_table_deinit(&t);
	cli_top_answer_deinit(&a);
}

static void row_is(const struct cli_top_table *t, const char *name, double self, double total, double samples)
{
	for (size_t i = 0; i < t->count; i++)
		if (!strcmp(t->rows[i].name, name)) {
			assert_true(fabs(t->rows[i].values[0] - self) < 1e-9);
			assert_true(fabs(t->rows[i].values[1] - total) < 1e-9);
			assert_true(t->rows[i].values[2] == samples);
			return;
		}
	fail_msg("no row %s", name);
}

/* Samples since the question was asked: 97 a second, so 97 in a period of a second are 100 %. */
static void test_stacks(void **state)
{
	struct cli_top_table t = { 0 };
	struct cli_top_answer a;

	(void)state;
	cli_top_answer_init(&a, 1000);
	answer(&a, (const char *const[]){ "end", NULL });
	answer(&a, stacks);
	assert_null(cli_top_answer_functions(&a, &t));
	assert_int_equal(t.count, 5);
	row_is(&t, "vmlinux`vfs_read", 40 / 194. * 100, 40 / 194. * 100, 40);
	row_is(&t, "a b`main", 0, 30 / 194. * 100, 0);
	row_is(&t, "[unknown]", 5 / 194. * 100, 5 / 194. * 100, 5);

	assert_null(cli_top_answer_stacks(&a, "vmlinux`vfs_read", &t));
	assert_int_equal(t.count, 7);
	assert_string_equal(t.rows[0].name, "stack");
	assert_true(t.rows[0].values[2] == 30 && t.rows[5].values[2] == 10);
	assert_string_equal(t.rows[4].name, "  a b`main");
	assert_null(cli_top_answer_stacks(&a, "[unknown]", &t));
	assert_int_equal(t.count, 1);
	assert_null(cli_top_answer_stacks(&a, "nosuch", &t));
	assert_int_equal(t.count, 0);
	cli_top_table_deinit(&t);
	cli_top_answer_deinit(&a);
}

/* A function that calls itself is in a stack once. */
static void test_recursion(void **state)
{
	struct cli_top_table t = { 0 };
	struct cli_top_answer a;

	(void)state;
	cli_top_answer_init(&a, 1000);
	answer(&a, (const char *const[]){ "stack 97", "  f", "  g", "  f", "end", NULL });
	assert_null(cli_top_answer_functions(&a, &t));
	row_is(&t, "f", 100, 100, 97);
	row_is(&t, "g", 0, 100, 0);
	cli_top_table_deinit(&t);
	cli_top_answer_deinit(&a);
}

/* What is no line of a program's is left out, and however many there are, memory has a bound. */
static void test_hostile_lines(void **state)
{
	static const char *const lines[] = { "",
					     "process",
					     "process x 1 - - - a",
					     "process 1",
					     "process 1 2",
					     "process 1 2 3 4",
					     "process 99999999999999 1 - - - a",
					     "process -1 1 - - - a",
					     "stack",
					     "stack 1 2",
					     "stack x",
					     "calls",
					     "calls x",
					     "  a frame of no stack",
					     "ended",
					     "processes 1 1 - - - a",
					     NULL };
	struct cli_top_table t = { 0 };
	struct cli_top_answer a;
	char line[64];

	(void)state;
	cli_top_answer_init(&a, 1000);
	answer(&a, lines);
	assert_int_equal(a.periods, 0);
	assert_int_equal(a.next.nprocesses + a.next.nstacks, 0);
	for (unsigned i = 0; i < 100000; i++) {
		snprintf(line, sizeof(line), "process %u 1 - - - n\\0", i);
		cli_top_answer_line(&a, line);
		cli_top_answer_line(&a, "stack 1");
		for (unsigned k = 0; i == 50 && k < 10000; k++)
			cli_top_answer_line(&a, "  f");
	}
	cli_top_answer_line(&a, "end");
	assert_true(a.whole.nprocesses < 10000 && a.whole.nstacks < 10000 &&
		    a.whole.stacks[50].nframes < 1000);
	assert_null(cli_top_answer_functions(&a, &t));
	cli_top_table_deinit(&t);
	cli_top_answer_deinit(&a);
}

static void test_calls(void **state)
{
	struct cli_top_answer a;

	(void)state;
	cli_top_answer_init(&a, 500);
	assert_true(isnan(cli_top_answer_calls(&a)));
	answer(&a, (const char *const[]){ "calls 70", "end", "calls 9", NULL });
	assert_true(cli_top_answer_calls(&a) == 140);
	answer(&a, (const char *const[]){ "end", "end", NULL });
	assert_true(cli_top_answer_calls(&a) == 0); /* a period without a call */
	cli_top_answer_deinit(&a);
}

/* --- the model ------------------------------------------------------------------------------------------- */

struct fixture {
	struct cli_top_model m;
	struct cli_top_guests g;
	struct cli_top_guest guests[3];
	struct cli_top_answer a;
};

static int setup(void **state)
{
	static const char *const names[] = { "web01", "db\x1b[1m", "web02" };
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	for (unsigned i = 0; i < 3; i++) {
		struct cli_top_guest *guest = &f->guests[i];
		*guest = (struct cli_top_guest){ .pid = 100 + i, .nvcpus = 1, .nread = 2, .syscalls = NAN };
		strcpy(guest->name, names[i]);
		guest->now =
		    (struct cli_top_counters){ .at_ns = 1000000000, .cpu_ns = (i + 1) * 100000000ull };
	}
	f->g = (struct cli_top_guests){ .items = f->guests, .count = 3 };
	cli_top_model_init(&f->m, 2000);
	cli_top_answer_init(&f->a, 2000);
	f->m.page = 20;
	assert_null(cli_top_model_fill(&f->m, &f->g, &f->a));
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	cli_top_model_deinit(&f->m);
	cli_top_answer_deinit(&f->a);
	free(f);
	return 0;
}

static enum cli_top_act press(struct fixture *f, int key)
{
	enum cli_top_act act = cli_top_key(&f->m, key);

	assert_null(cli_top_model_fill(&f->m, &f->g, &f->a));
	return act;
}

static uint64_t selected(const struct fixture *f)
{
	return f->m.table.rows[f->m.orders[f->m.level].row].id;
}

/* The busiest first; a row that is selected stays so in another order, and if it goes the next one is. */
static void test_selection(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(selected(f), 102);
	press(f, CLI_TOP_KEY_DOWN);
	assert_int_equal(selected(f), 101);
	press(f, 'R');
	assert_int_equal(selected(f), 101);
	press(f, CLI_TOP_KEY_END);
	assert_int_equal(selected(f), 102);
	press(f, CLI_TOP_KEY_DOWN);
	assert_int_equal(selected(f), 102);
	press(f, CLI_TOP_KEY_HOME);
	assert_int_equal(selected(f), 100);
	press(f, CLI_TOP_KEY_UP);
	assert_int_equal(selected(f), 100);
	press(f, CLI_TOP_KEY_PAGE_DOWN);
	assert_int_equal(selected(f), 102);
	f->g.count = 2;
	press(f, ' ');
	assert_int_equal(selected(f), 101);
	f->g.count = 0;
	press(f, CLI_TOP_KEY_DOWN);
	press(f, CLI_TOP_KEY_ENTER);
	assert_int_equal(f->m.level, CLI_TOP_GUESTS);
}

/* However few rows fit, the one that is selected is among them. */
static void test_scrolling(void **state)
{
	struct fixture *f = *state;

	f->m.page = 1;
	press(f, CLI_TOP_KEY_DOWN);
	assert_int_equal(f->m.orders[0].first, 1);
	press(f, CLI_TOP_KEY_END);
	assert_int_equal(f->m.orders[0].first, 2);
	press(f, 'R');
	assert_int_equal(f->m.orders[0].first, 0);
}

static void test_path(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(cli_top_model_question(&f->m).subject, CLI_TOP_ASK_NOTHING);
	press(f, CLI_TOP_KEY_DOWN);
	answer(&f->a, processes);
	press(f, CLI_TOP_KEY_ENTER);
	struct cli_top_question q = cli_top_model_question(&f->m);
	assert_int_equal(f->m.level, CLI_TOP_PROCESSES);
	assert_true(q.subject == CLI_TOP_ASK_PROCESSES && q.guest == 101 && !q.probes && q.period_ms == 2000);
	assert_int_equal(selected(f), 1); /* the busiest */
	press(f, CLI_TOP_KEY_DOWN);
	press(f, CLI_TOP_KEY_ENTER);
	q = cli_top_model_question(&f->m);
	assert_true(q.subject == CLI_TOP_ASK_STACKS && q.guest == 101 && q.process == 4242);
	answer(&f->a, stacks);
	press(f, ' ');
	press(f, CLI_TOP_KEY_ENTER);
	assert_int_equal(f->m.level, CLI_TOP_STACKS);
	assert_string_equal(f->m.function, "vmlinux`vfs_read");
	const struct cli_top_question same = cli_top_model_question(&f->m);
	assert_true(cli_top_question_same(&q, &same)); /* the session goes on */
	press(f, CLI_TOP_KEY_ENTER);
	assert_int_equal(f->m.level, CLI_TOP_STACKS);
	assert_int_equal(press(f, 'q'), CLI_TOP_GO_ON);
	press(f, CLI_TOP_KEY_BACK);
	press(f, CLI_TOP_KEY_ERASE);
	assert_int_equal(f->m.level, CLI_TOP_GUESTS);
	assert_int_equal(press(f, CLI_TOP_KEY_BACK), CLI_TOP_GO_ON);
	assert_int_equal(press(f, 'q'), CLI_TOP_QUIT);
}

/* Nothing but "y" allows probes, and they are for the guest about which was asked. */
static void test_probes(void **state)
{
	struct fixture *f = *state;

	press(f, 'e');
	assert_int_equal(f->m.sheet, CLI_TOP_ASK_PROBES);
	press(f, CLI_TOP_KEY_ENTER);
	assert_int_equal(f->m.ncounted, 0);
	press(f, 'e');
	f->guests[2] = f->guests[1]; /* the guest that was selected ends meanwhile */
	f->g.count = 2;
	assert_null(cli_top_model_fill(&f->m, &f->g, &f->a));
	press(f, 'y');
	assert_false(cli_top_model_counts(&f->m, selected(f)));
	assert_true(cli_top_model_counts(&f->m, 102));
	cli_top_model_uncount(&f->m, 102);
	assert_int_equal(f->m.ncounted, 0);

	press(f, 'e');
	press(f, 'y');
	uint32_t guest = (uint32_t)selected(f);
	assert_true(cli_top_model_counts(&f->m, guest));
	const struct cli_top_question q = cli_top_model_shown(&f->m);
	assert_true(q.subject == CLI_TOP_ASK_CALLS && q.guest == guest && q.probes);
	press(f, CLI_TOP_KEY_ENTER);
	assert_true(cli_top_model_question(&f->m).probes); /* it was allowed there */
	press(f, 'e');
	assert_false(cli_top_model_question(&f->m).probes);
	press(f, 'e');
	press(f, 'n');
	assert_false(cli_top_model_question(&f->m).probes);
	press(f, 'q');
	press(f, 'e');
	assert_int_equal(f->m.ncounted, 0);
}

/* The column of the order goes round; a file's name is typed. */
static void test_order_and_file(void **state)
{
	struct fixture *f = *state;

	press(f, 'N');
	assert_int_equal(f->m.orders[0].column, 1);
	press(f, '<');
	press(f, '<');
	assert_int_equal(f->m.orders[0].column, 9);
	press(f, '>');
	assert_int_equal(f->m.orders[0].column, 0);
	assert_int_equal(f->m.table.rows[0].id, 101); /* "db…" */
	press(f, 'P');
	assert_int_equal(f->m.orders[0].column, 3);
	press(f, 's');
	assert_int_equal(f->m.sheet, CLI_TOP_ROWS); /* this screen has no program */
	press(f, CLI_TOP_KEY_ENTER);
	press(f, 'd');
	press(f, 's');
	assert_int_equal(f->m.sheet, CLI_TOP_ASK_FILE);
	for (unsigned i = 0; i < 40; i++)
		press(f, CLI_TOP_KEY_ERASE);
	assert_int_equal(press(f, CLI_TOP_KEY_ENTER), CLI_TOP_GO_ON);
	press(f, 's');
	for (unsigned i = 0; i < 400; i++)
		press(f, 'a');
	assert_int_equal(strlen(f->m.input), sizeof(f->m.input) - 1);
	assert_int_equal(press(f, CLI_TOP_KEY_ENTER), CLI_TOP_SAVE);
}

/* --- lines ----------------------------------------------------------------------------------------------- */

struct page {
	unsigned width, n;
	char lines[64][256];
	enum cli_top_look looks[64];
};

static void put(void *arg, unsigned y, enum cli_top_look look, const char *line)
{
	struct page *p = arg;

	assert_int_equal(y, p->n++);
	assert_int_equal(strlen(line), p->width); /* all that is drawn here is ASCII */
	strcpy(p->lines[y], line);
	p->looks[y] = look;
}

static void draw(struct fixture *f, unsigned width, unsigned height, struct page *p)
{
	const struct cli_top_heading heading = { { 3, 4, 60, 1.5 }, "12:00:00", "a message\x1b[2J" };

	*p = (struct page){ .width = width };
	assert_null(cli_top_view(&f->m, &heading, width, height, put, p));
	assert_int_equal(p->n, height < 5 ? 1 : height);
}

static void test_view(void **state)
{
	struct fixture *f = *state;
	struct page p;

	draw(f, 80, 24, &p);
	assert_string_equal(
	    p.lines[0], "outsight top - 12:00:00  3 guests, 4 vCPUs  CPU 60.0 %  steal 1.5 %             ");
	assert_int_equal(strncmp(p.lines[1], "a message\\x1b[2J  ", 17), 0);
	assert_string_equal(
	    p.lines[2], "GUEST               PID  VCPU  *%CPU  %STEAL  EXITS  CALLS  FAULTS   READ  WRITE");
	assert_string_equal(
	    p.lines[3], "web02               102     1   30.0       -      -      -       0      -      -");
	assert_string_equal(
	    p.lines[4], "db\\x1b[1m           101     1   20.0       -      -      -       0      -      -");
	assert_true(p.looks[3] == CLI_TOP_SELECTED && p.looks[4] == CLI_TOP_PLAIN &&
		    p.looks[2] == CLI_TOP_HEADING);
	for (unsigned width = 1; width < 200; width += 7)
		for (unsigned height = 1; height < 50; height++)
			draw(f, width, height, &p);
	press(f, 'h');
	draw(f, 80, 10, &p);
	assert_int_equal(strncmp(p.lines[3], "The guests of this host", 23), 0);
	for (unsigned i = 0; i < 100; i++)
		press(f, CLI_TOP_KEY_DOWN);
	draw(f, 80, 10, &p);
	assert_non_null(strstr(p.lines[8], "none is put in unasked"));
	press(f, 'q');
	assert_int_equal(f->m.sheet, CLI_TOP_ROWS);
	press(f, 'd');
	draw(f, 80, 24, &p);
	assert_non_null(strstr(p.lines[4], "No program makes this screen"));
}

/* The program of each screen, as it is run. */
static void test_programs(void **state)
{
	struct fixture *f = *state;
	const char *argv[CLI_TOP_WORDS];
	struct cli_top_question q;
	struct ot_buf text;
	char guest[16];

	ot_buf_init(&text);
	press(f, CLI_TOP_KEY_ENTER);
	q = cli_top_model_question(&f->m);
	cli_top_script(&q, &text);
	assert_non_null(
	    strstr(ot_buf_str(&text),
		   " * outsight -g 102 -q -x noattach -x aggrate=250ms -x switchrate=250ms -s FILE\n"));
	assert_null(strstr(ot_buf_str(&text), "syscall"));
	q.probes = true;
	ot_buf_clear(&text);
	cli_top_script(&q, &text);
	assert_null(strstr(ot_buf_str(&text), "noattach"));
	assert_non_null(strstr(ot_buf_str(&text), "syscall:::entry"));
	cli_top_command(&q, "PROGRAM", guest, argv);
	assert_string_equal(argv[0], "outsight");
	assert_string_equal(argv[2], "102");
	size_t n = 0;
	while (argv[n])
		n++;
	assert_string_equal(argv[n - 1], "PROGRAM");
	ot_buf_deinit(&text);
}

#define WITH_MODEL(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_processes),
		cmocka_unit_test(test_stacks),
		cmocka_unit_test(test_recursion),
		cmocka_unit_test(test_hostile_lines),
		cmocka_unit_test(test_calls),
		WITH_MODEL(test_selection),
		WITH_MODEL(test_scrolling),
		WITH_MODEL(test_path),
		WITH_MODEL(test_probes),
		WITH_MODEL(test_order_and_file),
		WITH_MODEL(test_view),
		WITH_MODEL(test_programs),
	};

	setlocale(LC_CTYPE, "C.UTF-8");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
