/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Histograms over time: consumer/output/heatmap_series.c, and the page of -x oformat=heatmap. */
#include "consumer/output/heatmap_series.h"
#include "dif/vm/agg.h"
#include "tests/unit/consumer_test_print.h"

/* --- series ---------------------------------------------------------------------------------------------- */

struct fixture {
	struct con_heatmap h;
	struct con_heatmap_series *s;
	int64_t counts[CON_QUANTIZE_BUCKETS];
};

static void setup(struct fixture *f)
{
	uint64_t words[CON_QUANTIZE_BUCKETS] = { 0 };
	const struct con_aggval val = { DIF_AGG_quantize, 0, words, 1 };
	struct ot_buf identity;
	struct con_rows rows;

	memset(f, 0, sizeof(*f));
	con_heatmap_init(&f->h);
	ot_buf_init(&identity);
	ot_buf_puts(&identity, "a");
	assert_true(con_rows_init(&rows, &val));
	assert_null(con_heatmap_find(&f->h, &identity));
	assert_null(con_heatmap_add(&f->h, &identity, &rows, &f->s));
	assert_ptr_equal(con_heatmap_find(&f->h, &identity), f->s);
	ot_buf_deinit(&identity);
}

static void cell_is(const struct fixture *f, size_t i, uint32_t column, uint32_t row, int64_t count)
{
	assert_true(i < f->s->ncells);
	assert_int_equal(f->s->cells[i].column, column);
	assert_int_equal(f->s->cells[i].row, row);
	assert_int_equal(f->s->cells[i].count, count);
}

static void interval(struct fixture *f, uint64_t end)
{
	assert_null(con_heatmap_take(&f->h, f->s, f->counts));
	assert_null(con_heatmap_end(&f->h, end));
}

/* A cell is what a bucket got in an interval; after clear() it is all that there is. */
static void test_differences(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f);
	f.counts[70] = 5;
	interval(&f, 10);
	interval(&f, 20);
	f.counts[70] = 7;
	f.counts[3] = 1;
	interval(&f, 30);
	f.counts[70] = 2; /* cleared */
	f.counts[3] = 4;
	interval(&f, 40);
	assert_int_equal(f.h.ncolumns, 4);
	assert_int_equal(f.h.ends[2], 30);
	assert_int_equal(f.s->ncells, 5);
	cell_is(&f, 0, 0, 70, 5);
	cell_is(&f, 1, 2, 3, 1);
	cell_is(&f, 2, 2, 70, 2);
	cell_is(&f, 3, 3, 3, 4);
	cell_is(&f, 4, 3, 70, 2);
	con_heatmap_deinit(&f.h);
}

/* However many intervals there are, memory has a bound and no count is lost. */
static void test_halved(void **state)
{
	const uint32_t intervals = 3 * CON_HEATMAP_COLUMNS;
	int64_t sum[CON_QUANTIZE_BUCKETS] = { 0 };
	struct fixture f;

	(void)state;
	setup(&f);
	for (uint32_t i = 0; i < intervals; i++) {
		f.counts[60 + i % 7]++;
		f.counts[i % 2 ? 100 : 64] += 3;
		interval(&f, i + 1);
	}
	assert_true(f.h.ncolumns < CON_HEATMAP_COLUMNS);
	assert_int_equal(f.h.ends[f.h.ncolumns - 1], intervals);
	for (uint32_t i = 1; i < f.h.ncolumns; i++)
		assert_true(f.h.ends[i] > f.h.ends[i - 1]);
	for (size_t i = 0; i < f.s->ncells; i++) {
		const struct con_heatmap_cell *c = &f.s->cells[i], *before = i ? c - 1 : NULL;

		assert_true(c->column < f.h.ncolumns);
		assert_true(!before || before->column < c->column ||
			    (before->column == c->column && before->row < c->row));
		sum[c->row] += c->count;
	}
	assert_memory_equal(sum, f.counts, sizeof(sum));
	con_heatmap_deinit(&f.h);
}

/* --- the page -------------------------------------------------------------------------------------------- */

/* A session of one clause: @[string] = quantize(). */
struct session {
	struct output o;
	struct dif_program prog;
	struct dif_aggvar var;
	struct dif_object key;
	struct dif_action actions[2];
	struct dif_clause clause;
	struct ot_arena arena;
	struct dif_clause_layout layout;
	struct vp_enabled ecb;
	struct con_aggs aggs;
	struct con_output *heatmap;
};

static void begin(struct session *s)
{
	const struct dif_layout_opts opts = { .strsize = 16, .stackframes = 4 };

	memset(s, 0, sizeof(*s));
	output_init(&s->o);
	ot_arena_init(&s->arena);
	s->key.ret = (struct dif_rtype){ .kind = DIF_TYPE_STRING, .flags = DIF_TF_BYREF };
	s->var = (struct dif_aggvar){ "_", 1, DIF_AGG_quantize, 0, 1 };
	s->actions[0] = (struct dif_action){ .kind = DIF_ACT_difexpr, .is_key = true, .object = &s->key };
	s->actions[1] =
	    (struct dif_action){ .kind = (enum dif_action_kind)DIF_AGG_quantize, .ntuple = 2, .aggid = 1 };
	s->clause = (struct dif_clause){ .actions = s->actions, .nactions = 2 };
	assert_null(dif_clause_layout(&s->clause, &opts, &s->arena, &s->layout));
	s->ecb = (struct vp_enabled){ .epid = 1, .clause = &s->clause, .layout = &s->layout };
	s->prog.aggs = &s->var;
	s->prog.naggs = 1;
	assert_null(con_aggs_init(&s->aggs, &s->prog));
	assert_null(con_output_create(&con_output_heatmap, &s->o.opts, s->o.p.fp, &s->heatmap));
	s->heatmap->ops->started(s->heatmap, &s->prog);
}

static void add(struct session *s, const char *key, int64_t value, uint64_t count)
{
	const struct dif_agg_layout *l = &s->layout.aggs[0];
	uint64_t words[CON_QUANTIZE_BUCKETS];
	uint8_t tuple[64] = { 0 };
	const uint32_t id = 1;

	dif_agg_init(DIF_AGG_quantize, 0, words);
	dif_agg_update(DIF_AGG_quantize, 0, words, (uint64_t)value, count);
	memcpy(tuple, &id, 4);
	snprintf((char *)tuple + l->keys[0].offset, 16, "%s", key);
	const struct vp_aggregate delta = {
		.ecb = &s->ecb, .layout = l, .action = &s->actions[1], .tuple = tuple, .words = words
	};
	assert_null(con_aggs_add(&s->aggs, &s->o.p, &delta));
}

static void next_interval(struct session *s, bool last)
{
	assert_null(s->heatmap->ops->interval(s->heatmap, &s->aggs, last));
}

/* What the session has written is in s->o.text from then on. */
static void end(struct session *s)
{
	assert_null(s->heatmap->ops->end(s->heatmap));
	con_output_destroy(s->heatmap);
	con_aggs_deinit(&s->aggs);
	ot_arena_deinit(&s->arena);
	fflush(s->o.p.fp);
}

/* A page, from which no key can break out: its rows, and cells by interval. */
static void test_page(void **state)
{
	struct session s;

	(void)state;
	begin(&s);
	add(&s, "</script>\"", 100, 2);
	add(&s, "</script>\"", 300, 1);
	next_interval(&s, false);
	next_interval(&s, false);
	add(&s, "</script>\"", -3, 7);
	add(&s, "b", 0, 1);
	next_interval(&s, true);
	end(&s);
	assert_int_equal(strncmp(s.o.text, "<!DOCTYPE html>", 15), 0);
	assert_non_null(strstr(
	    s.o.text,
	    "{\"title\": \"@[\\u003c/script>\\\"]\", \"function\": \"quantize\", \"rows\": [\"-3 to -2\","));
	assert_non_null(strstr(s.o.text, "\"64 to 127\", \"128 to 255\", \"256 to 511\"], "
					 "\"cells\": [[0, 9, 2], [0, 11, 1], [2, 0, 7]]}"));
	assert_non_null(strstr(s.o.text,
			       "{\"title\": \"@[b]\", \"function\": \"quantize\", \"rows\": [\"0\"], "
			       "\"cells\": [[2, 0, 1]]}"));
	assert_null(strstr(s.o.text, "@ROWS@"));
	assert_null(strstr(strstr(s.o.text, "</html>") + 1, "</html>"));
	output_deinit(&s.o);
}

/* What has no series of its own is one together, whose counts are exact too. */
static void test_many_keys(void **state)
{
	char key[16];
	struct session s;

	(void)state;
	begin(&s);
	for (unsigned round = 0; round < 2; round++) {
		for (unsigned i = 0; i < CON_HEATMAP_SERIES + 50; i++) {
			snprintf(key, sizeof(key), "k%u", i);
			add(&s, key, 5, i + 1);
		}
		next_interval(&s, round == 1);
	}
	end(&s);
	/* the 50 with the least counts: 1 + … + 50 in each interval */
	assert_non_null(strstr(
	    s.o.text, "{\"title\": \"@[all others]\", \"function\": \"quantize\", \"rows\": [\"4 to 7\"], "
		      "\"cells\": [[0, 0, 1275], [1, 0, 1275]]}"));
	assert_non_null(strstr(s.o.text, "{\"title\": \"@[k249]\""));
	assert_null(strstr(s.o.text, "{\"title\": \"@[k49]\""));
	output_deinit(&s.o);
}

/* Without an aggregation the page is there too. */
static void test_nothing(void **state)
{
	struct session s;

	(void)state;
	begin(&s);
	end(&s);
	assert_non_null(strstr(s.o.text, "\"ends\": [],"));
	assert_non_null(strstr(s.o.text, "\"series\": []"));
	output_deinit(&s.o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_differences), cmocka_unit_test(test_halved),
		cmocka_unit_test(test_page),        cmocka_unit_test(test_many_keys),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
