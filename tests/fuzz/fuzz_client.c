/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A hostile engine, as the operator's process meets it: any reply to each request, with any descriptors, and
 * any contents of the memory that it shares with the session.
 *
 *   input: u8 kind | u8 n | n × (u16 length, u8 descriptors, reply) | the rest
 *   kind 0: each request of the client's once; the rest is the contents of the descriptors
 *   kind 1: a session polls and stops; the rest is its status, then each half as u16 length and bytes
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/io.h"
#include "tests/fuzz/client_session.h"
#include "tests/fuzz/seed.h"
#include "vmm-probe/guest/phys.h"

#define REPLIES_MAX 20

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool reached; /* by the last input: every request was answered, or something was given to the sink */

bool fuzz_seed_reached(void)
{
	return reached;
}

struct input {
	const uint8_t *at;
	size_t left;
};

static const uint8_t *take(struct input *in, size_t n)
{
	const uint8_t *at = in->at;

	if (n > in->left)
		n = in->left;
	in->at += n;
	in->left -= n;
	return at;
}

static size_t take_length(struct input *in)
{
	uint16_t n = 0;

	if (in->left >= sizeof(n))
		memcpy(&n, take(in, sizeof(n)), sizeof(n));
	else
		in->left = 0;
	return n < in->left ? n : in->left;
}

/* Put the replies into the engine's end; none follows them. */
static void answer(int engine, struct input *in, unsigned n, int memory)
{
	const int fds[] = { memory, memory, memory };

	for (unsigned i = 0; i < n && in->left > 3; i++) {
		uint16_t len;
		memcpy(&len, take(in, sizeof(len)), sizeof(len));
		int nfds = memory < 0 ? 0 : *in->at % 4;
		take(in, 1);
		size_t size = len < in->left ? len : in->left;
		const uint8_t *reply = take(in, size);
		/* a full queue is the end of the conversation */
		ot_err_destroy(size ? ot_send_fds(engine, reply, size, fds, nfds) : NULL);
	}
	shutdown(engine, SHUT_WR);
}

/* --- each request ------------------------------------------------------------------------------------- */

static struct ot_err *read_ram(const struct vp_client *c)
{
	struct vp_phys *phys = NULL;
	struct vp_gpa start, end;
	uint8_t bytes[64];
	struct ot_err *err = vp_client_map_ram(c, &phys);

	for (uint32_t i = 0; !err && i < c->nram && c->ram[i].fd_index >= 0; i++)
		err = vp_phys_read(phys, (struct vp_gpa){ c->ram[i].gpa }, bytes, sizeof(bytes));
	if (!err && c->nram && c->ram[0].fd_index >= 0)
		err = vp_phys_next_data(phys, (struct vp_gpa){ 0 }, &start, &end);
	vp_phys_destroy(phys);
	return err;
}

static bool ask_all(struct vp_client *c, int fd)
{
	static struct vp_regs regs[VP_VCPUS_MAX];
	static char names[VP_VM_STATS_MAX][VP_VM_STAT_NAME];
	struct vp_msg_switch_reply switched;
	struct vp_msg_modules_reply modules;
	struct vp_patches patches = { 0 };
	const struct vp_msg_open open = { 0 };
	const struct vp_cpc_event event = { 0 };
	char note[VP_ERROR_TEXT];
	uint32_t n = 0;
	bool ok = true;

/* each request reads its reply, whatever came before */
#define ASK(e)                             \
	do {                               \
		struct ot_err *err_ = (e); \
		ok &= !err_;               \
		c->broken = false;         \
		ot_err_destroy(err_);      \
	} while (0)
	ASK(vp_client_greeted(c));
	ASK(ok ? read_ram(c) : NULL);
	ASK(vp_client_snapshot(c, regs, VP_VCPUS_MAX, &n));
	ASK(vp_client_stats(c, names, &n));
	for (uint32_t i = 0; ok && i < n; i++)
		if (!memchr(names[i], 0, sizeof(names[i])))
			abort();
	ASK(vp_client_cpc(c, &event));
	ASK(vp_client_patches(c, &patches));
	free(patches.list);
	ASK(vp_client_open(c, &open, &fd, 1));
	ASK(vp_client_enable(c, fd));
	ASK(vp_client_start(c, note, sizeof(note)));
	ASK(vp_client_poll(c, &switched));
	ASK(vp_client_modules(c, 1, &modules));
	ASK(vp_client_switch(c, &switched));
	ASK(vp_client_stop(c));
#undef ASK
	if (!memchr(c->guest_name, 0, sizeof(c->guest_name)) || c->nram > VP_CLIENT_RAM_MAX)
		abort();
	return ok;
}

/* The contents of a descriptor that comes with replies; sealed, as patches must be. */
static int memory_of(const struct input *in)
{
	size_t size = in->left < 4096 ? 4096 : in->left;
	int fd;

	if (ot_memfd_create("fuzz", size, &fd))
		abort();
	if (pwrite(fd, in->at, in->left, 0) != (ssize_t)in->left)
		abort();
	return fd;
}

/* The rest, which is behind the replies. */
static struct input behind(struct input in, unsigned n)
{
	for (unsigned i = 0; i < n && in.left > 3; i++) {
		uint16_t len;
		memcpy(&len, take(&in, sizeof(len)), sizeof(len));
		take(&in, 1);
		take(&in, len);
	}
	return in;
}

static void run_client(struct input in, unsigned n)
{
	struct vp_client c = { .pid = (uint32_t)getpid() };
	struct input rest = behind(in, n);
	int pair[2], memory = memory_of(&rest);

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) ||
	    fcntl(pair[1], F_SETFL, O_NONBLOCK))
		abort();
	c.sock = pair[0];
	c.pidfd = eventfd(0, EFD_CLOEXEC); /* not readable: it lives */
	answer(pair[1], &in, n, memory);
	reached = ask_all(&c, memory);
	vp_client_close(&c);
	close(pair[1]);
	close(memory);
}

/* --- a session ---------------------------------------------------------------------------------------- */

static void fill_shared(struct client_session *cs, struct input *in)
{
	size_t size = in->left < sizeof(cs->seen) ? in->left : sizeof(cs->seen);

	memcpy(vp_feed_status(&cs->feed), take(in, size), size);
	for (unsigned i = 0; i < OT_ARRAY_SIZE(cs->touched) && in->left; i++) {
		uint64_t most = i % 4 < 2 ? cs->feed.open.bufsize : cs->feed.open.aggsize;
		size_t len = take_length(in);
		len = len < most ? len : most;
		memcpy(client_session_half(cs, i / 4, i % 4), take(in, len), len);
		cs->touched[i] = len;
	}
}

static void run_session(struct input in, unsigned n)
{
	struct client_session *cs = client_session();
	enum vp_session_state state;
	int engine = client_session_connect(cs);
	struct input rest = behind(in, n);

	answer(engine, &in, n, -1);
	fill_shared(cs, &rest);
	for (int i = 0; i < 2; i++) {
		memset(&cs->s->due, 0, sizeof(cs->s->due)); /* everything is due */
		ot_err_destroy(vp_session_poll(cs->s, -1, &state));
	}
	ot_err_destroy(vp_session_stop(cs->s));
	reached = cs->records && cs->aggregates;
	client_session_reset(cs);
	close(engine);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };

	reached = false;
	if (size < 2)
		return 0;
	const uint8_t *head = take(&in, 2);
	unsigned n = head[1] % (REPLIES_MAX + 1);
	if (head[0] & 1)
		run_session(in, n);
	else
		run_client(in, n);
	return 0;
}
