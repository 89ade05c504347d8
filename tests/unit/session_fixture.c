/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "session_fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "vmm-probe/guest/facts.h"

/* --- the sink ------------------------------------------------------------------------------------------ */

static struct ot_err *take_record(void *arg, const struct vp_record *rec)
{
	struct session_fixture *t = arg;

	t->records++;
	t->last = rec->ecb->epid;
	return NULL;
}

static struct ot_err *take_aggregate(void *arg, const struct vp_aggregate *agg)
{
	struct session_fixture *t = arg;

	t->aggregates++;
	t->last = agg->ecb->epid;
	return NULL;
}

static struct ot_err *take_fault(void *arg, const struct vp_fault_info *fault)
{
	struct session_fixture *t = arg;

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
	struct session_fixture *t = arg;

	t->overloads++;
	t->last = overload->ecb->epid;
	return NULL;
}

static void take_text(void *arg, const char *text)
{
	struct session_fixture *t = arg;

	t->said++;
	snprintf(t->text, sizeof(t->text), "%s", text);
}

static void take_guest(void *arg, const struct vp_guest_news *news)
{
	struct session_fixture *t = arg;

	t->joined += news->joined;
	t->left += !news->joined;
	t->news = *news;
}

/* --- guests --------------------------------------------------------------------------------------------- */

void session_fixture_put(int vmm, const void *reply, size_t size)
{
	assert_int_equal(send(vmm, reply, size, 0), size);
}

uint32_t session_fixture_asked(int vmm)
{
	char space[VP_MSG_MAX];
	struct vp_msg last = { 0 };

	while (recv(vmm, space, sizeof(space), MSG_DONTWAIT) >= (ssize_t)sizeof(last))
		memcpy(&last, space, sizeof(last));
	return last.type;
}

struct vp_guest_link *session_fixture_link(struct session_fixture *t, unsigned nth, unsigned replies)
{
	const struct vp_msg_reply done = { .head = { VP_MSG_REPLY, sizeof(done) } };
	struct vp_guest_link *link = t->links[nth] = calloc(1, sizeof(*link));
	int pair[2];

	assert_non_null(link);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
	/* pidfd: closed with the socket */
	link->client = (struct vp_client){
		.sock = pair[0], .pidfd = -1, .pid = (uint32_t)getpid(), .nvcpus = 1, .can_profile = true
	};
	t->vmms[nth] = pair[1];
	link->orc_fd = -1;
	snprintf(link->client.guest_name, sizeof(link->client.guest_name), "web%02u", nth + 1);
	vp_facts_none(&link->facts);
	assert_ok(vp_probes_create(NULL, &link->probes));
	for (unsigned n = 0; n < replies; n++)
		session_fixture_put(t->vmms[nth], &done, sizeof(done));
	return link;
}

/* --- the session ---------------------------------------------------------------------------------------- */

static void start(struct session_fixture *t, const char *program)
{
	const struct dif_source src = {
		.kind = DIF_SOURCE_SCRIPT, .name = "test", .text = program, .len = strlen(program)
	};
	const struct vp_sink sink = { t,         take_record,   take_aggregate, take_fault,
				      take_drop, take_overload, take_text,      take_guest };
	const struct dif_diag *diag = NULL;
	uint32_t first;

	assert_ok(dif_compiler_create(vp_session_world(t->s, 0), &t->options, &t->comp));
	assert_ok(dif_compile(t->comp, &src, &t->prog, &first, &diag));
	assert_ok(vp_session_enable(t->s, &t->prog, &sink));
	assert_ok(vp_session_start(t->s));
}

void session_fixture_init(struct session_fixture *t, const char *program, unsigned n)
{
	const struct vp_session_config config = { .options = &t->options };

	*t = (struct session_fixture){ 0 };
	for (unsigned i = 0; i < SF_GUESTS; i++)
		t->vmms[i] = -1;
	dif_options_init(&t->options);
	t->options.bufsize = t->options.aggsize = 4096;
	dif_program_init(&t->prog);
	assert_ok(vp_session_create(&config, &t->s));
	for (unsigned i = 0; i < n; i++) {
		session_fixture_link(t, i, 3); /* OPEN, ENABLE, START */
		t->s->links.items[t->s->links.n++] = t->links[i];
	}
	start(t, program);
}

void session_fixture_deinit(struct session_fixture *t)
{
	vp_session_destroy(t->s);
	for (unsigned i = 0; i < SF_GUESTS; i++)
		if (t->vmms[i] >= 0)
			close(t->vmms[i]);
	dif_compiler_destroy(t->comp);
	dif_program_deinit(&t->prog);
	dif_options_deinit(&t->options);
}
