/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A client of an engine's control socket, as tests are one. */
#include "tests/unit/engine_client.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"

char ec_dir[] = "/tmp/outsight-test-XXXXXX";
char ec_path[EC_PATH_SIZE];

int ec_make_dir(void **state)
{
	(void)state;
	if (!mkdtemp(ec_dir))
		return -1;
	snprintf(ec_path, sizeof(ec_path), "%s/sock", ec_dir);
	return 0;
}

int ec_remove_dir(void **state)
{
	(void)state;
	return rmdir(ec_dir); /* fails when the server left its socket behind */
}

struct ec_client *ec_dial(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct ec_client *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	memcpy(addr.sun_path, ec_path, strlen(ec_path) + 1);
	c->sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(c->sock, (struct sockaddr *)&addr, sizeof(addr)), 0);
	return c;
}

void ec_drop(struct ec_client *c)
{
	close(c->sock);
	free(c);
}

/* False: the server closed the connection. */
bool ec_ask(struct ec_client *c, const void *msg, size_t len, const int *fds, int nfds)
{
	EF_OK(ot_send_fds(c->sock, msg, len, fds, nfds));
	EF_OK(ot_recv_fds(c->sock, c->reply, sizeof(c->reply), c->fds, 8, &c->len, &c->nfds));
	for (int i = 0; i < c->nfds; i++)
		close(c->fds[i]);
	return c->len != 0;
}

bool ec_ask_bare(struct ec_client *c, uint32_t type, const int *fds, int nfds)
{
	struct vp_msg m = { type, sizeof(m) };

	return ec_ask(c, &m, sizeof(m), fds, nfds);
}

uint32_t ec_reply_code(const struct ec_client *c)
{
	const struct vp_msg_reply *r = (const void *)c->reply;

	assert_int_equal(r->head.type, VP_MSG_REPLY);
	assert_int_equal(c->len, sizeof(*r));
	return r->code;
}

void ec_hello(struct ec_client *c)
{
	struct vp_msg_hello m = { { VP_MSG_HELLO, sizeof(m) }, VP_PROTOCOL_VERSION, 0 };

	assert_true(ec_ask(c, &m, sizeof(m), NULL, 0));
	assert_int_equal(((const struct vp_msg *)(void *)c->reply)->type, VP_MSG_HELLO_REPLY);
}

int ec_memfd(const void *data, size_t len)
{
	int fd;

	EF_OK(ot_memfd_create("test", len ? len : 1, &fd));
	assert_int_equal(pwrite(fd, data, len, 0), (ssize_t)len);
	return fd;
}

/* Descriptors of OPEN; the last two are mapped as f->shared, so that the fixture's consumer reads it. */
void ec_open_fds(struct ef *f, int fds[EC_OPEN_FDS])
{
	struct ot_buf dof;

	ot_buf_init(&dof);
	EF_OK(dif_dof_write(&f->prog, &dof));
	EF_OK(vp_shared_layout(&f->open, &f->shared_size));
	fds[0] = ec_memfd(dof.data, dof.len);
	fds[1] = ec_memfd(&f->facts, sizeof(f->facts));
	EF_OK(ot_memfd_create("common", f->open.status_offset, &fds[2]));
	EF_OK(ot_memfd_create("own", f->shared_size - f->open.status_offset, &fds[3]));
	ot_buf_deinit(&dof);
}

void ec_close_fds(int *fds, int n)
{
	for (int i = 0; i < n; i++)
		close(fds[i]);
}

void ec_map_shared(struct ef *f, const int fds[EC_OPEN_FDS])
{
	const int prot = PROT_READ | PROT_WRITE, how = MAP_SHARED | MAP_FIXED;
	size_t common = f->open.status_offset;

	f->shared = mmap(NULL, f->shared_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(f->shared != MAP_FAILED);
	assert_true(common && mmap(f->shared, common, prot, how, fds[2], 0) != MAP_FAILED);
	assert_true(mmap(f->shared + common, f->shared_size - common, prot, how, fds[3], 0) != MAP_FAILED);
}

void ec_open_session(struct ef *f, struct ec_client *c)
{
	int fds[EC_OPEN_FDS];

	ec_open_fds(f, fds);
	f->open.head = (struct vp_msg){ VP_MSG_OPEN, sizeof(f->open) };
	ec_map_shared(f, fds);
	assert_true(ec_ask(c, &f->open, sizeof(f->open), fds, EC_OPEN_FDS));
	assert_int_equal(ec_reply_code(c), 0);
	ec_close_fds(fds, EC_OPEN_FDS);
}

void ec_unmap_shared(struct ef *f)
{
	munmap(f->shared, f->shared_size);
	f->shared = NULL;
}

void ec_enable(struct ef *f, struct ec_client *c)
{
	size_t size;
	void *batch = ef_batch(f, &size);
	int fd = ec_memfd(batch, size);

	assert_true(ec_ask_bare(c, VP_MSG_ENABLE, &fd, 1));
	assert_int_equal(ec_reply_code(c), 0);
	close(fd);
	free(batch);
	ef_batch_clear(f);
}

void ec_simple(struct ec_client *c, uint32_t type, uint32_t code)
{
	assert_true(ec_ask_bare(c, type, NULL, 0));
	assert_int_equal(ec_reply_code(c), code);
}

/* A guest that serves, with one clause on function A. */
struct ef *ec_create(void)
{
	struct ef *f = ef_create();
	uint32_t c = ef_clause(f, NULL);

	ef_action(f, c, DIF_ACT_difexpr, ef_var(f, DIF_VAR_arg0));
	uint32_t p = ef_probe(f, VP_PROBE_SITE, VP_ARGS_FBT_ENTRY, "a", "entry");
	ef_site(f, EF_FUNC_A, EF_FUNC_A);
	ef_ecb(f, p, c);
	return f;
}

void ec_start(struct ef *f)
{
	EF_OK(vp_engine_serve(vp_fake_engine(f->fake), ec_path));
}

struct ef *ec_serve(void)
{
	struct ef *f = ec_create();

	ec_start(f);
	return f;
}

/* The server sees the end of a connection a little later. */
void ec_wait_for_sites(struct ef *f, uint32_t n)
{
	const struct timespec ms = { .tv_nsec = 1000000 };

	for (unsigned i = 0; i < 10000 && vp_fake_sites(f->fake) != n; i++)
		nanosleep(&ms, NULL);
	assert_int_equal(vp_fake_sites(f->fake), n);
}
