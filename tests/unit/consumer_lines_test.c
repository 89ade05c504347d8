/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lines of JSON about guests that come and go, which a session without a guest has none of. */
#include "consumer/consumer.h"
#include "tests/unit/consumer_test_print.h"

struct fixture {
	struct dif_options opts;
	struct dif_program prog;
	struct con_consumer c;
	struct vp_sink sink;
	char *text;
	size_t len;
};

static void setup(struct fixture *f, const struct con_output_ops *ops)
{
	*f = (struct fixture){ 0 };
	dif_options_init(&f->opts);
	assert_null(con_consumer_init(&f->c, &f->opts, &f->prog, ops, open_memstream(&f->text, &f->len)));
	f->sink = con_consumer_sink(&f->c);
}

static void teardown(struct fixture *f)
{
	FILE *fp = f->c.out->printer.fp;

	con_consumer_deinit(&f->c);
	fclose(fp);
	dif_options_deinit(&f->opts);
	free(f->text);
}

/* The only line that was written since the last call begins and ends so; time and host are between. */
static void check_line(struct fixture *f, const char *end)
{
	static const char begin[] = "{\"type\": \"guest\", \"time\": ";

	assert_null(con_consumer_flush(&f->c));
	size_t len = strlen(f->text), tail = strlen(end);
	assert_int_equal(strncmp(f->text, begin, strlen(begin)), 0);
	assert_true(len > tail);
	assert_string_equal(f->text + len - tail, end);
	assert_ptr_equal(strchr(f->text, '\n'), f->text + len - 1);
	rewind(f->c.out->printer.fp);
	memset(f->text, 0, f->len);
}

static void comes(struct fixture *f)
{
	const struct vp_guest_news news = { .guest = 3, .name = "web\"4", .joined = true };

	f->sink.guest(f->sink.arg, &news);
}

static void goes(struct fixture *f, enum vp_guest_end how)
{
	const struct vp_guest_news news = { .guest = 3, .name = "web4", .how = how, .text = "guest web4 …" };

	f->sink.guest(f->sink.arg, &news);
}

static void test_lines(void **state)
{
	struct fixture f;

	(void)state;
	setup(&f, &con_output_jsonl);
	comes(&f);
	check_line(&f, "\"guest\": \"web\\\"4\", \"what\": \"joined\"}\n");
	goes(&f, VP_GUEST_POWERED_OFF);
	check_line(&f, "\"guest\": \"web4\", \"what\": \"left\", \"why\": \"powered-off\", \"msg\": \"guest "
		       "web4 …\"}\n");
	teardown(&f);
}

/* Each end has its word, and one that is not known is the VMM's. */
static void test_every_end(void **state)
{
	static const char *const words[] = { "ended", "powered-off", "rebooted",    "triple-fault",
					     "ended", "failed",      "unreachable", "detached",
					     "saved", "changed",     "loaded",      "unreachable" };
	char end[128];
	struct fixture f;

	(void)state;
	assert_int_equal(OT_ARRAY_SIZE(words), VP_GUEST_ENDS);
	setup(&f, &con_output_jsonl);
	for (unsigned how = 0; how < VP_GUEST_ENDS; how++) {
		goes(&f, (enum vp_guest_end)how);
		snprintf(end, sizeof(end), "\"why\": \"%s\", \"msg\": \"guest web4 …\"}\n", words[how]);
		check_line(&f, end);
	}
	teardown(&f);
}

/* In documents, which are FreeBSD's, and in text there is no place for them: messages say it. */
static void test_other_forms(void **state)
{
	static const struct con_output_ops *const others[] = { &con_output_text, &con_output_document,
							       &con_output_xml, &con_output_folded };
	struct fixture f;

	(void)state;
	for (size_t i = 0; i < OT_ARRAY_SIZE(others); i++) {
		setup(&f, others[i]);
		comes(&f);
		goes(&f, VP_GUEST_RESET);
		assert_null(con_consumer_flush(&f.c));
		assert_int_equal(f.len, 0);
		teardown(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_every_end),
		cmocka_unit_test(test_other_forms),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
