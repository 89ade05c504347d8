/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The VM's lifetime: creating it, running its vCPUs, ending it. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "vmm-probe/monitor/internal.h"

#define KVM_API       12
#define MIN_MEM       (16ull << 20)
#define RUNNING       (-1)
/* Pages that KVM needs on Intel CPUs without unrestricted guests, outside RAM (KVM_SET_TSS_ADDR, api.rst). */
#define TSS_ADDR      0xfffbd000ul
#define IDENTITY_ADDR 0xfffbc000ull

int vp_mon_kick_signal(void)
{
	return SIGRTMIN + 3;
}

static void on_kick(int sig)
{
	(void)sig; /* its only purpose is that KVM_RUN returns EINTR */
}

static struct ot_err *open_kvm(struct vp_mon *mon)
{
	mon->kvm = open("/dev/kvm", O_RDWR | O_CLOEXEC);
	if (mon->kvm < 0)
		return ot_err_new(errno == EACCES || errno == EPERM ? OT_ERR_PERMISSION : OT_ERR_NOT_FOUND,
				  "/dev/kvm: %s (`outsight doctor` suggests what to do)", strerror(errno));
	if (ioctl(mon->kvm, KVM_GET_API_VERSION, 0) != KVM_API)
		return ot_err_new(OT_ERR_UNSUPPORTED, "/dev/kvm is not KVM's API version %d", KVM_API);
	int max = ioctl(mon->kvm, KVM_CHECK_EXTENSION, KVM_CAP_MAX_VCPUS);
	if (max > 0 && mon->config.nvcpus > (uint32_t)max)
		return ot_err_new(OT_ERR_LIMIT, "%u vCPUs, but this KVM supports %d", mon->config.nvcpus,
				  max);
	int size = ioctl(mon->kvm, KVM_GET_VCPU_MMAP_SIZE, 0);
	if (size < (int)sizeof(struct kvm_run))
		return ot_err_os(errno, "KVM_GET_VCPU_MMAP_SIZE");
	mon->run_size = (size_t)size;
	return NULL;
}

static struct ot_err *create_vm(struct vp_mon *mon)
{
	struct kvm_pit_config pit = { .flags = KVM_PIT_SPEAKER_DUMMY };
	__u64 identity = IDENTITY_ADDR;

	mon->vm = ioctl(mon->kvm, KVM_CREATE_VM, 0);
	if (mon->vm < 0)
		return ot_err_os(errno, "KVM_CREATE_VM");
	if (ioctl(mon->vm, KVM_SET_TSS_ADDR, TSS_ADDR) ||
	    ioctl(mon->vm, KVM_SET_IDENTITY_MAP_ADDR, &identity))
		return ot_err_os(errno, "KVM_SET_TSS_ADDR");
	if (ioctl(mon->vm, KVM_CREATE_IRQCHIP, 0) || ioctl(mon->vm, KVM_CREATE_PIT2, &pit))
		return ot_err_os(errno, "KVM_CREATE_IRQCHIP");
	return NULL;
}

static struct ot_err *check_config(const struct vp_mon_config *c)
{
	if (!c->nvcpus || c->nvcpus > VP_MON_MAX_VCPUS)
		return ot_err_new(OT_ERR_LIMIT, "%u vCPUs: 1 to %u are possible", c->nvcpus,
				  VP_MON_MAX_VCPUS);
	if (c->mem_bytes < MIN_MEM || c->mem_bytes & 0xfff)
		return ot_err_new(OT_ERR_LIMIT, "%llu bytes of memory: at least %llu MiB, in whole pages",
				  (unsigned long long)c->mem_bytes, MIN_MEM >> 20);
	return NULL;
}

static struct ot_err *set_up(struct vp_mon *mon)
{
	OT_TRY(check_config(&mon->config));
	OT_TRY(open_kvm(mon));
	OT_TRY(create_vm(mon));
	OT_TRY(vp_mon_memory_init(mon));
	OT_TRY(vp_mon_load_kernel(mon));
	OT_TRY(vp_mon_boot_tables(mon));
	for (uint32_t i = 0; i < mon->config.nvcpus; i++)
		OT_TRY(vp_mon_cpu_create(mon, i));
	OT_TRY(vp_mon_boot_vcpu(mon));
	return vp_mon_serial_init(&mon->serial, mon->vm, mon->config.console_out, mon->config.console_in);
}

struct ot_err *vp_mon_create(const struct vp_mon_config *config, struct vp_mon **ret)
{
	struct vp_mon *mon = calloc(1, sizeof(*mon));

	if (!mon)
		return ot_err_nomem();
	mon->config = *config;
	mon->kvm = mon->vm = mon->ram_fd = mon->serial.console.wake = -1;
	mon->end = RUNNING;
	for (uint32_t i = 0; i < VP_MON_MAX_VCPUS; i++) {
		mon->vcpus[i].fd = -1;
		mon->threads[i] = (struct vp_mon_thread){ .mon = mon, .index = i };
	}
	struct ot_err *err = set_up(mon);
	if (err) {
		vp_mon_destroy(mon);
		return err;
	}
	*ret = mon;
	return NULL;
}

void vp_mon_destroy(struct vp_mon *mon)
{
	if (!mon)
		return;
	vp_mon_serial_deinit(&mon->serial);
	for (uint32_t i = 0; i < mon->config.nvcpus && i < VP_MON_MAX_VCPUS; i++)
		vp_mon_cpu_destroy(mon, i);
	vp_mon_memory_deinit(mon);
	ot_cleanup_close(&mon->vm);
	ot_cleanup_close(&mon->ram_fd);
	ot_cleanup_close(&mon->kvm);
	free(mon);
}

/* --- running ------------------------------------------------------------------------------ */

void vp_mon_kick(struct vp_mon *mon, uint32_t vcpu)
{
	int tid = __atomic_load_n(&mon->vcpus[vcpu].tid, __ATOMIC_ACQUIRE);

	/* Set before the signal, so that a signal just before KVM_RUN is not lost. */
	__atomic_store_n(&mon->vcpus[vcpu].run->immediate_exit, 1, __ATOMIC_RELEASE);
	if (tid)
		syscall(SYS_tgkill, getpid(), tid, vp_mon_kick_signal());
}

void vp_mon_end(struct vp_mon *mon, enum vp_mon_end how)
{
	int running = RUNNING;

	if (!atomic_compare_exchange_strong(&mon->end, &running, (int)how))
		return;
	for (uint32_t i = 0; i < mon->config.nvcpus; i++)
		vp_mon_kick(mon, i);
}

void vp_mon_stop(struct vp_mon *mon)
{
	vp_mon_end(mon, VP_MON_STOPPED);
}

static struct ot_err *run_once(struct vp_mon *mon, uint32_t index)
{
	const struct vp_mon_hooks *hooks = &mon->config.hooks;
	struct vp_mon_vcpu *v = &mon->vcpus[index];

	if (hooks->before)
		hooks->before(hooks->arg, index);
	int err = ioctl(v->fd, KVM_RUN, 0) ? errno : 0;
	/* The reason of the kick is handled by the hook, or is in mon->end. */
	__atomic_store_n(&v->run->immediate_exit, 0, __ATOMIC_RELAXED);
	if (hooks->after && hooks->after(hooks->arg, index, err))
		return NULL;
	if (err == EINTR || err == EAGAIN)
		return NULL;
	if (err)
		return ot_err_os(err, "KVM_RUN of vCPU %u", index);
	return vp_mon_handle_exit(mon, index);
}

static void *run_vcpu(void *arg)
{
	struct vp_mon_thread *t = arg;
	struct vp_mon *mon = t->mon;
	const struct vp_mon_hooks *hooks = &mon->config.hooks;

	__atomic_store_n(&mon->vcpus[t->index].tid, (int)syscall(SYS_gettid), __ATOMIC_RELEASE);
	while (atomic_load(&mon->end) == RUNNING && !t->err)
		t->err = run_once(mon, t->index);
	if (hooks->leave)
		hooks->leave(hooks->arg, t->index);
	if (t->err)
		vp_mon_end(mon, VP_MON_FAILED);
	/* The kernel may reuse the TID after this thread's end. */
	__atomic_store_n(&mon->vcpus[t->index].tid, 0, __ATOMIC_RELEASE);
	return NULL;
}

static struct ot_err *start_threads(struct vp_mon *mon)
{
	struct sigaction sa = { .sa_handler = on_kick };
	sigset_t all, old;
	int rc = 0;

	if (sigaction(vp_mon_kick_signal(), &sa, NULL))
		return ot_err_os(errno, "sigaction");
	/* All signals but the kick are left to the program's other threads. */
	sigfillset(&all);
	sigdelset(&all, vp_mon_kick_signal());
	pthread_sigmask(SIG_SETMASK, &all, &old);
	for (uint32_t i = 0; i < mon->config.nvcpus && !rc; i++) {
		rc = pthread_create(&mon->threads[i].thread, NULL, run_vcpu, &mon->threads[i]);
		mon->threads[i].started = !rc;
	}
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc ? ot_err_os(rc, "a vCPU's thread") : NULL;
}

/* Returns the first error; later ones are consequences of it, and discarded. */
static struct ot_err *join_threads(struct vp_mon *mon, struct ot_err *err)
{
	for (uint32_t i = 0; i < mon->config.nvcpus; i++) {
		struct vp_mon_thread *t = &mon->threads[i];
		if (!t->started)
			continue;
		pthread_join(t->thread, NULL);
		t->started = false;
		if (err)
			ot_err_destroy(t->err);
		else
			err = t->err;
		t->err = NULL;
	}
	return err;
}

struct ot_err *vp_mon_run(struct vp_mon *mon, enum vp_mon_end *ret_end)
{
	struct ot_err *err = start_threads(mon);

	if (err)
		vp_mon_end(mon, VP_MON_FAILED);
	err = join_threads(mon, err);
	*ret_end = (enum vp_mon_end)atomic_load(&mon->end);
	return err;
}

/* --- getters ------------------------------------------------------------------------------ */

bool vp_mon_is_bzimage(const struct vp_mon *mon)
{
	return mon->is_bzimage;
}

int vp_mon_vm_fd(const struct vp_mon *mon)
{
	return mon->vm;
}

const struct vp_mon_vcpu *vp_mon_vcpu(const struct vp_mon *mon, uint32_t vcpu)
{
	return &mon->vcpus[vcpu];
}

int vp_mon_ram_fd(const struct vp_mon *mon)
{
	return mon->ram_fd;
}

const struct vp_mon_ram *vp_mon_ram(const struct vp_mon *mon, uint32_t *ret_count)
{
	*ret_count = mon->nram;
	return mon->ram;
}

uint64_t vp_mon_spare_gpa(const struct vp_mon *mon)
{
	const struct vp_mon_ram *last = &mon->ram[mon->nram - 1];
	uint64_t end = last->gpa + last->size, gib = 1ull << 30;

	return end < VP_MON_HIGH ? VP_MON_HIGH : (end + gib - 1) & ~(gib - 1);
}
