/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session/listing: the probes of several guests, each name once, with those that have it. The guests have
 * dtrace's, profile's and statistics of the vm provider that differ. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vmm-probe/session/internal.h"
#include "vmm-probe/session/listing.h"

#define assert_ok(e)                                        \
	do {                                                \
		struct ot_err *e_ = (e);                    \
		if (e_)                                     \
			fail_msg("%s", ot_err_message(e_)); \
	} while (0)

struct listing {
	struct dif_options options;
	struct vp_session *s;
	char out[4096]; /* "name:first guest:guests that lack it:guests that refuse it\n" … */
	unsigned most;  /* probes to take */
};

static bool take(void *arg, const struct vp_listed *listed)
{
	struct listing *l = arg;
	uint32_t refused = 0;

	for (uint32_t i = 0; i < vp_session_nguests(l->s); i++)
		if (listed->of[i]) {
			assert_string_equal(listed->of[i]->name, listed->probe->name);
			refused |= (uint32_t)(listed->of[i]->refused != NULL) << i;
		}
	assert_ptr_equal(listed->of[listed->guest], listed->probe);
	size_t len = strlen(l->out);
	snprintf(l->out + len, sizeof(l->out) - len, "%s%s%s:%u:%x:%x\n", listed->probe->function,
		 *listed->probe->function ? "/" : "", listed->probe->name, listed->guest, listed->missing,
		 refused);
	return --l->most;
}

/* @stats: names of vm:::stat-… probes, ended by an empty one; @refused: why there are none. */
static void add_guest(struct listing *l, const char *name, char (*stats)[VP_VM_STAT_NAME],
		      const char *refused)
{
	struct vp_guest_link *link = calloc(1, sizeof(*link));
	uint32_t n = 0;

	assert_non_null(link);
	link->client.sock = link->client.pidfd = link->orc_fd = -1;
	snprintf(link->client.guest_name, sizeof(link->client.guest_name), "%s", name);
	assert_ok(vp_probes_create(NULL, &link->probes));
	while (*stats[n])
		n++;
	assert_ok(vp_probes_add_vm(link->probes, stats, n, refused));
	l->s->links.items[l->s->links.n++] = link;
}

static void list(struct listing *l, const char *guest, const char *name, bool with_refused,
		 const char *expected)
{
	const struct dif_probedesc desc = {
		.guest = guest, .provider = "", .module = "", .function = "", .name = name
	};
	uint64_t count = 0, lines = 0;

	*l->out = '\0';
	assert_ok(vp_session_match(l->s, &desc, with_refused, take, l, &count));
	assert_string_equal(l->out, expected);
	for (const char *c = expected; *c; c++)
		lines += *c == '\n';
	assert_true(count >= lines);
}

static void set_up(struct listing *l)
{
	const struct vp_session_config config = { .options = &l->options };

	*l = (struct listing){ .most = 1000 };
	dif_options_init(&l->options);
	assert_ok(vp_session_create(&config, &l->s));
}

static void tear_down(struct listing *l)
{
	vp_session_destroy(l->s);
	dif_options_deinit(&l->options);
}

#define STAT VP_VM_STAT_NAME

static void one_guest_has_all(void **state)
{
	char stats[][STAT] = { "halts", "exits", "" };
	struct listing l;

	(void)state;
	set_up(&l);
	add_guest(&l, "web1", stats, NULL);
	list(&l, "", "stat", true, "halts/stat:0:0:0\nexits/stat:0:0:0\n");
	list(&l, "", "BEGIN", true, "BEGIN:0:0:0\n");
	l.most = 1;
	list(&l, "", "stat", true, "halts/stat:0:0:0\n");
	tear_down(&l);
}

/* The first guest's order, then what the next ones have besides. web3's VMM has two of one name, and can
 * trace neither. */
static void each_once(void **state)
{
	char a[][STAT] = { "halts", "exits", "" }, b[][STAT] = { "irqs", "exits", "" },
	     c[][STAT] = { "exits", "exits", "" };
	struct listing l;

	(void)state;
	set_up(&l);
	add_guest(&l, "web1", a, NULL);
	add_guest(&l, "web2", b, NULL);
	add_guest(&l, "web3", c, "not here");
	list(&l, "", "stat", true,
	     "halts/stat:0:6:0\n"
	     "exits/stat:0:0:4\n"
	     "irqs/stat:1:5:0\n"
	     "exits/stat:2:3:4\n");
	list(&l, "", "stat", false,
	     "halts/stat:0:6:0\n"
	     "exits/stat:0:4:0\n"
	     "irqs/stat:1:5:0\n");
	list(&l, "", "BEGIN", true, "BEGIN:0:0:0\n");
	l.most = 2;
	list(&l, "", "stat", true, "halts/stat:0:6:0\nexits/stat:0:0:4\n");
	tear_down(&l);
}

/* Of those that it names: BEGIN is no guest's. */
static void a_description_may_name_guests(void **state)
{
	char a[][STAT] = { "halts", "exits", "" }, b[][STAT] = { "irqs", "exits", "" };
	struct listing l;

	(void)state;
	set_up(&l);
	add_guest(&l, "web1", a, NULL);
	add_guest(&l, "web2", b, NULL);
	add_guest(&l, "db1", a, NULL);
	list(&l, "web2", "stat", true, "irqs/stat:1:0:0\nexits/stat:1:0:0\n");
	list(&l, "web*", "stat", true, "halts/stat:0:2:0\nexits/stat:0:0:0\nirqs/stat:1:1:0\n");
	list(&l, "web2", "BEGIN", true, "");
	list(&l, "nobody", "stat", true, "");
	tear_down(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_guest_has_all),
		cmocka_unit_test(each_once),
		cmocka_unit_test(a_description_may_name_guests),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
