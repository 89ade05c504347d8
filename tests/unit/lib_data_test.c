/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What liboutsight hands out: records and their callbacks' words, text, aggregations as they are walked,
 * faults, several handles. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/unit/lib_fixture.h"

/* --- records -------------------------------------------------------------------------------------------- */

struct seen {
	int probe_says, rec_says;
	uint16_t not_for; /* an action that rec_says is not for */
	unsigned probes, recs, ends;
	uint64_t time_ns;
	char actions[128];
};

static int on_probe(const dtrace_probedata_t *data, void *arg)
{
	struct seen *s = arg;

	s->probes++;
	assert_string_equal(data->dtpda_pdesc->dtpd_provider, "dtrace");
	assert_int_equal(data->dtpda_pdesc->dtpd_id, data->dtpda_edesc->dtepd_probeid);
	assert_string_equal(outsight_guest(data->dtpda_handle), "");
	assert_true(outsight_time(data->dtpda_handle) >= s->time_ns);
	s->time_ns = outsight_time(data->dtpda_handle);
	assert_true(s->time_ns != 0);
	return s->probe_says;
}

static int on_rec(const dtrace_probedata_t *data, const dtrace_recdesc_t *rec, void *arg)
{
	struct seen *s = arg;

	if (!rec) {
		s->ends++;
		return DTRACE_CONSUME_THIS;
	}
	assert_int_equal((uintptr_t)data->dtpda_data % rec->dtrd_alignment, 0);
	assert_true(rec >= data->dtpda_edesc->dtepd_rec &&
		    rec < data->dtpda_edesc->dtepd_rec + data->dtpda_edesc->dtepd_nrecs);
	snprintf(s->actions + strlen(s->actions), sizeof(s->actions) - strlen(s->actions), "%x ",
		 rec->dtrd_action);
	s->recs++;
	return rec->dtrd_action == s->not_for ? DTRACE_CONSUME_THIS : s->rec_says;
}

#define PROGRAM                                                                                         \
	"BEGIN { trace(1); printf(\"%d-%s \", 2, \"two\"); printf(\"plain \"); @ = count(); clear(@); " \
	"trace(\"three\"); exit(0); }"

static void run(struct seen *s, struct lib_text *text)
{
	dtrace_hdl_t *h = lib_open();

	lib_ok(h, dtrace_setopt(h, "quiet", NULL));
	lib_ok(h, dtrace_handle_buffered(h, lib_keep_text, text));
	lib_program(h, PROGRAM);
	lib_run(h, on_probe, on_rec, s);
	dtrace_close(h);
}

static void test_this(void **state)
{
	struct lib_text text = { 0 };
	struct seen s = { 0 };

	(void)state;
	run(&s, &text);
	assert_string_equal(text.text, "12-two plain three");
	assert_int_equal(text.calls, 4);
	/* printf()'s second argument is the first one's; what acts on the session is not shown */
	assert_string_equal(s.actions, "1 3 3 1 2 ");
	assert_int_equal(s.probes, 1);
	assert_int_equal(s.ends, 1);
}

static void test_next(void **state)
{
	struct lib_text text = { 0 };
	struct seen s = { .rec_says = DTRACE_CONSUME_NEXT, .not_for = DTRACEACT_DIFEXPR };

	(void)state;
	run(&s, &text);
	assert_string_equal(text.text, "1three");
	assert_string_equal(s.actions, "1 3 3 3 1 2 ");
	memset(&text, 0, sizeof(text));
	s = (struct seen){ .probe_says = DTRACE_CONSUME_NEXT };
	run(&s, &text);
	assert_int_equal(s.probes, 1);
	assert_int_equal(s.recs + s.ends, 0);
	assert_string_equal(text.text, "");
}

static void fails(struct seen s, int error)
{
	dtrace_hdl_t *h = lib_open();
	struct lib_text text = { 0 };
	dtrace_workstatus_t status = DTRACE_WORKSTATUS_OKAY;

	lib_ok(h, dtrace_handle_buffered(h, lib_keep_text, &text));
	lib_program(h, PROGRAM);
	lib_ok(h, dtrace_go(h));
	while (status == DTRACE_WORKSTATUS_OKAY) {
		dtrace_sleep(h);
		status = dtrace_work(h, NULL, on_probe, on_rec, &s);
	}
	assert_int_equal(status, DTRACE_WORKSTATUS_ERROR);
	assert_int_equal(dtrace_errno(h), error);
	dtrace_close(h);
}

static void test_wrong_words(void **state)
{
	(void)state;
	fails((struct seen){ .probe_says = DTRACE_CONSUME_ABORT }, OUTSIGHT_E_ABORTED);
	fails((struct seen){ .rec_says = DTRACE_CONSUME_ERROR, .not_for = DTRACEACT_PRINTF },
	      OUTSIGHT_E_ABORTED);
	fails((struct seen){ .rec_says = 17, .not_for = DTRACEACT_PRINTF }, OUTSIGHT_E_CALLBACK);
}

/* Text needs somewhere to go, and a stream is such a place. */
static void test_streams(void **state)
{
	dtrace_hdl_t *h = lib_open();
	dtrace_workstatus_t status;
	char *text = NULL;
	size_t len;

	(void)state;
	FILE *fp = open_memstream(&text, &len);
	lib_program(h, "BEGIN { printf(\"a\\n\"); } tick-1ms { printf(\"b\\n\"); exit(0); }");
	lib_ok(h, dtrace_go(h));
	do {
		dtrace_sleep(h);
		status = dtrace_work(h, fp, NULL, NULL, NULL);
	} while (status == DTRACE_WORKSTATUS_OKAY);
	assert_int_equal(status, DTRACE_WORKSTATUS_DONE);
	fclose(fp);
	assert_string_equal(text, "a\nb\n");
	free(text);
	dtrace_close(h);

	h = lib_open();
	lib_program(h, "BEGIN { printf(\"a\\n\"); exit(0); }");
	lib_ok(h, dtrace_go(h));
	status = DTRACE_WORKSTATUS_OKAY;
	while (status == DTRACE_WORKSTATUS_OKAY)
		status = dtrace_work(h, NULL, NULL, NULL, NULL);
	assert_int_equal(dtrace_errno(h), OUTSIGHT_E_NO_BUFFERED);
	dtrace_close(h);
}

static int call_back(const dtrace_probedata_t *data, void *arg)
{
	dtrace_hdl_t *h = data->dtpda_handle;
	unsigned *refused = arg;

	*refused += dtrace_stop(h) == -1 && dtrace_errno(h) == EBUSY;
	*refused += dtrace_work(h, NULL, NULL, NULL, NULL) == DTRACE_WORKSTATUS_ERROR;
	*refused += dtrace_aggregate_snap(h) == -1;
	return DTRACE_CONSUME_NEXT;
}

static void test_own_handle(void **state)
{
	dtrace_hdl_t *h = lib_open();
	unsigned refused = 0;

	(void)state;
	lib_program(h, "BEGIN { exit(0); }");
	lib_run(h, call_back, NULL, &refused);
	assert_int_equal(refused, 3);
	dtrace_close(h);
}

/* A string that fills its field ends in a NUL all the same. */
static int on_long(const dtrace_probedata_t *data, const dtrace_recdesc_t *rec, void *arg)
{
	unsigned *found = arg;

	if (rec && rec->dtrd_action == DTRACEACT_DIFEXPR) {
		assert_int_equal(rec->dtrd_size, 9);
		assert_string_equal(data->dtpda_data, "12345678");
		++*found;
	}
	return DTRACE_CONSUME_NEXT;
}

static int on_long_key(const dtrace_aggdata_t *agg, void *arg)
{
	unsigned *found = arg;

	assert_int_equal(agg->dtada_desc->dtagd_rec[1].dtrd_size, 9);
	assert_string_equal(agg->dtada_data + agg->dtada_desc->dtagd_rec[1].dtrd_offset, "12345678");
	++*found;
	return DTRACE_AGGWALK_NEXT;
}

static void test_long_strings(void **state)
{
	dtrace_hdl_t *h = lib_open();
	unsigned found = 0;

	(void)state;
	lib_ok(h, dtrace_setopt(h, "strsize", "9"));
	lib_program(h, "BEGIN { trace(\"1234567890\"); @[\"1234567890\"] = count(); exit(0); }");
	lib_run(h, NULL, on_long, &found);
	lib_ok(h, dtrace_aggregate_walk(h, on_long_key, &found));
	assert_int_equal(found, 2);
	dtrace_close(h);
}

/* --- faults --------------------------------------------------------------------------------------------- */

static int on_fault(const dtrace_errdata_t *data, void *arg)
{
	unsigned *faults = arg;

	assert_int_equal(data->dteda_fault, 4); /* a division by zero */
	assert_string_equal(data->dteda_pdesc->dtpd_name, "BEGIN");
	assert_non_null(strstr(data->dteda_msg, "divide-by-zero in action #1"));
	++*faults;
	return DTRACE_HANDLE_OK;
}

static void test_faults(void **state)
{
	static const char program[] = "BEGIN { trace(1 / (int)(vtimestamp * 0)); } tick-1ms { exit(0); }";
	dtrace_hdl_t *h = lib_open();
	dtrace_workstatus_t status = DTRACE_WORKSTATUS_OKAY;
	unsigned faults = 0;

	(void)state;
	lib_ok(h, dtrace_handle_err(h, on_fault, &faults));
	assert_int_equal(dtrace_handle_err(h, on_fault, &faults), -1);
	lib_program(h, program);
	lib_run(h, NULL, NULL, NULL);
	assert_int_equal(faults, 1);
	dtrace_close(h);
	/* without a handler it is an error of the call that meets it, and tracing goes on */
	h = lib_open();
	lib_program(h, program);
	lib_ok(h, dtrace_go(h));
	while (status == DTRACE_WORKSTATUS_OKAY)
		status = dtrace_work(h, NULL, NULL, NULL, NULL);
	assert_int_equal(status, DTRACE_WORKSTATUS_ERROR);
	assert_int_equal(dtrace_errno(h), OUTSIGHT_E_FAULT);
	assert_non_null(strstr(dtrace_errmsg(h, OUTSIGHT_E_FAULT), "divide-by-zero"));
	while ((status = dtrace_work(h, NULL, NULL, NULL, NULL)) == DTRACE_WORKSTATUS_OKAY)
		dtrace_sleep(h);
	assert_int_equal(status, DTRACE_WORKSTATUS_DONE);
	dtrace_close(h);
}

/* --- aggregations --------------------------------------------------------------------------------------- */

struct walk {
	int says;
	const char *key; /* for this one; "": for all */
	uint64_t normal;
	char seen[256];
};

static int on_element(const dtrace_aggdata_t *agg, void *arg)
{
	const dtrace_aggdesc_t *desc = agg->dtada_desc;
	const char *key = agg->dtada_data + desc->dtagd_rec[1].dtrd_offset;
	const dtrace_recdesc_t *value = &desc->dtagd_rec[desc->dtagd_nrecs - 1];
	struct walk *w = arg;
	char text[32] = "";

	assert_string_equal(desc->dtagd_name, "a");
	assert_int_equal(agg->dtada_size, desc->dtagd_size);
	assert_string_equal(agg->dtada_pdesc->dtpd_name, "BEGIN");
	int length =
	    outsight_text(agg->dtada_handle, value, agg->dtada_data + value->dtrd_offset, text, sizeof(text));
	assert_int_equal(length, (int)strlen(text));
	snprintf(w->seen + strlen(w->seen), sizeof(w->seen) - strlen(w->seen), "%s=%s ", key, text);
	if (*w->key && strcmp(w->key, key) != 0)
		return DTRACE_AGGWALK_NEXT;
	((dtrace_aggdata_t *)agg)->dtada_normal = w->normal;
	return w->says;
}

static void walk(dtrace_hdl_t *h, int says, const char *key, const char *expected)
{
	struct walk w = { .says = says, .key = key, .normal = 10 };

	lib_ok(h, dtrace_aggregate_walk_keysorted(h, on_element, &w));
	assert_string_equal(w.seen, expected);
}

static void test_walks(void **state)
{
	dtrace_hdl_t *h = lib_open();
	struct walk w = { .says = DTRACE_AGGWALK_ABORT, .key = "" };
	struct lib_text text = { 0 };

	(void)state;
	lib_program(h, "BEGIN { @a[\"z\"] = sum(10); @a[\"y\"] = sum(20); @a[\"x\"] = sum(30); exit(0); }");
	lib_ok(h, dtrace_handle_buffered(h, lib_keep_text, &text));
	lib_run(h, NULL, NULL, NULL);
	lib_ok(h, dtrace_aggregate_snap(h));
	walk(h, DTRACE_AGGWALK_NEXT, "", "x=30 y=20 z=10 ");
	walk(h, DTRACE_AGGWALK_NORMALIZE, "x", "x=30 y=20 z=10 ");
	walk(h, DTRACE_AGGWALK_DENORMALIZE, "x", "x=3 y=20 z=10 ");
	walk(h, DTRACE_AGGWALK_CLEAR, "y", "x=30 y=20 z=10 ");
	walk(h, DTRACE_AGGWALK_REMOVE, "x", "x=30 y=0 z=10 ");
	walk(h, DTRACE_AGGWALK_NEXT, "", "y=0 z=10 ");
	assert_int_equal(dtrace_aggregate_walk(h, on_element, &w), -1);
	assert_int_equal(dtrace_errno(h), OUTSIGHT_E_ABORTED);
	w = (struct walk){ .says = 99, .key = "" };
	assert_int_equal(dtrace_aggregate_walk(h, on_element, &w), -1);
	assert_int_equal(dtrace_errno(h), OUTSIGHT_E_CALLBACK);
	w = (struct walk){ .says = DTRACE_AGGWALK_NORMALIZE, .key = "" };
	assert_int_equal(dtrace_aggregate_walk(h, on_element, &w), -1);
	assert_int_equal(dtrace_errno(h), OUTSIGHT_E_DATA);
	lib_ok(h, dtrace_aggregate_print(h, NULL, NULL));
	assert_non_null(
	    strstr(text.text, "  z                                                                10\n"));
	dtrace_aggregate_clear(h);
	walk(h, DTRACE_AGGWALK_NEXT, "", "y=0 z=0 ");
	dtrace_close(h);
}

/* --- addresses and texts -------------------------------------------------------------------------------- */

static void test_addresses(void **state)
{
	dtrace_hdl_t *h = lib_open();
	dtrace_syminfo_t info;
	char buf[16] = "as it was";
	GElf_Sym sym;

	(void)state;
	assert_int_equal(dtrace_addr2str(h, 0x1234, NULL, 0), 7);
	assert_int_equal(dtrace_addr2str(h, 0x1234, buf, sizeof(buf)), 7);
	assert_string_equal(buf, "0x1234");
	assert_int_equal(dtrace_addr2str(h, 0x1234, buf, 4), 7);
	assert_string_equal(buf, "0x1");
	assert_int_equal(dtrace_lookup_by_addr(h, 0x1234, &sym, &info), -1);
	assert_int_equal(dtrace_errno(h), OUTSIGHT_E_NO_SYMBOL);
	/* of this process, as there is no guest */
	lib_ok(h, outsight_attach(h));
	char text[256];
	assert_true(dtrace_uaddr2str(h, getpid(), (uint64_t)(uintptr_t)&dtrace_open, text, sizeof(text)) > 1);
	dtrace_close(h);
}

static int on_text(const dtrace_probedata_t *data, const dtrace_recdesc_t *rec, void *arg)
{
	struct lib_text *t = arg;
	char text[64] = "";

	if (!rec || rec->dtrd_action != DTRACEACT_DIFEXPR)
		return DTRACE_CONSUME_NEXT;
	int length = outsight_text(data->dtpda_handle, rec, data->dtpda_data, text, sizeof(text));
	assert_int_equal(length, (int)strlen(text));
	t->len += (size_t)snprintf(t->text + t->len, sizeof(t->text) - t->len, "[%s]", text);
	return DTRACE_CONSUME_NEXT;
}

static void test_texts(void **state)
{
	dtrace_hdl_t *h = lib_open();
	struct lib_text t = { 0 };
	char text[8];

	(void)state;
	lib_program(h, "BEGIN { trace(-5); trace(\"abc\"); trace((char)3); exit(0); }");
	lib_run(h, NULL, on_text, &t);
	assert_string_equal(t.text, "[-5][abc][3]");
	assert_int_equal(outsight_text(h, NULL, NULL, text, sizeof(text)), 0);
	assert_int_equal(outsight_time(h), 0);
	dtrace_close(h);
}

/* --- several handles ------------------------------------------------------------------------------------ */

static int on_number(const dtrace_probedata_t *data, const dtrace_recdesc_t *rec, void *arg)
{
	int *sum = arg;

	if (rec && rec->dtrd_action == DTRACEACT_DIFEXPR)
		*sum += *(const int *)(const void *)data->dtpda_data;
	return DTRACE_CONSUME_NEXT;
}

/* In turns, each with its own data and options; one fails and the other does not. */
static void test_two_handles(void **state)
{
	dtrace_hdl_t *a = lib_open(), *b = lib_open();
	dtrace_workstatus_t sa = DTRACE_WORKSTATUS_OKAY, sb = DTRACE_WORKSTATUS_OKAY;
	int na = 0, nb = 0;

	(void)state;
	lib_program(a, "tick-2ms { trace(1); } tick-2ms /i++ == 4/ { exit(1); }");
	assert_null(dtrace_program_strcompile(b, "BEGIN {", DTRACE_PROBESPEC_NAME, 0, 0, NULL));
	assert_int_equal(dtrace_errno(a), 0);
	lib_program(b, "tick-2ms { trace(100); } tick-2ms /i++ == 9/ { exit(2); }");
	lib_ok(a, dtrace_go(a));
	lib_ok(b, dtrace_go(b));
	while (sa == DTRACE_WORKSTATUS_OKAY || sb == DTRACE_WORKSTATUS_OKAY) {
		dtrace_sleep(sa == DTRACE_WORKSTATUS_OKAY ? a : b);
		sa = dtrace_work(a, NULL, NULL, on_number, &na);
		sb = dtrace_work(b, NULL, NULL, on_number, &nb);
	}
	assert_int_equal(sa, DTRACE_WORKSTATUS_DONE);
	assert_int_equal(sb, DTRACE_WORKSTATUS_DONE);
	assert_int_equal(na, 5);
	assert_int_equal(nb, 1000);
	assert_int_equal(outsight_exit_status(a), 1);
	assert_int_equal(outsight_exit_status(b), 2);
	dtrace_close(a);
	dtrace_close(b);
}

static void *trace_alone(void *arg)
{
	int *sum = arg;

	for (unsigned i = 0; i < 5; i++) {
		dtrace_hdl_t *h = lib_open();
		lib_program(h, "tick-1ms { trace(1); } tick-1ms /i++ == 3/ { exit(0); }");
		lib_run(h, NULL, on_number, sum);
		dtrace_close(h);
	}
	return NULL;
}

static void test_threads(void **state)
{
	pthread_t threads[3];
	int sums[3] = { 0 };

	(void)state;
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, trace_alone, &sums[i]), 0);
	for (unsigned i = 0; i < 3; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(sums[i], 20);
	}
}

/* A program that was compiled and not executed is not enabled. */
static void test_not_executed(void **state)
{
	dtrace_hdl_t *h = lib_open();
	int sum = 0;

	(void)state;
	assert_non_null(
	    dtrace_program_strcompile(h, "BEGIN { trace(1000); }", DTRACE_PROBESPEC_NAME, 0, 0, NULL));
	lib_program(h, "BEGIN { trace(1); exit(0); }");
	assert_non_null(
	    dtrace_program_strcompile(h, "END { trace(1000); }", DTRACE_PROBESPEC_NAME, 0, 0, NULL));
	lib_run(h, NULL, on_number, &sum);
	assert_int_equal(sum, 1);
	dtrace_close(h);
}

/* Nothing is due for a day. */
static void test_wake(void **state)
{
	dtrace_hdl_t *h = lib_open();

	(void)state;
	lib_ok(h, dtrace_setopt(h, "switchrate", "1day"));
	lib_ok(h, dtrace_setopt(h, "aggrate", "1day"));
	lib_ok(h, dtrace_setopt(h, "statusrate", "1day"));
	lib_program(h, "END { }");
	lib_ok(h, dtrace_go(h));
	outsight_wake(h);
	dtrace_sleep(h);
	dtrace_close(h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_this),         cmocka_unit_test(test_next),
		cmocka_unit_test(test_wrong_words),  cmocka_unit_test(test_streams),
		cmocka_unit_test(test_own_handle),   cmocka_unit_test(test_long_strings),
		cmocka_unit_test(test_faults),       cmocka_unit_test(test_walks),
		cmocka_unit_test(test_addresses),    cmocka_unit_test(test_texts),
		cmocka_unit_test(test_two_handles),  cmocka_unit_test(test_threads),
		cmocka_unit_test(test_not_executed), cmocka_unit_test(test_wake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
