/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control socket: a whole session over it, a client that dies, hostile messages. */
#include "tests/unit/engine_fixture.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "vmm-probe/engine/wire/user_frames.h"

struct client {
	int sock;
	_Alignas(8) uint8_t reply[VP_MSG_MAX];
	size_t len;
	int fds[8], nfds;
};

static char dir[] = "/tmp/outsight-test-XXXXXX";
static char path[sizeof(dir) + 8];

static int make_dir(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/sock", dir);
	return 0;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir); /* fails when the server left its socket behind */
}

static struct client *dial(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct client *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	memcpy(addr.sun_path, path, strlen(path) + 1);
	c->sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(c->sock, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return c;
}

static void drop(struct client *c)
{
	close(c->sock);
	free(c);
}

/* False: the server closed the connection. */
static bool ask(struct client *c, const void *msg, size_t len, const int *fds, int nfds)
{
	EF_OK(ot_send_fds(c->sock, msg, len, fds, nfds));
	EF_OK(ot_recv_fds(c->sock, c->reply, sizeof(c->reply), c->fds, 8, &c->len, &c->nfds));
	for (int i = 0; i < c->nfds; i++)
		close(c->fds[i]);
	return c->len != 0;
}

static bool ask_bare(struct client *c, uint32_t type, const int *fds, int nfds)
{
	struct vp_msg m = { type, sizeof(m) };

	return ask(c, &m, sizeof(m), fds, nfds);
}

static uint32_t reply_code(const struct client *c)
{
	const struct vp_msg_reply *r = (const void *)c->reply;

	assert_int_equal(r->head.type, VP_MSG_REPLY);
	assert_int_equal(c->len, sizeof(*r));
	return r->code;
}

static void hello(struct client *c)
{
	struct vp_msg_hello m = { { VP_MSG_HELLO, sizeof(m) }, VP_PROTOCOL_VERSION, 0 };

	assert_true(ask(c, &m, sizeof(m), NULL, 0));
	assert_int_equal(((const struct vp_msg *)(void *)c->reply)->type, VP_MSG_HELLO_REPLY);
}

static int memfd_with(const void *data, size_t len)
{
	int fd;

	EF_OK(ot_memfd_create("test", len ? len : 1, &fd));
	assert_int_equal(pwrite(fd, data, len, 0), (ssize_t)len);
	return fd;
}

#define OPEN_FDS 4

/* Descriptors of OPEN; the last two are mapped as f->shared, so that the fixture's consumer reads it. */
static void open_fds(struct ef *f, int fds[OPEN_FDS])
{
	struct ot_buf dof;

	ot_buf_init(&dof);
	EF_OK(dif_dof_write(&f->prog, &dof));
	EF_OK(vp_shared_layout(&f->open, &f->shared_size));
	fds[0] = memfd_with(dof.data, dof.len);
	fds[1] = memfd_with(&f->facts, sizeof(f->facts));
	EF_OK(ot_memfd_create("common", f->open.status_offset, &fds[2]));
	EF_OK(ot_memfd_create("own", f->shared_size - f->open.status_offset, &fds[3]));
	ot_buf_deinit(&dof);
}

static void close_fds(int *fds, int n)
{
	for (int i = 0; i < n; i++)
		close(fds[i]);
}

static void map_shared(struct ef *f, const int fds[OPEN_FDS])
{
	const int prot = PROT_READ | PROT_WRITE, how = MAP_SHARED | MAP_FIXED;
	size_t common = f->open.status_offset;

	f->shared = mmap(NULL, f->shared_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(f->shared != MAP_FAILED);
	assert_true(common && mmap(f->shared, common, prot, how, fds[2], 0) != MAP_FAILED);
	assert_true(mmap(f->shared + common, f->shared_size - common, prot, how, fds[3], 0) != MAP_FAILED);
}

static void open_session(struct ef *f, struct client *c)
{
	int fds[OPEN_FDS];

	open_fds(f, fds);
	f->open.head = (struct vp_msg){ VP_MSG_OPEN, sizeof(f->open) };
	map_shared(f, fds);
	assert_true(ask(c, &f->open, sizeof(f->open), fds, OPEN_FDS));
	assert_int_equal(reply_code(c), 0);
	close_fds(fds, OPEN_FDS);
}

static void unmap_shared(struct ef *f)
{
	munmap(f->shared, f->shared_size);
	f->shared = NULL;
}

static void enable(struct ef *f, struct client *c)
{
	size_t size;
	void *batch = ef_batch(f, &size);
	int fd = memfd_with(batch, size);

	assert_true(ask_bare(c, VP_MSG_ENABLE, &fd, 1));
	assert_int_equal(reply_code(c), 0);
	close(fd);
	free(batch);
	ef_batch_clear(f);
}

static void simple(struct client *c, uint32_t type, uint32_t code)
{
	assert_true(ask_bare(c, type, NULL, 0));
	assert_int_equal(reply_code(c), code);
}

/* A guest that serves, with one clause on function A. */
static struct ef *serve(void)
{
	struct ef *f = ef_create();
	uint32_t c = ef_clause(f, NULL);

	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	uint32_t p = ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_ENTRY, "a", "entry");
	ef_site(f, EF_FUNC_A, EF_FUNC_A);
	ef_ecb(f, p, c);
	EF_OK(vp_engine_serve(vp_fake_engine(f->fake), path));
	return f;
}

/* The server sees the end of a connection a little later. */
static void wait_for_sites(struct ef *f, uint32_t n)
{
	const struct timespec ms = { .tv_nsec = 1000000 };

	for (unsigned i = 0; i < 10000 && vp_fake_sites(f->fake) != n; i++)
		nanosleep(&ms, NULL);
	assert_int_equal(vp_fake_sites(f->fake), n);
}

static void whole_session(void **state)
{
	struct ef *f = serve();
	struct ef_record r[8];
	struct stat st;
	(void)state;

	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	EF_FAILS(OT_ERR_BUSY, vp_engine_serve(vp_fake_engine(f->fake), path));
	struct client *c = dial();
	hello(c);
	const struct vp_msg_hello_reply *h = (const void *)c->reply;
	assert_int_equal(h->nvcpus, 2);
	assert_string_equal(h->backend, "fake");
	assert_string_equal(h->guest_name, "fake");
	assert_int_equal(h->can_profile, 1);
	assert_true(ask_bare(c, VP_MSG_SNAPSHOT, NULL, 0));
	const struct vp_msg_snapshot_reply *s = (const void *)c->reply;
	assert_int_equal(s->nvcpus, 2);
	assert_int_equal(s->regs[1].v[VP_CS], 0x10);
	open_session(f, c);
	enable(f, c);
	simple(c, VP_MSG_START, 0);
	vp_fake_set_reg(f->fake, 0, VP_RDI, 123);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	assert_true(ask_bare(c, VP_MSG_LOOK, NULL, 0)); /* hands nothing over */
	assert_int_equal(((const struct vp_msg *)(void *)c->reply)->type, VP_MSG_SWITCH_REPLY);
	assert_int_equal(ef_records(f, 0, r, 8), 0);
	assert_true(ask_bare(c, VP_MSG_SWITCH, NULL, 0));
	assert_int_equal(((const struct vp_msg *)(void *)c->reply)->type, VP_MSG_SWITCH_REPLY);
	assert_int_equal(ef_records(f, 0, r, 8), 1);
	assert_int_equal(ef_u64(r[0].data + 16), 123);
	simple(c, VP_MSG_STOP, 0);
	assert_int_equal(vp_fake_sites(f->fake), 0);
	drop(c);
	unmap_shared(f);
	ef_destroy(f);
}

/* kill -9 of the client, at each point of a session. */
static void client_dies(void **state)
{
	(void)state;
	for (unsigned point = 0; point < 6; point++) {
		struct ef *f = serve();
		struct client *c = dial();
		if (point > 0)
			hello(c);
		if (point > 1)
			open_session(f, c);
		if (point > 2)
			enable(f, c);
		if (point > 3)
			simple(c, VP_MSG_START, 0);
		if (point > 4)
			assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
		drop(c);
		wait_for_sites(f, 0);
		assert_false(vp_fake_hit(f->fake, 0, EF_FUNC_A));
		if (f->shared)
			unmap_shared(f);
		ef_destroy(f);
	}
}

/* FRAMES belongs to a session, and has one sealed descriptor; what is refused changes nothing. */
static void frames(void **state)
{
	static const struct vp_frames_header none = { .magic = VP_FRAMES_MAGIC }, bad = { .magic = 1 };
	struct ef *f = serve();
	int ends[2];
	(void)state;

	struct client *c = dial();
	int fds[] = { memfd_with(&none, sizeof(none)), memfd_with(&bad, sizeof(bad)) };

	assert_int_equal(pipe(ends), 0);
	hello(c);
	assert_true(ask_bare(c, VP_MSG_FRAMES, fds, 1));
	assert_int_equal(reply_code(c), OT_ERR_BAD_DATA);
	open_session(f, c);
	simple(c, VP_MSG_FRAMES, OT_ERR_BAD_DATA);
	assert_true(ask_bare(c, VP_MSG_FRAMES, fds, 2));
	assert_int_equal(reply_code(c), OT_ERR_BAD_DATA);
	assert_true(ask_bare(c, VP_MSG_FRAMES, &fds[1], 1));
	assert_int_equal(reply_code(c), OT_ERR_BAD_DATA);
	assert_true(ask_bare(c, VP_MSG_FRAMES, ends, 1));
	assert_int_not_equal(reply_code(c), 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(ask_bare(c, VP_MSG_FRAMES, fds, 1));
		assert_int_equal(reply_code(c), 0);
	}
	enable(f, c);
	simple(c, VP_MSG_START, 0);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	drop(c);
	wait_for_sites(f, 0);
	close(ends[0]);
	close(ends[1]);
	close(fds[0]);
	close(fds[1]);
	unmap_shared(f);
	ef_destroy(f);
}

/* A request is sent and the client gone before the answer. */
static void client_does_not_wait(void **state)
{
	struct ef *f = serve();
	struct vp_msg m = { VP_MSG_START, sizeof(m) };
	(void)state;

	struct client *c = dial();
	hello(c);
	open_session(f, c);
	enable(f, c);
	EF_OK(ot_send_fds(c->sock, &m, sizeof(m), NULL, 0));
	drop(c);
	/* the next one is served as ever */
	c = dial();
	hello(c);
	drop(c);
	wait_for_sites(f, 0);
	unmap_shared(f);
	ef_destroy(f);
}

/* The guest is paused when the client dies: the engine tries again by itself until it is done. */
static void client_dies_while_busy(void **state)
{
	struct ef *f = serve();
	(void)state;

	struct client *c = dial();
	hello(c);
	open_session(f, c);
	enable(f, c);
	simple(c, VP_MSG_START, 0);
	vp_fake_set_busy(f->fake, true);
	drop(c);
	c = dial(); /* answered behind the other's end */
	hello(c);
	assert_int_equal(vp_fake_sites(f->fake), 1);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A)); /* harmless */
	vp_fake_set_busy(f->fake, false);
	wait_for_sites(f, 0);
	drop(c);
	unmap_shared(f);
	ef_destroy(f);
}

static void engine_dies_under_a_client(void **state)
{
	struct ef *f = serve();
	struct vp_msg m = { VP_MSG_SWITCH, sizeof(m) };
	struct ot_err *err;
	(void)state;

	struct client *c = dial();
	hello(c);
	open_session(f, c);
	enable(f, c);
	simple(c, VP_MSG_START, 0);
	vp_fake_destroy_engine(f->fake);
	assert_int_equal(vp_fake_sites(f->fake), 0);
	err = ot_send_fds(c->sock, &m, sizeof(m), NULL, 0);
	assert_non_null(err);
	ot_err_destroy(err);
	drop(c);
	unmap_shared(f);
	ef_destroy(f);
}

/* The guest ends: the session is stopped and notified, and served until it closes. */
static void guest_ends(void **state)
{
	struct ef *f = serve();
	struct vp_engine *engine = vp_fake_engine(f->fake);
	struct ef_record r[8];
	(void)state;

	vp_engine_wait_drained(engine, 60000); /* nothing is open: at once */
	struct client *c = dial(), *late = dial();
	hello(c);
	open_session(f, c);
	enable(f, c);
	simple(c, VP_MSG_START, 0);
	vp_fake_set_reg(f->fake, 0, VP_RDI, 7);
	assert_true(vp_fake_hit(f->fake, 0, EF_FUNC_A));
	vp_engine_guest_ended(engine, VP_GUEST_TRIPLE_FAULT);
	wait_for_sites(f, 0);
	const struct vp_vcpu_status *first = (const void *)(f->shared + f->open.status_offset);
	while (__atomic_load_n(&first->guest_end, __ATOMIC_ACQUIRE) != VP_GUEST_TRIPLE_FAULT)
		sched_yield();
	vp_engine_wait_drained(engine, 1); /* it is not taken yet */
	assert_true(ask_bare(c, VP_MSG_SWITCH, NULL, 0));
	assert_int_equal(ef_records(f, 0, r, 8), 1);
	assert_int_equal(ef_u64(r[0].data + 16), 7);
	simple(c, VP_MSG_STOP, 0);
	drop(c);
	vp_engine_wait_drained(engine, 60000);
	hello(late); /* the engine itself continues */
	drop(late);
	unmap_shared(f);
	ef_destroy(f);
}

/* One that was open and not started can't be any more. */
static void guest_ends_before_the_start(void **state)
{
	struct ef *f = serve();
	(void)state;

	struct client *c = dial();
	hello(c);
	open_session(f, c);
	enable(f, c);
	vp_engine_guest_ended(vp_fake_engine(f->fake), VP_GUEST_RESET);
	const struct vp_vcpu_status *first = (const void *)(f->shared + f->open.status_offset);
	while (__atomic_load_n(&first->guest_end, __ATOMIC_ACQUIRE) != VP_GUEST_RESET)
		sched_yield();
	simple(c, VP_MSG_START, OT_ERR_GUEST_GONE);
	drop(c);
	unmap_shared(f);
	ef_destroy(f);
}

static void order_is_checked(void **state)
{
	struct ef *f = serve();
	(void)state;

	struct client *c = dial();
	simple(c, VP_MSG_SNAPSHOT, OT_ERR_BAD_DATA); /* before HELLO */
	hello(c);
	static const uint32_t needs_session[] = { VP_MSG_ENABLE, VP_MSG_START, VP_MSG_SWITCH, VP_MSG_LOOK,
						  VP_MSG_STOP };
	for (unsigned i = 0; i < OT_ARRAY_SIZE(needs_session); i++)
		simple(c, needs_session[i], OT_ERR_BAD_DATA);
	open_session(f, c);
	uint8_t *shared = f->shared;
	int fds[OPEN_FDS];
	open_fds(f, fds);
	assert_true(ask(c, &f->open, sizeof(f->open), fds, OPEN_FDS));
	assert_int_equal(reply_code(c), OT_ERR_BUSY); /* one session a connection */
	close_fds(fds, OPEN_FDS);
	simple(c, VP_MSG_ENABLE, OT_ERR_BAD_DATA); /* without its descriptor */
	f->shared = shared;
	drop(c);
	unmap_shared(f);
	ef_destroy(f);
}

static void other_version_is_refused(void **state)
{
	struct ef *f = serve();
	struct vp_msg_hello m = { { VP_MSG_HELLO, sizeof(m) }, VP_PROTOCOL_VERSION + 1, 0 };
	(void)state;

	struct client *c = dial();
	assert_true(ask(c, &m, sizeof(m), NULL, 0));
	assert_int_equal(reply_code(c), OT_ERR_UNSUPPORTED);
	drop(c);
	ef_destroy(f);
}

static uint32_t ask_cpc(struct client *c, uint32_t type, uint64_t period)
{
	struct vp_msg_cpc m = { { VP_MSG_CPC, sizeof(m) }, { .type = type, .period = period } };

	assert_true(ask(c, &m, sizeof(m), NULL, 0));
	return reply_code(c);
}

/* The backend's answer about an event, before there is a session. */
static void events_are_asked_for(void **state)
{
	struct ef *f = serve();
	(void)state;

	struct client *c = dial();
	hello(c);
	assert_int_equal(ask_cpc(c, PERF_TYPE_HARDWARE, VP_CPC_LEAST), 0);
	assert_int_equal(ask_cpc(c, PERF_TYPE_HW_CACHE, VP_CPC_LEAST), OT_ERR_UNSUPPORTED);
	assert_int_equal(ask_cpc(c, PERF_TYPE_HARDWARE, VP_CPC_LEAST - 1), OT_ERR_BAD_DATA);
	assert_int_equal(ask_cpc(c, PERF_TYPE_TRACEPOINT, VP_CPC_LEAST), OT_ERR_BAD_DATA);
	drop(c);
	ef_destroy(f);
}

/* Messages that are none end the connection; the server serves on. */
static void malformed_messages(void **state)
{
	struct ef *f = serve();
	uint32_t words[512] = { 0 };
	unsigned seed = 3;
	(void)state;

	for (unsigned round = 0; round < 500; round++) {
		size_t len = 1 + rand_r(&seed) % sizeof(words);
		for (unsigned i = 0; i < OT_ARRAY_SIZE(words); i++)
			words[i] = (uint32_t)rand_r(&seed) % (round % 2 ? 16 : 0x7fffffff);
		if (round % 3 == 0)
			words[1] = (uint32_t)len; /* the size is right, nothing else */
		if (round % 5 == 0)
			words[0] = 0xffffffff;
		struct client *c = dial();
		hello(c);
		ask(c, words, len, NULL, 0);
		drop(c);
	}
	struct client *c = dial();
	hello(c);
	assert_true(ask(c, words, 3, NULL, 0) == false);
	drop(c);
	ef_destroy(f);
}

/* Descriptors of the wrong kind: not sealed, no memory at all, empty. */
static void false_descriptors(void **state)
{
	struct ef *f = serve();
	(void)state;

	struct client *c = dial();
	hello(c);
	int unsealed = memfd_create("unsealed", MFD_CLOEXEC), dir_fd = open("/", O_RDONLY | O_CLOEXEC),
	    good[OPEN_FDS];
	assert_int_equal(ftruncate(unsealed, 1 << 20), 0);
	open_fds(f, good);
	f->open.head = (struct vp_msg){ VP_MSG_OPEN, sizeof(f->open) };
	for (int at = 0; at < OPEN_FDS; at++) {
		for (int kind = 0; kind < 2; kind++) {
			int fds[OPEN_FDS] = { good[0], good[1], good[2], good[3] };
			fds[at] = kind ? dir_fd : unsealed;
			assert_true(ask(c, &f->open, sizeof(f->open), fds, OPEN_FDS));
			assert_int_equal(reply_code(c), OT_ERR_BAD_DATA);
		}
	}
	assert_true(ask(c, &f->open, sizeof(f->open), good, OPEN_FDS - 1));
	assert_int_equal(reply_code(c), OT_ERR_BAD_DATA);
	int swapped[OPEN_FDS] = { good[1], good[0], good[2], good[3] };
	assert_true(ask(c, &f->open, sizeof(f->open), swapped, OPEN_FDS));
	assert_int_equal(reply_code(c), OT_ERR_BAD_DATA);
	int small[OPEN_FDS] = { good[0], good[1], good[2], good[1] };
	assert_true(
	    ask(c, &f->open, sizeof(f->open), small, OPEN_FDS)); /* buffers larger than their memory */
	assert_int_equal(reply_code(c), OT_ERR_BAD_DATA);
	int odd[OPEN_FDS] = { good[0], good[1], good[1], good[3] };
	assert_true(
	    ask(c, &f->open, sizeof(f->open), odd, OPEN_FDS)); /* what all share is no number of pages */
	assert_int_equal(reply_code(c), OT_ERR_BAD_DATA);
	/* after all this a good one is taken */
	assert_true(ask(c, &f->open, sizeof(f->open), good, OPEN_FDS));
	assert_int_equal(reply_code(c), 0);
	close_fds(good, OPEN_FDS);
	close(unsealed);
	close(dir_fd);
	drop(c);
	ef_destroy(f);
}

/* A consumer that overwrites all that it may write: the engine continues, and only the data is damaged. */
static void scribbling_consumer(void **state)
{
	struct ef *f = serve();
	unsigned seed = 4;
	(void)state;

	f->open.bufpolicy = VP_BUF_RING; /* the policy that reads back what lies in shared memory */
	struct client *c = dial();
	hello(c);
	open_session(f, c);
	enable(f, c);
	simple(c, VP_MSG_START, 0);
	for (unsigned round = 0; round < 200; round++) {
		for (unsigned i = 0; i < 100; i++)
			f->shared[(unsigned)rand_r(&seed) % f->shared_size] = (uint8_t)rand_r(&seed);
		for (unsigned i = 0; i < 50; i++)
			assert_true(vp_fake_hit(f->fake, i % 2, EF_FUNC_A));
		assert_true(ask_bare(c, VP_MSG_SWITCH, NULL, 0));
	}
	drop(c);
	wait_for_sites(f, 0);
	unmap_shared(f);
	ef_destroy(f);
}

/* The record of a client; it waits until that has ended, as an end is seen a little later. */
static struct vp_access record_of(pid_t pid)
{
	struct vp_msg_access m = { { VP_MSG_ACCESS, sizeof(m) }, 0 };
	const struct timespec ms = { .tv_nsec = 1000000 };
	struct vp_access ret = { 0 };

	for (unsigned i = 0; i < 10000 && !ret.ended_s; i++) {
		struct client *c = dial();
		hello(c);
		assert_true(ask(c, &m, sizeof(m), NULL, 0));
		const struct vp_msg_access_reply *r = (const void *)c->reply;
		assert_int_equal(r->head.type, VP_MSG_ACCESS_REPLY);
		assert_int_equal(c->len, sizeof(*r));
		for (uint32_t k = 0; k < r->n; k++)
			if (r->list[k].pid == pid)
				ret = r->list[k];
		drop(c);
		nanosleep(&ms, NULL);
	}
	return ret;
}

/* By the kernel's word, whatever the client does or does not say itself. */
static void a_client_is_recorded(void **state)
{
	struct ef *f = serve();
	int status;
	(void)state;

	pid_t pid = fork();
	if (!pid) {
		struct client *c = dial();
		prctl(PR_SET_NAME, "sh\n\033[2J");
		hello(c);
		open_session(f, c);
		enable(f, c);
		simple(c, VP_MSG_START, 0);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	struct vp_access a = record_of(pid);
	assert_int_equal(a.pid, pid);
	assert_int_equal(a.uid, geteuid());
	assert_int_equal(a.enablings, 1);
	assert_true(a.flags & VP_ACCESS_STARTED);
	assert_true(a.ended_s >= a.began_s);
	assert_string_equal(a.comm, "sh");
	assert_non_null(strstr(a.first, ":a:entry"));
	ef_destroy(f);
}

/* The server's end of the only connection. */
static int server_end(void)
{
	for (int fd = 3; fd < 1024; fd++) {
		struct sockaddr_un addr = { 0 };
		socklen_t len = sizeof(addr), flag_len = sizeof(int);
		int listens = 0;
		if (!getsockname(fd, (struct sockaddr *)&addr, &len) && !strcmp(addr.sun_path, path) &&
		    !getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &flag_len) && !listens)
			return fd;
	}
	return -1;
}

/* It is not waited for: neither by other clients nor by the vCPUs of a VMM that destroys its engine. */
static void who_takes_no_replies_is_cut_off(void **state)
{
	struct ef *f = serve();
	struct vp_msg m = { VP_MSG_STATS, sizeof(m) };
	unsigned sent = 0, replies = 0;
	(void)state;

	struct client *c = dial();
	hello(c);
	assert_true(fcntl(server_end(), F_GETFL) & O_NONBLOCK);
	while (sent < 1000 && send(c->sock, &m, sizeof(m), MSG_NOSIGNAL) > 0)
		sent++;
	assert_in_range(sent, 1, 999);
	while (recv(c->sock, c->reply, sizeof(c->reply), 0) > 0)
		replies++;
	assert_true(replies < sent);
	drop(c);
	ef_destroy(f);
}

static void stale_socket_is_replaced(void **state)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	(void)state;

	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	memcpy(addr.sun_path, path, strlen(path) + 1);
	assert_int_equal(bind(sock, (struct sockaddr *)&addr, sizeof(addr)), 0);
	close(sock); /* the file stays, as after a crash */
	struct ef *f = serve();
	/* but one that is in use is not taken away */
	struct ef *second = ef_create();
	EF_FAILS(OT_ERR_BUSY, vp_engine_serve(vp_fake_engine(second->fake), path));
	ef_destroy(second);
	struct client *c = dial();
	hello(c);
	drop(c);
	ef_destroy(f);
	assert_int_equal(access(path, F_OK), -1);
}

/* The socket's mode keeps others away; where it does not, the kernel's word about them does. */
static void strangers_are_not_served(void **state)
{
	struct vp_msg_hello m = { { VP_MSG_HELLO, sizeof(m) }, VP_PROTOCOL_VERSION, 0 };
	struct ef *f;
	int status;
	(void)state;

	if (geteuid()) {
		print_message("SKIP: another user takes root\n");
		skip();
	}
	f = serve();
	assert_int_equal(chmod(dir, 0711), 0);
	assert_int_equal(chmod(path, 0666), 0);
	pid_t pid = fork();
	if (!pid) {
		if (setresuid(65534, 65534, 65534))
			_exit(2);
		struct client *c = dial();
		struct ot_err *err = ot_send_fds(c->sock, &m, sizeof(m), NULL, 0);
		_exit(err || recv(c->sock, c->reply, sizeof(c->reply), 0) <= 0 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	struct client *c = dial();
	hello(c);
	drop(c);
	ef_destroy(f);
}

/* Its name is a link of another user's: nothing is made or changed where that leads. */
static void a_link_is_not_followed(void **state)
{
	char target[sizeof(path) + 8];
	struct stat st;
	(void)state;

	snprintf(target, sizeof(target), "%s.target", path);
	int fd = open(target, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(symlink(target, path), 0);
	struct ef *f = ef_create();
	EF_FAILS(OT_ERR_BUSY, vp_engine_serve(vp_fake_engine(f->fake), path));
	assert_int_equal(stat(target, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	assert_int_equal(unlink(target), 0);
	EF_FAILS(OT_ERR_BUSY, vp_engine_serve(vp_fake_engine(f->fake), path)); /* it leads nowhere */
	assert_int_equal(access(target, F_OK), -1);
	assert_int_equal(unlink(path), 0);
	ef_destroy(f);
}

/* Between bind() and a change of its mode by its name another user could put a link there. */
static void its_mode_is_not_set_by_name(void **state)
{
	_Alignas(struct inotify_event) char events[4096];
	mode_t mask = umask(0);
	struct stat st;
	(void)state;

	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	assert_true(inotify_add_watch(watch, dir, IN_CREATE | IN_ATTRIB) >= 0);
	struct ef *f = serve();
	umask(mask);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	ssize_t n = read(watch, events, sizeof(events));
	const struct inotify_event *e = (const void *)events;
	assert_true(n >= (ssize_t)sizeof(*e));
	assert_int_equal(e->mask, IN_CREATE);
	assert_int_equal(n, sizeof(*e) + e->len); /* and that is all */
	close(watch);
	ef_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_session),
		cmocka_unit_test(client_dies),
		cmocka_unit_test(frames),
		cmocka_unit_test(client_does_not_wait),
		cmocka_unit_test(client_dies_while_busy),
		cmocka_unit_test(guest_ends),
		cmocka_unit_test(guest_ends_before_the_start),
		cmocka_unit_test(engine_dies_under_a_client),
		cmocka_unit_test(order_is_checked),
		cmocka_unit_test(other_version_is_refused),
		cmocka_unit_test(events_are_asked_for),
		cmocka_unit_test(malformed_messages),
		cmocka_unit_test(false_descriptors),
		cmocka_unit_test(scribbling_consumer),
		cmocka_unit_test(a_client_is_recorded),
		cmocka_unit_test(who_takes_no_replies_is_cut_off),
		cmocka_unit_test(stale_socket_is_replaced),
		cmocka_unit_test(strangers_are_not_served),
		cmocka_unit_test(a_link_is_not_followed),
		cmocka_unit_test(its_mode_is_not_set_by_name),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
