/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counters of the vCPUs' threads, for the cpc provider. Each is a perf event on a vCPU's thread. The host's
 * kernel sends that thread a signal at an overflow, the kick's, which makes KVM_RUN return, and writes a
 * record into a ring that is mapped here: so a vCPU sees by loads alone that it has overflowed, and how
 * often. The overflow's interrupt has brought the vCPU out of the guest, and with a signal pending KVM does
 * not enter it again: the sample is of the instruction at which the CPU reported the overflow.
 *
 * A counter stays when another plan has it too, so that no session disturbs another's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "vmm-probe/backend/kvm/internal.h"
#include "vmm-probe/backend/kvm/perf.h"

#define PAGE 4096u /* of records; the kernel's own are 8 bytes and more */

struct ring {
	int fd; /* -1: not open */
	struct perf_event_mmap_page *page;
	uint64_t tail; /* all before it was taken */
};

struct vp_kvm_meter {
	struct vp_cpc_event event;
	uint32_t refs; /* of plans: the service thread's */
	uint32_t n;
	struct ring rings[];
};

/* --- opening: service thread -------------------------------------------------------------------------- */

static void close_meter(struct vp_kvm_meter *m)
{
	if (--m->refs)
		return;
	for (uint32_t i = 0; i < m->n; i++) {
		struct ring *r = &m->rings[i];
		if (r->page)
			munmap(r->page, 2 * (size_t)PAGE);
		if (r->fd >= 0) {
			ioctl(r->fd, PERF_EVENT_IOC_DISABLE, 0);
			close(r->fd);
		}
	}
	free(m);
}

/* Overflows become the kick's signal, to this thread and no other. */
static struct ot_err *direct_signal(int fd, pid_t tid, int sig)
{
	const struct f_owner_ex owner = { F_OWNER_TID, tid };

	if (fcntl(fd, F_SETSIG, sig) || fcntl(fd, F_SETOWN_EX, &owner) ||
	    fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK))
		return ot_err_os(errno, "a counter's signal");
	return NULL;
}

static struct ot_err *open_ring(const struct vp_kvm *kvm, uint32_t vcpu, const struct vp_cpc_event *event,
				struct ring *r)
{
	const struct vp_kvm_config *c = &kvm->config;
	pid_t tid = c->thread ? c->thread(c->arg, vcpu) : 0;

	if (!tid)
		return ot_err_new(OT_ERR_BUSY, "vCPU %u has not run yet", vcpu);
	OT_TRY(vp_kvm_perf_open(event, tid, &r->fd));
	void *page = mmap(NULL, 2 * (size_t)PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (page == MAP_FAILED)
		return ot_err_os(errno,
				 "a counter's ring (sysctl kernel.perf_event_mlock_kb limits their size)");
	r->page = page;
	return direct_signal(r->fd, tid, c->kick_signal);
}

static struct ot_err *open_meter(const struct vp_kvm *kvm, const struct vp_cpc_event *event,
				 struct vp_kvm_meter **ret)
{
	uint32_t n = kvm->config.nvcpus;
	struct vp_kvm_meter *m = calloc(1, sizeof(*m) + n * sizeof(m->rings[0]));
	struct ot_err *err = NULL;

	if (!m)
		return ot_err_nomem();
	m->event = *event;
	m->refs = 1;
	m->n = n;
	for (uint32_t i = 0; i < n; i++)
		m->rings[i].fd = -1;
	for (uint32_t i = 0; i < n && !err; i++)
		err = open_ring(kvm, i, event, &m->rings[i]);
	if (err) {
		close_meter(m);
		return err;
	}
	*ret = m;
	return NULL;
}

static struct vp_kvm_meter *find(const struct vp_kvm_traps *traps, const struct vp_cpc_event *event)
{
	for (uint32_t i = 0; traps && i < traps->nmeters; i++)
		if (vp_cpc_is_same(&traps->meters[i]->event, event))
			return traps->meters[i];
	return NULL;
}

struct ot_err *vp_kvm_meters_open(const struct vp_kvm *kvm, struct vp_kvm_traps *traps)
{
	const struct vp_kvm_traps *now = atomic_load(&kvm->traps);

	for (uint32_t i = 0; i < traps->plan->ncpcs; i++) {
		const struct vp_cpc_event *event = &traps->plan->cpcs[i].event;
		struct vp_kvm_meter *m = find(now, event);
		if (m)
			m->refs++;
		else
			OT_TRY(open_meter(kvm, event, &m));
		traps->meters[traps->nmeters++] = m;
	}
	return NULL;
}

void vp_kvm_meters_close(struct vp_kvm_traps *traps)
{
	for (uint32_t i = 0; i < traps->nmeters; i++)
		close_meter(traps->meters[i]);
}

void vp_kvm_meters_start(const struct vp_kvm_traps *traps)
{
	for (uint32_t i = 0; i < traps->nmeters; i++)
		for (uint32_t k = 0; k < traps->meters[i]->n; k++)
			ioctl(traps->meters[i]->rings[k].fd, PERF_EVENT_IOC_ENABLE, 0);
}

struct ot_err *vp_kvm_cpc_test(void *backend, const struct vp_cpc_event *event)
{
	(void)backend;
	return vp_kvm_perf_try(event);
}

/* --- overflows: the vCPU's thread. Hit path ------------------------------------------------------------ */

static const uint64_t *word_at(const struct ring *r, uint64_t at)
{
	return (const uint64_t *)(const void *)((const char *)r->page + PAGE + at % PAGE);
}

/* How many overflows the ring has reported since the last call, those that it had no room for included.
 * The kernel aligns records to 8 bytes. */
static uint64_t take(struct ring *r)
{
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE), n = 0;

	if (ot_likely(head == r->tail))
		return 0;
	while (r->tail < head) {
		const struct perf_event_header *h = (const void *)word_at(r, r->tail);
		if (h->type == PERF_RECORD_SAMPLE)
			n++;
		else if (h->type == PERF_RECORD_LOST)
			n += *word_at(r, r->tail + sizeof(*h) + sizeof(uint64_t));
		r->tail += h->size ? h->size : head - r->tail;
	}
	__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
	return n;
}

bool vp_kvm_meters_take(struct vp_kvm *kvm, uint32_t vcpu)
{
	const struct vp_kvm_traps *traps = atomic_load_explicit(&kvm->traps, memory_order_acquire);
	bool any = false;

	for (uint32_t i = 0; traps && i < traps->nmeters; i++) {
		uint64_t n = take(&traps->meters[i]->rings[vcpu]);
		if (ot_likely(!n))
			continue;
		any = true;
		vp_engine_overflow(kvm->engine, vcpu, &traps->plan->cpcs[i], n - 1, &kvm->vcpus[vcpu]);
	}
	return any;
}
