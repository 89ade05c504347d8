/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Making a session with an engine that answers "done" to everything, and putting it back after a run. */
#include "tests/fuzz/client_session.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vmm-probe/guest/facts.h"
#include "vmm-probe/session/drain.h"

static const char program[] =
    "profile-100 { self->t = timestamp; @c[probename, arg2] = quantize(arg2); "
    "@l = lquantize(arg2, 0, 10, 1); printf(\"%d %s %d\", x++, execname, self->t); }\n"
    "profile-200 { a[arg0] = arg1; stack(); trace(a[arg1]); }\n"
    "END { printa(@c); }\n";

static void die(const char *what, const struct ot_err *err)
{
	fprintf(stderr, "client_session: %s: %s\n", what, err ? ot_err_message(err) : "failed");
	abort();
}

#define OK(e)                            \
	do {                             \
		struct ot_err *e_ = (e); \
		if (e_)                  \
			die(#e, e_);     \
	} while (0)

/* --- the sink: every byte that it gets is read ------------------------------------------------------- */

static uint64_t read_all(const void *data, size_t size)
{
	const uint8_t *p = data;
	uint64_t sum = 0;

	for (size_t i = 0; i < size; i++)
		sum += p[i];
	return sum;
}

static volatile uint64_t sum;

static struct ot_err *take_record(void *arg, const struct vp_record *rec)
{
	struct client_session *cs = arg;

	cs->records++;
	sum += read_all(rec->data, rec->size) + rec->ecb->clause_index;
	return NULL;
}

static struct ot_err *take_aggregate(void *arg, const struct vp_aggregate *agg)
{
	struct client_session *cs = arg;

	cs->aggregates++;
	sum += read_all(agg->tuple, agg->layout->tuple_size) +
	       read_all(agg->words, agg->layout->nwords * sizeof(uint64_t));
	return NULL;
}

static struct ot_err *take_fault(void *arg, const struct vp_fault_info *fault)
{
	(void)arg;
	sum += fault->ecb->clause_index + fault->address;
	return NULL;
}

static struct ot_err *take_drop(void *arg, enum vp_drop_kind kind, uint32_t cpu, uint64_t count)
{
	(void)arg;
	sum += (uint64_t)kind + cpu + count;
	return NULL;
}

static struct ot_err *take_overload(void *arg, const struct vp_overload_info *overload)
{
	(void)arg;
	sum += overload->ecb->clause_index;
	return NULL;
}

/* --- an engine's answers ------------------------------------------------------------------------------ */

static void put(int fd, const void *data, size_t size)
{
	if (send(fd, data, size, MSG_NOSIGNAL) != (ssize_t)size)
		die("send", NULL);
}

void client_session_hello(int fd)
{
	struct vp_msg_hello_reply r = {
		.head = { VP_MSG_HELLO_REPLY, sizeof(r) },
		.version = VP_PROTOCOL_VERSION,
		.nvcpus = CS_VCPUS,
		.backend = "tcg",
		.guest_name = "web01",
		.can_profile = 1,
	};

	put(fd, &r, sizeof(r));
}

void client_session_done(int fd)
{
	const struct vp_msg_reply r = { .head = { VP_MSG_REPLY, sizeof(r) } };

	put(fd, &r, sizeof(r));
}

/* A process that has ended: whoever asks whether the VMM still lives is answered at once. */
static void set_peer(struct vp_client *c)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	c->pid = (uint32_t)pid;
	c->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (pid < 0 || c->pidfd < 0 || waitid(P_PID, (id_t)pid, &(siginfo_t){ 0 }, WEXITED | WNOWAIT))
		die("a process that has ended", NULL);
}

int client_session_connect(struct client_session *cs)
{
	int pair[2];

	/* putting more into it than it takes must not block */
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) ||
	    fcntl(pair[1], F_SETFL, O_NONBLOCK))
		die("socketpair", NULL);
	if (cs->link->client.sock >= 0)
		close(cs->link->client.sock);
	cs->link->client.sock = pair[0];
	cs->link->client.broken = false;
	return pair[1];
}

/* --- the session -------------------------------------------------------------------------------------- */

static void attach(struct client_session *cs)
{
	struct vp_guest_link *link = cs->link = calloc(1, sizeof(*link));

	if (!link)
		die("calloc", NULL);
	link->client.sock = link->orc_fd = -1;
	vp_facts_none(&link->facts);
	set_peer(&link->client);
	int engine = client_session_connect(cs);
	client_session_hello(engine);
	OK(vp_client_greeted(&link->client));
	OK(vp_probes_create(NULL, &link->probes));
	cs->s->links.items[cs->s->links.n++] = link;
	close(engine);
}

static void enable(struct client_session *cs)
{
	const struct vp_sink sink = { cs, take_record, take_aggregate, take_fault, take_drop, take_overload };
	const struct dif_source src = {
		.kind = DIF_SOURCE_SCRIPT, .name = "fuzz", .text = program, .len = sizeof(program) - 1
	};
	const struct dif_diag *diag = NULL;
	int engine = client_session_connect(cs);
	uint32_t first;

	for (int i = 0; i < 8; i++)
		client_session_done(engine);
	OK(dif_compiler_create(vp_session_world(cs->s, 0), &cs->options, &cs->comp));
	struct ot_err *err = dif_compile(cs->comp, &src, &cs->prog, &first, &diag);
	if (err)
		die(diag ? diag->message : "compiling", err);
	OK(vp_session_enable(cs->s, &cs->prog, &sink));
	OK(vp_session_start(cs->s));
	close(engine);
}

static struct client_session *make(void)
{
	struct client_session *cs = calloc(1, sizeof(*cs));

	if (!cs)
		die("calloc", NULL);
	const struct vp_session_config config = { .options = &cs->options };
	dif_options_init(&cs->options);
	cs->options.bufsize = cs->options.aggsize = 4096;
	cs->options.dynvarsize = 4096;
	cs->options.strsize = 16;
	cs->options.nspec = 1;
	dif_program_init(&cs->prog);
	OK(vp_session_create(&config, &cs->s));
	attach(cs);
	enable(cs);
	cs->feed = cs->s->feeds[1];
	memcpy(cs->seen, cs->feed.seen, sizeof(cs->seen));
	return cs;
}

struct client_session *client_session(void)
{
	static struct client_session *cs;

	if (!cs)
		cs = make();
	return cs;
}

uint8_t *client_session_half(const struct client_session *cs, uint32_t vcpu, unsigned n)
{
	uint64_t at = n < 2 ? vp_principal_offset(&cs->feed.open, vcpu, n)
			    : vp_aggregation_offset(&cs->feed.open, vcpu, n - 2);

	return cs->feed.shared.mem + at;
}

void client_session_reset(struct client_session *cs)
{
	struct vp_session *s = cs->s;

	s->feeds[1] = cs->feed;
	memcpy(s->feeds[1].seen, cs->seen, sizeof(cs->seen));
	memset(&s->end, 0, sizeof(s->end));
	memset(&s->due, 0, sizeof(s->due));
	vp_pending_free(s);
	s->pending = (struct vp_session_pending){ 0 };
	memset(vp_feed_status(&cs->feed), 0, sizeof(cs->seen));
	for (unsigned i = 0; i < OT_ARRAY_SIZE(cs->touched); i++) {
		memset(client_session_half(cs, i / 4, i % 4), 0, cs->touched[i]);
		cs->touched[i] = 0;
	}
	cs->records = cs->aggregates = 0;
}
