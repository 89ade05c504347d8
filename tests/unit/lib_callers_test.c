/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The order in which node-libdtrace, erltrace and python-dtrace call DTrace's library, and what each reads of
 * its structures, typed after what they do. Each takes the values out by its own rules: offsets, sizes,
 * return values.
 */
#include "tests/unit/lib_fixture.h"

#define CALLS_MAX 64

/* --- node-libdtrace: a consumer of trace() and of aggregations ------------------------------------------ */

struct node {
	dtrace_hdl_t *h;
	char seen[1024]; /* "provider:function:name value;" */
	size_t len;
	unsigned ended;
};

static int node_ignore(const dtrace_bufdata_t *data, void *arg)
{
	(void)data;
	(void)arg;
	return DTRACE_HANDLE_OK;
}

static void node_put(struct node *n, const char *text)
{
	n->len += (size_t)snprintf(n->seen + n->len, sizeof(n->seen) - n->len, "%s", text);
}

/* Numbers by size, all else is text. */
static void node_datum(struct node *n, uint32_t size, const void *addr)
{
	char text[300];

	switch (size) {
	case 8:
		snprintf(text, sizeof(text), "%lld", (long long)*(const int64_t *)addr);
		break;
	case 4:
		snprintf(text, sizeof(text), "%d", *(const int32_t *)addr);
		break;
	case 2:
		snprintf(text, sizeof(text), "%u", *(const uint16_t *)addr);
		break;
	case 1:
		snprintf(text, sizeof(text), "%u", *(const uint8_t *)addr);
		break;
	default:
		snprintf(text, sizeof(text), "%s", (const char *)addr);
	}
	node_put(n, text);
}

static int node_consume(const dtrace_probedata_t *data, const dtrace_recdesc_t *rec, void *arg)
{
	const dtrace_probedesc_t *probe = data->dtpda_pdesc;
	struct node *n = arg;

	if (!rec) {
		n->ended++;
		return DTRACE_CONSUME_NEXT;
	}
	if (rec->dtrd_action != DTRACEACT_DIFEXPR)
		return DTRACE_CONSUME_ABORT;
	node_put(n, probe->dtpd_provider);
	node_put(n, ":");
	node_put(n, probe->dtpd_name);
	node_put(n, " ");
	node_datum(n, rec->dtrd_size, data->dtpda_data);
	node_put(n, ";");
	return DTRACE_CONSUME_THIS;
}

static dtrace_hdl_t *node_open(void)
{
	int error;
	dtrace_hdl_t *h = dtrace_open(DTRACE_VERSION, 0, &error);

	assert_non_null(h);
	(void)dtrace_setopt(h, "bufsize", "4m");
	(void)dtrace_setopt(h, "aggsize", "4m");
	lib_ok(h, dtrace_handle_buffered(h, node_ignore, NULL));
	lib_ok(h, dtrace_setopt(h, "guest", "none"));
	return h;
}

static void node_strcompile(dtrace_hdl_t *h, const char *text, dtrace_proginfo_t *info)
{
	dtrace_prog_t *prog = dtrace_program_strcompile(h, text, DTRACE_PROBESPEC_NAME, 0, 0, NULL);

	lib_ok(h, prog ? 0 : -1);
	lib_ok(h, dtrace_program_exec(h, prog, info));
}

static void test_node_records(void **state)
{
	struct node n = { .h = node_open() };
	dtrace_proginfo_t info;

	(void)state;
	node_strcompile(
	    n.h, "BEGIN { trace(42); trace(\"text\"); trace((long)-1); trace((short)7); trace((char)200); }",
	    &info);
	assert_int_equal(info.dpi_matches, 1);
	assert_int_equal(info.dpi_recgens, 1);
	assert_int_equal(info.dpi_aggregates, 0);
	node_strcompile(n.h, "END { trace(\"end\"); }", &info);
	lib_ok(n.h, dtrace_go(n.h));
	for (unsigned i = 0; i < CALLS_MAX && !n.ended; i++) {
		dtrace_sleep(n.h);
		assert_int_equal(dtrace_work(n.h, NULL, NULL, node_consume, &n), DTRACE_WORKSTATUS_OKAY);
	}
	assert_string_equal(
	    n.seen, "dtrace:BEGIN 42;dtrace:BEGIN text;dtrace:BEGIN -1;dtrace:BEGIN 7;dtrace:BEGIN 200;");
	/* what stopping leaves is the next consume()'s */
	n.len = 0;
	lib_ok(n.h, dtrace_stop(n.h));
	assert_int_equal(dtrace_work(n.h, NULL, NULL, node_consume, &n), DTRACE_WORKSTATUS_DONE);
	assert_string_equal(n.seen, "dtrace:END end;");
	assert_int_equal(n.ended, 2);
	dtrace_close(n.h);
}

/* printf() is none of its data. */
static void test_node_refuses(void **state)
{
	struct node n = { .h = node_open() };

	(void)state;
	node_strcompile(n.h, "BEGIN { printf(\"%d\", 1); }", NULL);
	lib_ok(n.h, dtrace_go(n.h));
	dtrace_workstatus_t status = DTRACE_WORKSTATUS_OKAY;
	for (unsigned i = 0; i < CALLS_MAX && status == DTRACE_WORKSTATUS_OKAY; i++) {
		dtrace_sleep(n.h);
		status = dtrace_work(n.h, NULL, NULL, node_consume, &n);
	}
	assert_int_equal(status, DTRACE_WORKSTATUS_ERROR);
	assert_int_equal(dtrace_errno(n.h), OUTSIGHT_E_ABORTED);
	dtrace_close(n.h);
}

static void node_buckets(struct node *n, const dtrace_recdesc_t *rec, const int64_t *data)
{
	char text[64];

	for (int i = 0; rec->dtrd_action == DTRACEAGG_QUANTIZE && i < DTRACE_QUANTIZE_NBUCKETS; i++) {
		if (!data[i])
			continue;
		snprintf(text, sizeof(text), " %lld:%lld", (long long)DTRACE_QUANTIZE_BUCKETVAL(i),
			 (long long)data[i]);
		node_put(n, text);
	}
	if (rec->dtrd_action != DTRACEAGG_LQUANTIZE)
		return;
	uint64_t arg = (uint64_t)*data++;
	for (int i = 0; i <= DTRACE_LQUANTIZE_LEVELS(arg) + 1; i++) {
		if (!data[i])
			continue;
		snprintf(text, sizeof(text), " %d:%lld",
			 DTRACE_LQUANTIZE_BASE(arg) + (i - 1) * DTRACE_LQUANTIZE_STEP(arg),
			 (long long)data[i]);
		node_put(n, text);
	}
}

static int node_aggwalk(const dtrace_aggdata_t *agg, void *arg)
{
	const dtrace_aggdesc_t *desc = agg->dtada_desc;
	const dtrace_recdesc_t *value = &desc->dtagd_rec[desc->dtagd_nrecs - 1];
	const int64_t *data = (const int64_t *)(void *)(agg->dtada_data + value->dtrd_offset);
	struct node *n = arg;
	char text[64];

	assert_true(desc->dtagd_nrecs >= 2);
	snprintf(text, sizeof(text), "%d", (int)desc->dtagd_varid);
	node_put(n, text);
	for (int i = 1; i < desc->dtagd_nrecs - 1; i++) {
		const dtrace_recdesc_t *rec = &desc->dtagd_rec[i];
		if (rec->dtrd_action != DTRACEACT_DIFEXPR)
			return DTRACE_AGGWALK_ERROR;
		node_put(n, ",");
		node_datum(n, rec->dtrd_size, agg->dtada_data + rec->dtrd_offset);
	}
	switch (value->dtrd_action) {
	case DTRACEAGG_COUNT:
	case DTRACEAGG_SUM:
		assert_int_equal(value->dtrd_size, sizeof(uint64_t));
		snprintf(text, sizeof(text), "=%lld", (long long)*data);
		node_put(n, text);
		break;
	case DTRACEAGG_AVG:
		assert_int_equal(value->dtrd_size, 2 * sizeof(uint64_t));
		snprintf(text, sizeof(text), "=%.1f", (double)data[1] / (double)data[0]);
		node_put(n, text);
		break;
	default:
		node_buckets(n, value, data);
	}
	node_put(n, ";");
	return DTRACE_AGGWALK_REMOVE;
}

static void test_node_aggregations(void **state)
{
	struct node n = { .h = node_open() };

	(void)state;
	node_strcompile(
	    n.h,
	    "BEGIN { @c[\"a\", 1] = count(); @c[\"a\", 1] = count(); @s = sum(40); @s = sum(2); @v = "
	    "avg(10); @v = avg(15); "
	    "@q = quantize(5); @q = quantize(0); @q = quantize(-9); @l = lquantize(25, 0, 100, 10); }",
	    NULL);
	lib_ok(n.h, dtrace_go(n.h));
	for (unsigned i = 0; i < CALLS_MAX * 100 && !n.len; i++) {
		dtrace_sleep(n.h);
		assert_int_equal(dtrace_work(n.h, NULL, NULL, node_consume, &n), DTRACE_WORKSTATUS_OKAY);
		lib_ok(n.h, dtrace_aggregate_snap(n.h));
		lib_ok(n.h, dtrace_aggregate_walk(n.h, node_aggwalk, &n));
	}
	assert_string_equal(n.seen, "1,a,1=2;2=42;3=12.5;4 -8:1 0:1 4:1;5 20:1;");
	n.len = 0;
	n.seen[0] = '\0';
	lib_ok(n.h, dtrace_aggregate_walk(n.h, node_aggwalk, &n)); /* they were removed */
	assert_string_equal(n.seen, "");
	dtrace_close(n.h);
}

/* --- erltrace: printf() by the handler, values by size, status before each call ------------------------- */

struct erl {
	dtrace_hdl_t *h;
	struct node reply;
};

static int erl_buffered(const dtrace_bufdata_t *data, void *arg)
{
	struct erl *e = arg;

	if (!data->dtbda_recdesc || data->dtbda_recdesc->dtrd_action != DTRACEACT_PRINTF)
		return DTRACE_HANDLE_OK;
	node_put(&e->reply, "printf ");
	node_put(&e->reply, data->dtbda_probe->dtpda_pdesc->dtpd_name);
	node_put(&e->reply, " ");
	node_put(&e->reply, data->dtbda_buffered);
	node_put(&e->reply, ";");
	return DTRACE_HANDLE_OK;
}

static int erl_chewrec(const dtrace_probedata_t *data, const dtrace_recdesc_t *rec, void *arg)
{
	struct erl *e = arg;

	if (!rec)
		return DTRACE_CONSUME_NEXT;
	if (rec->dtrd_action == DTRACEACT_PRINTF || rec->dtrd_action == DTRACEACT_PRINTA)
		return DTRACE_CONSUME_THIS;
	if (rec->dtrd_action != DTRACEACT_DIFEXPR)
		return DTRACE_CONSUME_ABORT;
	node_put(&e->reply, "probe ");
	node_datum(&e->reply, rec->dtrd_size, data->dtpda_data);
	node_put(&e->reply, ";");
	return DTRACE_CONSUME_THIS;
}

/* consume/1: 0 while it goes on. */
static int erl_consume(struct erl *e)
{
	int status = dtrace_status(e->h);

	if (status == DTRACE_STATUS_EXITED || status == DTRACE_STATUS_FILLED ||
	    status == DTRACE_STATUS_STOPPED)
		return status;
	dtrace_work(e->h, NULL, NULL, erl_chewrec, e);
	return 0;
}

static void test_erltrace(void **state)
{
	struct erl e = { 0 };
	int error, status = 0;
	dtrace_proginfo_t info;

	(void)state;
	e.h = dtrace_open(DTRACE_VERSION, 0, &error);
	assert_non_null(e.h);
	dtrace_setopt(e.h, "bufsize", "4m");
	dtrace_setopt(e.h, "aggsize", "4m");
	lib_ok(e.h, dtrace_handle_buffered(e.h, erl_buffered, &e));
	lib_ok(e.h, dtrace_setopt(e.h, "guest", "none"));
	dtrace_prog_t *prog =
	    dtrace_program_strcompile(e.h,
				      "BEGIN { printf(\"%d %s\", 5, \"x\"); trace(\"y\"); @[\"k\"] = max(3); "
				      "} tick-10ms /i++ == 3/ { exit(1); }",
				      DTRACE_PROBESPEC_NAME, DTRACE_C_ZDEFS, 0, NULL);
	lib_ok(e.h, prog ? 0 : -1);
	dtrace_program_exec(e.h, prog, &info);
	dtrace_go(e.h);
	while (!status) {
		status = erl_consume(&e);
		dtrace_sleep(e.h);
	}
	assert_int_equal(status, DTRACE_STATUS_EXITED);
	assert_string_equal(e.reply.seen, "printf BEGIN 5 x;probe y;");
	assert_int_equal(outsight_exit_status(e.h), 1);
	dtrace_stop(e.h);
	dtrace_close(e.h);
}

/* --- python-dtrace: fixed offsets, a walk by value at the end ------------------------------------------- */

static int python_walk(const dtrace_aggdata_t *agg, void *arg)
{
	struct node *n = arg;
	char text[32];

	node_put(n, agg->dtada_data + 16);
	snprintf(text, sizeof(text), "=%d;", *(const int *)(const void *)(agg->dtada_data + 272));
	node_put(n, text);
	return 0;
}

static int python_chew(const dtrace_probedata_t *data, void *arg)
{
	(void)data;
	(void)arg;
	return 0;
}

static void test_python_dtrace(void **state)
{
	struct node n = { .h = node_open() };

	(void)state;
	dtrace_prog_t *prog = dtrace_program_strcompile(
	    n.h, "BEGIN { @[\"three\"] = sum(3); @[\"one\"] = sum(1); @[\"two\"] = sum(2); }", 3, 4, 0, NULL);
	lib_ok(n.h, prog ? 0 : -1);
	lib_ok(n.h, dtrace_program_exec(n.h, prog, NULL));
	lib_ok(n.h, dtrace_go(n.h));
	dtrace_sleep(n.h);
	assert_int_equal(dtrace_work(n.h, NULL, python_chew, node_consume, &n), DTRACE_WORKSTATUS_OKAY);
	dtrace_stop(n.h);
	lib_ok(n.h, dtrace_aggregate_walk_valsorted(n.h, python_walk, &n));
	assert_string_equal(n.seen, "one=1;two=2;three=3;");
	dtrace_close(n.h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_node_records),      cmocka_unit_test(test_node_refuses),
		cmocka_unit_test(test_node_aggregations), cmocka_unit_test(test_erltrace),
		cmocka_unit_test(test_python_dtrace),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
