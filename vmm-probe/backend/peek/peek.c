/* SPDX-License-Identifier: GPL-2.0-or-later */
/* External sampling: the backend's table, its engine in this process, opening and closing. */
#include "vmm-probe/backend/peek/peek.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "vmm-probe/backend/peek/internal.h"
#include "vmm-probe/engine/backend.h"

#define READ_MS 5000 /* to wait for a first vCPU when opening: a host may be busy */
#define PAGE    4096

/* --- the engine's backend ------------------------------------------------------------------------------ */

static uint64_t peek_reg(void *backend, void *ctx, enum vp_reg reg)
{
	const struct vp_peek_vcpu *v = ctx;

	(void)backend;
	return v ? vp_kvm_reg_of(&v->state.regs, &v->state.sregs, reg) : 0;
}

static void *peek_gpa_to_host(void *backend, uint64_t gpa, uint64_t *ret_len)
{
	(void)backend;
	(void)gpa;
	(void)ret_len;
	return NULL; /* vp_peek_load() reads it */
}

static struct ot_err *peek_install(void *backend, const struct vp_plan *plan)
{
	const struct vp_peek *peek = backend;

	if (plan && (plan->nsites || plan->vm_events))
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "guest %s is only sampled from outside: nothing is changed in it",
				  peek->name);
	return NULL;
}

static uint32_t peek_snapshot(void *backend, struct vp_regs *regs, uint32_t max)
{
	return vp_peek_read(backend, regs, max, READ_MS);
}

static uint32_t peek_nvcpus(void *backend)
{
	return ((const struct vp_peek *)backend)->nvcpus;
}

static void peek_request_sample(void *backend, uint32_t vcpu)
{
	vp_peek_want(backend, vcpu, VP_PEEK_SAMPLE);
}

static uint32_t peek_vm_stats(void *backend, char (*names)[VP_VM_STAT_NAME], uint32_t max)
{
	const struct vp_peek *peek = backend;
	uint32_t n = peek->nstats < max ? peek->nstats : max;

	for (uint32_t i = 0; i < n; i++)
		memcpy(names[i], peek->stats[i].name, sizeof(peek->stats[i].name));
	return n;
}

static uint64_t peek_vm_stat(void *backend, uint32_t vcpu, uint32_t index)
{
	const struct vp_peek *peek = backend;

	if (index >= peek->nstats || vcpu >= peek->nvcpus)
		return 0;
	return vp_kvm_stat_read(peek->vcpus[vcpu].stats_fd, &peek->stats[index]);
}

static const struct vp_backend_vm peek_vm = {
	.stats = peek_vm_stats,
	.stat = peek_vm_stat,
};

static const struct vp_backend_ops peek_ops = {
	.name = "peek",
	.reg = peek_reg,
	.gpa_to_host = peek_gpa_to_host,
	.install = peek_install,
	.request_sample = peek_request_sample,
	.snapshot = peek_snapshot,
	.nvcpus = peek_nvcpus,
	.load = vp_peek_load,
	.vm = &peek_vm,
};

/* --- opening ------------------------------------------------------------------------------------------- */

/* A word of ours that was not undone (all of Outsight's processes were killed at once) is undone; one that
 * the VMM set is its own. */
static struct ot_err *check_unused(struct vp_peek *peek)
{
	for (uint32_t i = 0; i < peek->nvcpus; i++) {
		vp_peek_disarm(&peek->vcpus[i]);
		if (peek->vcpus[i].run->kvm_valid_regs || peek->vcpus[i].run->kvm_dirty_regs)
			return ot_err_new(OT_ERR_UNSUPPORTED,
					  "process %d uses KVM's synchronised registers itself",
					  (int)peek->pid);
	}
	return NULL;
}

static struct ot_err *find_ram(struct vp_peek *peek)
{
	ot_auto_free struct vp_regs *regs = calloc(peek->nvcpus, sizeof(*regs));

	if (!regs)
		return ot_err_nomem();
	vp_peek_read(peek, regs, peek->nvcpus, READ_MS);
	return vp_peek_find_ram(peek, regs);
}

/* Without a name the kernel gives the socket one that is in no file system: unix(7), autobind. */
static struct ot_err *listen_anywhere(struct vp_peek *peek)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	const socklen_t nameless = sizeof(addr.sun_family),
			before = offsetof(struct sockaddr_un, sun_path) + 1;
	socklen_t len = sizeof(addr);

	peek->listening = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (peek->listening < 0 || bind(peek->listening, (struct sockaddr *)&addr, nameless) ||
	    listen(peek->listening, 1) || getsockname(peek->listening, (struct sockaddr *)&addr, &len))
		return ot_err_os(errno, "creating the engine's socket");
	snprintf(peek->address, sizeof(peek->address), "@%.*s", (int)(len - before), addr.sun_path + 1);
	return NULL;
}

static struct ot_err *make_engine(struct vp_peek *peek)
{
	const struct vp_engine_config config = {
		.ops = &peek_ops,
		.backend = peek,
		.guest_name = peek->name,
		.guest_id = (uint32_t)peek->pid,
		.ram = peek->memory.ram,
		.nram = peek->memory.nram,
		.ram_fds = &peek->memory.ram_fd,
		.nram_fds = peek->memory.ram_fd >= 0,
	};
	struct vp_engine *engine = NULL;

	OT_TRY(vp_engine_create(&config, &engine));
	atomic_store(&peek->engine, engine);
	OT_TRY(listen_anywhere(peek));
	return vp_engine_serve_fd(engine, peek->listening);
}

/* In this order: no word in the VMM changes before the undoing process runs. */
static struct ot_err *open_peek(struct vp_peek *peek)
{
	OT_TRY(vp_peek_find(peek));
	OT_TRY(check_unused(peek));
	OT_TRY(vp_peek_undo_start(peek));
	OT_TRY(vp_peek_sampler_start(peek));
	OT_TRY(find_ram(peek));
	return make_engine(peek);
}

struct ot_err *vp_peek_open(pid_t pid, int claim_fd, struct vp_peek **ret)
{
	struct vp_peek *peek = calloc(1, sizeof(*peek));

	if (!peek) {
		close(claim_fd);
		return ot_err_nomem();
	}
	peek->pid = pid;
	peek->claim_fd = claim_fd;
	peek->pidfd = peek->undo_fd = peek->memory.ram_fd = peek->sampler.wake_fd = peek->listening = -1;
	struct ot_err *err = open_peek(peek);
	if (err) {
		vp_peek_close(peek);
		return err;
	}
	*ret = peek;
	return NULL;
}

static void close_fds(struct vp_peek *peek)
{
	int *const fds[] = { &peek->pidfd, &peek->claim_fd, &peek->memory.ram_fd, &peek->sampler.wake_fd,
			     &peek->listening };

	for (size_t i = 0; i < OT_ARRAY_SIZE(fds); i++)
		ot_cleanup_close(fds[i]);
}

/* The thread that fires ends before the engine; then the undoing process, which undoes the rest. */
void vp_peek_close(struct vp_peek *peek)
{
	if (!peek)
		return;
	vp_peek_sampler_stop(peek);
	vp_engine_destroy(atomic_load(&peek->engine));
	vp_peek_undo_end(peek);
	for (uint32_t i = 0; i < peek->nvcpus; i++) {
		munmap(peek->vcpus[i].run, PAGE);
		ot_cleanup_close(&peek->vcpus[i].stats_fd);
	}
	close_fds(peek);
	free(peek->vcpus);
	free(peek->threads);
	free(peek);
}

/* --- accessors ------------------------------------------------------------------------------------------ */

const char *vp_peek_socket(const struct vp_peek *peek)
{
	return peek->address;
}

enum vp_peek_seen vp_peek_seen(const struct vp_peek *peek)
{
	return peek->memory.seen;
}

uint64_t vp_peek_ram_bytes(const struct vp_peek *peek)
{
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < peek->memory.nram; i++)
		bytes += peek->memory.ram[i].size;
	return bytes;
}

void vp_peek_count(const struct vp_peek *peek, struct vp_peek_counts *ret)
{
	ret->kicks = atomic_load(&peek->sampler.kicks);
	ret->answers = atomic_load(&peek->sampler.answers);
	ret->dropped = atomic_load(&peek->sampler.dropped);
}
