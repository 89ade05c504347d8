/* SPDX-License-Identifier: GPL-2.0-or-later */
/* session/drain: two guests, and the VMM of the second writes into its buffers what an engine of ours never
 * would: rows in the first one's name, or in the host engine's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/io.h"
#include "dif/vm/agg.h"
#include "vmm-probe/guest/facts.h"
#include "vmm-probe/session/drain.h"

static const char program[] = "BEGIN { trace(1); }\n"
			      "profile-100 { trace(2); @c[arg0] = count(); @s = sum(arg1); }\n"
			      "ERROR { trace(3); }\n";

#define assert_ok(e)                                        \
	do {                                                \
		struct ot_err *e_ = (e);                    \
		if (e_)                                     \
			fail_msg("%s", ot_err_message(e_)); \
	} while (0)

struct traced {
	struct dif_options options;
	struct dif_program prog;
	struct dif_compiler *comp;
	struct vp_session *s;
	struct vp_guest_link *links[2];
	int vmms[2]; /* the other ends of their sockets */
	/* what the sink got */
	unsigned records, aggregates, faults, overloads;
	uint32_t last; /* EPID */
	unsigned said;
	char text[512];
};

/* --- the sink ------------------------------------------------------------------------------------------ */

static struct ot_err *take_record(void *arg, const struct vp_record *rec)
{
	struct traced *t = arg;

	t->records++;
	t->last = rec->ecb->epid;
	return NULL;
}

static struct ot_err *take_aggregate(void *arg, const struct vp_aggregate *agg)
{
	struct traced *t = arg;

	t->aggregates++;
	t->last = agg->ecb->epid;
	return NULL;
}

static struct ot_err *take_fault(void *arg, const struct vp_fault_info *fault)
{
	struct traced *t = arg;

	t->faults++;
	t->last = fault->ecb->epid;
	return NULL;
}

static struct ot_err *take_drop(void *arg, enum vp_drop_kind kind, uint32_t cpu, uint64_t count)
{
	(void)arg;
	(void)kind;
	(void)cpu;
	(void)count;
	return NULL;
}

static struct ot_err *take_overload(void *arg, const struct vp_overload_info *overload)
{
	struct traced *t = arg;

	t->overloads++;
	t->last = overload->ecb->epid;
	return NULL;
}

static void take_text(void *arg, const char *text)
{
	struct traced *t = arg;

	t->said++;
	snprintf(t->text, sizeof(t->text), "%s", text);
}

/* --- a session whose engines answer what was put into their sockets before ------------------------------ */

static void put(int fd, const void *reply, size_t size)
{
	assert_int_equal(send(fd, reply, size, 0), size);
}

static void connect_vmm(struct traced *t, unsigned i)
{
	int pair[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	t->links[i]->client.sock = pair[0];
	t->vmms[i] = pair[1];
}

static void attach(struct traced *t, unsigned i)
{
	const struct vp_msg_reply done = { .head = { VP_MSG_REPLY, sizeof(done) } };
	struct vp_guest_link *link = t->links[i] = calloc(1, sizeof(*link));

	assert_non_null(link);
	link->client = (struct vp_client){
		.sock = -1, .pidfd = -1, .pid = (uint32_t)getpid(), .nvcpus = 1, .can_profile = true
	};
	link->orc_fd = -1;
	snprintf(link->client.guest_name, sizeof(link->client.guest_name), "web%02u", i + 1);
	vp_facts_none(&link->facts);
	assert_ok(vp_probes_create(NULL, &link->probes));
	t->s->links.items[t->s->links.n++] = link;
	connect_vmm(t, i);
	for (int n = 0; n < 3; n++) /* OPEN, ENABLE, START */
		put(t->vmms[i], &done, sizeof(done));
}

static void set_up(struct traced *t)
{
	const struct vp_session_config config = { .options = &t->options };
	const struct dif_source src = {
		.kind = DIF_SOURCE_SCRIPT, .name = "test", .text = program, .len = sizeof(program) - 1
	};
	const struct vp_sink sink = { t,         take_record,   take_aggregate, take_fault,
				      take_drop, take_overload, take_text };
	const struct dif_diag *diag = NULL;
	uint32_t first;

	*t = (struct traced){ 0 };
	dif_options_init(&t->options);
	t->options.bufsize = t->options.aggsize = 4096;
	dif_program_init(&t->prog);
	assert_ok(vp_session_create(&config, &t->s));
	for (unsigned i = 0; i < 2; i++)
		attach(t, i);
	assert_ok(dif_compiler_create(vp_session_world(t->s, 0), &t->options, &t->comp));
	assert_ok(dif_compile(t->comp, &src, &t->prog, &first, &diag));
	assert_ok(vp_session_enable(t->s, &t->prog, &sink));
	assert_ok(vp_session_start(t->s));
}

static void tear_down(struct traced *t)
{
	vp_session_destroy(t->s);
	close(t->vmms[0]);
	close(t->vmms[1]);
	dif_compiler_destroy(t->comp);
	dif_program_deinit(&t->prog);
	dif_options_deinit(&t->options);
}

static const struct vp_enabled *find(const struct traced *t, enum vp_probe_kind kind, uint32_t guest)
{
	for (size_t i = 0; i < t->s->program.nenabled; i++) {
		const struct vp_enabled *e = t->s->program.enabled[i];
		if (e->probe->kind == kind && e->guest == guest)
			return e;
	}
	fail_msg("no enabling of kind %d in guest %u", (int)kind, guest);
	return NULL;
}

/* --- what the second guest's VMM writes ------------------------------------------------------------------ */

static struct vp_vcpu_status *status_of(const struct traced *t)
{
	return (void *)(t->s->shared.mem + t->s->feeds[2].open.status_offset);
}

/* Append to its active half, 0. */
static void write_bytes(const struct traced *t, const void *data, size_t size)
{
	struct vp_half *half = &status_of(t)->principal[0];

	memcpy(t->s->shared.mem + vp_principal_offset(&t->s->feeds[2].open, 0, 0) + half->used, data, size);
	half->used += size;
}

static void write_record(const struct traced *t, const struct vp_enabled *e)
{
	uint8_t record[256] = { 0 };

	assert_true(e->layout->size <= sizeof(record));
	memcpy(record, &e->epid, sizeof(e->epid));
	write_bytes(t, record, e->layout->size);
}

static void write_fault(const struct traced *t, const struct vp_enabled *e)
{
	const struct vp_fault_record fault = { .epid = VP_EPID_FAULT, .ecb = e->epid, .fault = 1 };

	write_bytes(t, &fault, sizeof(fault));
}

/* A value of @e's aggregation @nth, under the number @epid. */
static void write_aggregate(const struct traced *t, const struct vp_enabled *e, uint32_t nth, uint32_t epid)
{
	const struct vp_feed *feed = &t->s->feeds[2];
	const struct dif_agg_layout *l = &e->layout->aggs[nth];
	const struct dif_action *action = &e->clause->actions[l->action];
	uint8_t tuple[64] = { 0 };
	struct dif_aggtab tab;

	memcpy(tuple, &action->aggid, sizeof(uint32_t));
	uint8_t *half = t->s->shared.mem + vp_aggregation_offset(&feed->open, 0, 0);
	assert_ok(dif_aggtab_init(&tab, half, feed->open.aggsize));
	assert_non_null(
	    dif_aggtab_lookup(&tab, l, (enum dif_agg_kind)action->kind, action->arg, tuple, epid));
	status_of(t)->aggregation[0].used = tab.used;
	dif_aggtab_deinit(&tab);
}

/* As of a VMM that has ended: all that is in its buffers is taken. */
static void drain(struct traced *t)
{
	struct vp_feed *feed = &t->s->feeds[2];

	t->s->feeds[1].gone = t->s->feeds[1].read_out = true;
	feed->gone = true;
	feed->read_out = false;
	t->records = t->aggregates = t->faults = t->overloads = 0;
	t->last = 0;
	assert_ok(vp_drain(t->s, VP_DRAIN_TAKE | VP_DRAIN_GIVE | VP_DRAIN_ALL));
	status_of(t)->principal[0].used = status_of(t)->aggregation[0].used = 0;
}

static void check_said(const struct traced *t, bool said)
{
	char text[sizeof(t->text)];

	assert_int_equal(t->said, said);
	snprintf(
	    text, sizeof(text),
	    "guest web02: its VMM (PID %d) hands over data of probes that this session does not have "
	    "there: what such a buffer holds from there on is left out, and the VMM is not to be trusted",
	    (int)getpid());
	assert_string_equal(t->text, said ? text : "");
}

/* --- tests ---------------------------------------------------------------------------------------------- */

/* Its own, and that of ERROR in it. */
static void what_it_has_is_taken(void **state)
{
	struct traced t;

	(void)state;
	set_up(&t);
	const struct vp_enabled *own = find(&t, VP_PROBE_PROFILE, 1), *error = find(&t, VP_PROBE_ERROR, 1);
	drain(&t); /* BEGIN's */
	assert_int_equal(t.records, 1);
	write_record(&t, own);
	write_record(&t, error);
	write_fault(&t, own);
	write_aggregate(&t, own, 1, own->epid);
	drain(&t);
	assert_int_equal(t.records, 2);
	assert_int_equal(t.aggregates, 1);
	assert_int_equal(t.faults, 1);
	check_said(&t, false);
	tear_down(&t);
}

/* Of the first guest's probe, of ERROR there, and of BEGIN, whose number of a guest is the first one's too:
 * each is left out, and what came before it is not. */
static void nothing_in_anothers_name(void **state)
{
	const enum vp_probe_kind kinds[] = { VP_PROBE_PROFILE, VP_PROBE_ERROR, VP_PROBE_HOST };

	(void)state;
	for (unsigned i = 0; i < OT_ARRAY_SIZE(kinds); i++) {
		struct traced t;
		set_up(&t);
		const struct vp_enabled *own = find(&t, VP_PROBE_PROFILE, 1), *other = find(&t, kinds[i], 0);
		drain(&t);
		write_record(&t, own);
		write_record(&t, other);
		write_record(&t, own);
		drain(&t);
		assert_int_equal(t.records, 1);
		assert_int_equal(t.last, own->epid);
		check_said(&t, true);
		write_record(&t, other);
		drain(&t);
		assert_int_equal(t.records, 0);
		check_said(&t, true); /* once is enough */
		tear_down(&t);
	}
}

static void no_fault_and_no_row_either(void **state)
{
	struct traced t;

	(void)state;
	set_up(&t);
	const struct vp_enabled *own = find(&t, VP_PROBE_PROFILE, 1), *other = find(&t, VP_PROBE_PROFILE, 0);
	drain(&t);
	write_fault(&t, other);
	drain(&t);
	assert_int_equal(t.faults, 0);
	check_said(&t, true);
	t.said = 0;
	t.s->feeds[2].damaged = false;
	write_aggregate(&t, own, 0, other->epid);
	drain(&t);
	assert_int_equal(t.aggregates, 0);
	check_said(&t, true);
	tear_down(&t);
}

/* Numbers that no enabling has, and records that are cut off. */
static void nonsense_is_said(void **state)
{
	struct traced t;

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		const struct vp_fault_record fault = { .epid = VP_EPID_FAULT };
		set_up(&t);
		drain(&t);
		const uint32_t epid = i ? find(&t, VP_PROBE_PROFILE, 1)->epid : 1000;
		if (i < 2)
			write_bytes(&t, &epid, sizeof(epid));
		else
			write_bytes(&t, &fault, 24);
		drain(&t);
		assert_int_equal(t.records + t.faults, 0);
		check_said(&t, true);
		tear_down(&t);
	}
}

/* What was taken out for its cost: the number is in a message. */
static void no_overload_of_anothers_probe(void **state)
{
	struct vp_msg_switch_reply reply = { .head = { VP_MSG_SWITCH_REPLY, sizeof(reply) }, .now_ns = 1 };

	(void)state;
	for (unsigned others = 0; others < 2; others++) {
		struct traced t;
		set_up(&t);
		reply.overload =
		    (struct vp_overload){ .taken = 1, .epid = find(&t, VP_PROBE_PROFILE, !others)->epid };
		put(t.vmms[1], &reply, sizeof(reply));
		t.s->feeds[1].gone = t.s->feeds[1].read_out = true;
		assert_ok(vp_drain(t.s, VP_DRAIN_TAKE));
		assert_int_equal(t.overloads, !others);
		check_said(&t, others);
		tear_down(&t);
	}
}

/* Bytes of a file that are not zeros. */
static size_t written(int fd)
{
	uint8_t page[4096];
	size_t n = 0, at = 0;

	for (ssize_t len; (len = pread(fd, page, sizeof(page), (off_t)at)) > 0; at += (size_t)len)
		for (ssize_t i = 0; i < len; i++)
			n += page[i] != 0;
	return n;
}

/* OPEN gives the second guest's VMM no descriptor for the buffers of the first guest or of the host engine.
 * Its own buffers are in a file that no other VMM gets. */
static void no_engine_has_anothers_buffers(void **state)
{
	int fds[2][8], n[2];
	struct traced t;

	(void)state;
	set_up(&t);
	for (unsigned i = 0; i < 2; i++) {
		struct vp_msg_open open;
		size_t len;
		assert_ok(ot_recv_fds(t.vmms[i], &open, sizeof(open), fds[i], 8, &len, &n[i]));
		assert_int_equal(open.head.type, VP_MSG_OPEN);
		assert_int_equal(n[i], 4);
		assert_int_equal(open.status_offset, t.s->shared.common);
	}
	for (unsigned own = 0; own < 3; own++) {
		const struct vp_feed *feed = &t.s->feeds[own];
		uint8_t *mem = t.s->shared.mem + feed->open.status_offset;
		memset(t.s->shared.mem, 0, t.s->shared.size);
		memset(mem, 0xa5, feed->shared_size);
		for (unsigned i = 0; i < 2; i++) {
			assert_int_equal(written(fds[i][2]), 0);
			assert_int_equal(written(fds[i][3]), own == i + 1 ? feed->shared_size : 0);
		}
	}
	memset(t.s->shared.mem, 0, t.s->shared.size);
	for (unsigned i = 0; i < 2; i++)
		for (int k = 0; k < n[i]; k++)
			close(fds[i][k]);
	tear_down(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_it_has_is_taken),
		cmocka_unit_test(nothing_in_anothers_name),
		cmocka_unit_test(no_fault_and_no_row_either),
		cmocka_unit_test(nonsense_is_said),
		cmocka_unit_test(no_overload_of_anothers_probe),
		cmocka_unit_test(no_engine_has_anothers_buffers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
