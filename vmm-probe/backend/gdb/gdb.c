/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The gdb backend: its table of operations, opening and closing. */
#include "vmm-probe/backend/gdb/gdb.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "vmm-probe/backend/gdb/internal.h"
#include "vmm-probe/engine/backend.h"
#include "vmm-probe/guest/phys.h"

#define ROUNDS 5

/* --- operations ----------------------------------------------------------------------------------------- */

static uint64_t gdb_reg(void *backend, void *ctx, enum vp_reg reg)
{
	(void)backend;
	return ((const struct vp_regs *)ctx)->v[reg];
}

static struct ot_err *plant(struct vp_gdb *gdb, void *arg)
{
	return vp_gdb_plant(gdb, arg);
}

static struct ot_err *gdb_install(void *backend, const struct vp_plan *plan)
{
	struct ot_err *err = vp_gdb_call(backend, plant, (void *)(uintptr_t)plan);

	if (!err || ot_err_code(err) != OT_ERR_GUEST_GONE || (plan && plan->nsites))
		return err;
	ot_err_destroy(err); /* no vCPU can be at a site any more */
	return NULL;
}

static uint32_t gdb_hit_cost_ns(void *backend, const struct vp_site *site)
{
	const struct vp_gdb *gdb = backend;

	(void)site;
	uint64_t all = gdb->hit_ns * gdb->stub.nthreads; /* every vCPU is stopped for it */
	return all < UINT32_MAX ? (uint32_t)all : UINT32_MAX;
}

static void gdb_request_sample(void *backend, uint32_t vcpu)
{
	struct vp_gdb *gdb = backend;

	__atomic_store_n(&gdb->sample_wanted[vcpu], 1, __ATOMIC_RELEASE);
	if (vcpu + 1 == gdb->stub.nthreads) /* one request each, during one stop */
		vp_gdb_wake(gdb);
}

struct snapshot {
	struct vp_regs *regs;
	uint32_t max, n;
};

static struct ot_err *snapshot(struct vp_gdb *gdb, void *arg)
{
	struct snapshot *s = arg;

	for (s->n = 0; s->n < gdb->stub.nthreads && s->n < s->max; s->n++)
		OT_TRY(vp_gdb_read_regs(&gdb->stub, s->n, &s->regs[s->n]));
	return NULL;
}

static uint32_t gdb_snapshot(void *backend, struct vp_regs *regs, uint32_t max)
{
	struct snapshot s = { .regs = regs, .max = max };

	ot_err_destroy(vp_gdb_call(backend, snapshot, &s));
	return s.n;
}

static uint32_t gdb_nvcpus(void *backend)
{
	return ((const struct vp_gdb *)backend)->stub.nthreads;
}

static const struct vp_backend_ops gdb_ops = {
	.name = "gdb",
	.reg = gdb_reg,
	.gpa_to_host = vp_gdb_gpa_to_host,
	.install = gdb_install,
	.hit_cost_ns = gdb_hit_cost_ns,
	.request_sample = gdb_request_sample,
	.snapshot = gdb_snapshot,
	.nvcpus = gdb_nvcpus,
	.load = vp_gdb_load,
};

/* --- cost ----------------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static struct ot_err *time_request(struct vp_gdb *gdb, uint64_t *ret)
{
	struct vp_regs regs;
	uint64_t start = ot_now_ns();

	OT_TRY(vp_gdb_read_regs(&gdb->stub, 0, &regs));
	*ret = (ot_now_ns() - start) / 2; /* two requests were sent */
	return NULL;
}

/* Resume the target and stop it: every hit does that, and it is most of a hit's cost. The target must be
 * running first: an interrupt at the moment of the resume is cheaper. */
static struct ot_err *time_stop(struct vp_gdb *gdb, uint64_t *ret)
{
	const struct timespec under_way = { .tv_nsec = 2000000 };
	struct vp_gdb_stop stop;
	bool runs;

	OT_TRY(vp_gdb_continue(&gdb->stub, &runs));
	nanosleep(&under_way, NULL);
	uint64_t start = ot_now_ns();
	OT_TRY(vp_gdb_interrupt(&gdb->stub.conn));
	OT_TRY(vp_gdb_wait_stop(&gdb->stub, &stop));
	*ret = ot_now_ns() - start;
	return NULL;
}

static struct ot_err *measure(struct vp_gdb *gdb)
{
	uint64_t request[ROUNDS], stop[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++) {
		OT_TRY(time_request(gdb, &request[i]));
		OT_TRY(time_stop(gdb, &stop[i]));
	}
	qsort(request, ROUNDS, sizeof(request[0]), by_value);
	qsort(stop, ROUNDS, sizeof(stop[0]), by_value);
	gdb->request_ns = request[ROUNDS / 2];
	/* two requests for the registers, one or two to step over the site, one to resume */
	gdb->hit_ns = stop[ROUNDS / 2] + 5 * gdb->request_ns;
	return NULL;
}

/* --- life ----------------------------------------------------------------------------------------------- */

/* An abstract address that the kernel chooses: nothing is left in a directory. The engine checks who may
 * connect. */
static struct ot_err *listen_somewhere(struct vp_gdb *gdb)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(addr.sun_family);

	gdb->listen_fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (gdb->listen_fd < 0 || bind(gdb->listen_fd, (struct sockaddr *)&addr, len) < 0 ||
	    listen(gdb->listen_fd, 8) < 0)
		return ot_err_os(errno, "a socket for the engine");
	len = sizeof(addr);
	if (getsockname(gdb->listen_fd, (struct sockaddr *)&addr, &len) < 0)
		return ot_err_os(errno, "a socket for the engine");
	snprintf(gdb->socket, sizeof(gdb->socket), "@%.*s",
		 (int)(len - offsetof(struct sockaddr_un, sun_path) - 1), addr.sun_path + 1);
	return NULL;
}

static struct ot_err *make_engine(struct vp_gdb *gdb)
{
	const struct vp_engine_config config = {
		.ops = &gdb_ops,
		.backend = gdb,
		.guest_name = gdb->stub.name,
	};

	OT_TRY(vp_gdb_window_init(&gdb->hits));
	OT_TRY(vp_gdb_window_init(&gdb->service));
	OT_TRY(vp_phys_create(&gdb->phys));
	OT_TRY(vp_phys_add_reader(gdb->phys, vp_gpa(0), VP_GDB_GPA_MAX, vp_gdb_read_phys, gdb));
	OT_TRY(vp_engine_create(&config, &gdb->engine));
	OT_TRY(vp_gdb_run(gdb));
	OT_TRY(listen_somewhere(gdb));
	return vp_engine_serve_fd(gdb->engine, gdb->listen_fd);
}

static struct ot_err *open_stub(struct vp_gdb *gdb, const char *where)
{
	ot_auto_close int fd = -1;

	OT_TRY(vp_gdb_connect(where, &gdb->keeper, &fd));
	struct ot_err *err = vp_gdb_stub_open(&gdb->stub, where, ot_move_fd(fd));
	if (!err)
		err = measure(gdb);
	if (err)
		gdb->broken = ot_err_new(ot_err_code(err), "%s", ot_err_message(err));
	return err ? err : make_engine(gdb);
}

struct ot_err *vp_gdb_open(const char *where, struct vp_gdb **ret)
{
	struct vp_gdb *gdb = calloc(1, sizeof(*gdb));

	if (!gdb)
		return ot_err_nomem();
	gdb->stub.conn.fd = gdb->listen_fd = -1;
	gdb->asked.last = &gdb->asked.calls;
	pthread_mutex_init(&gdb->asked.lock, NULL);
	pthread_cond_init(&gdb->asked.done, NULL);
	gdb->asked.wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	struct ot_err *err = gdb->asked.wake_fd < 0 ? ot_err_os(errno, "eventfd") : open_stub(gdb, where);
	if (err) {
		vp_gdb_close(gdb);
		return err;
	}
	*ret = gdb;
	return NULL;
}

static struct ot_err *part(struct vp_gdb *gdb, void *arg)
{
	(void)arg;
	gdb->parted = true;
	return NULL;
}

/* The engine first: it removes its sites, which needs the stub's thread; that thread no longer uses the
 * engine then. Then the thread, then the connection; the keeper last, which detaches if this fails. */
void vp_gdb_close(struct vp_gdb *gdb)
{
	if (!gdb)
		return;
	if (gdb->asked.started)
		ot_err_destroy(vp_gdb_call(gdb, part, NULL));
	vp_engine_destroy(gdb->engine);
	vp_gdb_stop_running(gdb);
	vp_gdb_stub_close(&gdb->stub, gdb->broken         ? VP_GDB_UNHEARD
				      : gdb->left_stopped ? VP_GDB_LEAVE_STOPPED
							  : VP_GDB_LET_RUN);
	vp_gdb_keeper_stop(&gdb->keeper);
	vp_phys_destroy(gdb->phys);
	vp_gdb_window_deinit(&gdb->hits);
	vp_gdb_window_deinit(&gdb->service);
	if (gdb->listen_fd >= 0)
		close(gdb->listen_fd);
	if (gdb->asked.wake_fd >= 0)
		close(gdb->asked.wake_fd);
	pthread_mutex_destroy(&gdb->asked.lock);
	pthread_cond_destroy(&gdb->asked.done);
	ot_err_destroy(gdb->broken);
	free(gdb->planted);
	free(gdb);
}

const char *vp_gdb_socket(const struct vp_gdb *gdb)
{
	return gdb->socket;
}

const struct vp_phys *vp_gdb_phys(const struct vp_gdb *gdb)
{
	return gdb->phys;
}

void vp_gdb_cost(const struct vp_gdb *gdb, uint64_t *ret_request_ns, uint64_t *ret_hit_ns)
{
	*ret_request_ns = gdb->request_ns;
	*ret_hit_ns = gdb->hit_ns;
}
