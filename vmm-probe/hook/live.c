/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Entering a running VMM: discover the state that LD_PRELOAD would have observed, redirect ioctl(), and get
 * every vCPU's thread out of the KVM_RUN that it called before the redirection.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "base/proc_map.h"
#include "vmm-probe/hook/internal.h"
#include "vmm-probe/machines/qemu_machine.h"

#define VMM_KICK    SIGUSR1 /* QEMU's SIG_IPI; unblocked in its vCPU threads only */
#define ANSWER_MS   2000
#define AGAIN_NS    500000l
#define CMDLINE_MAX (4u << 20)

/* --- descriptors ------------------------------------------------------------------------------------- */

static struct ot_err *on_machine(int fd, const char *is)
{
	if (!strcmp(is, "/dev/kvm"))
		vp_hook.kvm = fd;
	if (!strncmp(is, "/dev/sev", 8))
		vp_hook.confidential = true;
	if (strcmp(is, "anon_inode:kvm-vm") != 0)
		return NULL;
	if (vp_hook.vm >= 0)
		return ot_err_new(OT_ERR_UNSUPPORTED, "this VMM has more than one VM");
	vp_hook.vm = fd;
	return NULL;
}

static struct ot_err *on_vcpu(int fd, const char *is)
{
	static const char kind[] = "anon_inode:kvm-vcpu:";
	const char *p = is + strlen(kind);
	uint64_t id;

	if (strncmp(is, kind, strlen(kind)) != 0 || !ot_take_number(&p, 10, '\0', &id) || id > UINT32_MAX ||
	    vp_hook_add_vcpu(fd, (uint32_t)id))
		return NULL;
	return ot_err_new(OT_ERR_LIMIT, "vCPU %u, descriptor %d, can't be mapped", (unsigned)id, fd);
}

static struct ot_err *each_descriptor(struct ot_err *(*act)(int fd, const char *is))
{
	ot_auto_dir DIR *dir = opendir("/proc/self/fd");
	const struct dirent *e;
	char path[300], is[64];

	if (!dir)
		return ot_err_os(errno, "/proc/self/fd");
	while ((e = readdir(dir))) {
		if (*e->d_name == '.')
			continue;
		snprintf(path, sizeof(path), "/proc/self/fd/%s", e->d_name);
		ssize_t len = readlink(path, is, sizeof(is) - 1);
		is[len > 0 ? len : 0] = '\0';
		OT_TRY(act((int)strtol(e->d_name, NULL, 10), is));
	}
	return NULL;
}

/* /dev/kvm first: it reports the size of kvm_run, with which vCPUs are mapped. */
static struct ot_err *find_descriptors(void)
{
	OT_TRY(each_descriptor(on_machine));
	return each_descriptor(on_vcpu);
}

/* Memory encryption is visible only in QEMU's options. */
static bool is_confidential(void)
{
	struct vp_qemu_machine machine;

	vp_qemu_machine_read(&machine);
	return machine.confidential;
}

/* Reset the state from an earlier attach: nothing was observed while dormant. */
static void forget(struct vp_hook_vcpu *v)
{
	atomic_store(&v->seen, 0);
	atomic_store(&v->state, 0);
	pthread_mutex_lock(&v->debug);
	memset(&v->theirs, 0, sizeof(v->theirs));
	atomic_store(&v->vmm_debugs, 0);
	pthread_mutex_unlock(&v->debug);
}

static struct ot_err *discover(void)
{
	pthread_mutex_lock(&vp_hook.lock);
	vp_hook.kvm = vp_hook.vm = -1;
	struct ot_err *err = find_descriptors();
	vp_hook.confidential |= is_confidential();
	if (!err && (vp_hook.kvm < 0 || vp_hook.vm < 0 || !vp_hook.nvcpus))
		err = ot_err_new(OT_ERR_UNSUPPORTED, "this VMM runs no guest with KVM");
	for (uint32_t i = 0; i < vp_hook.nvcpus; i++)
		forget(vp_hook.vcpus[i]);
	pthread_mutex_unlock(&vp_hook.lock);
	return err;
}

/* --- vCPUs without threads ---------------------------------------------------------------------------- */

/* QEMU keeps the descriptor of an unplugged vCPU for the next vCPU of that number (kvm_park_vcpu()); the old
 * thread has unmapped its kvm_run and ended. QEMU maps kvm_run again before it runs the vCPU again, so a vCPU
 * whose kvm_run only we have mapped does not run. */
struct mapped {
	uint32_t nvcpus, nmapped;
	bool is[VP_HOOK_VCPUS_MAX];
};

static void note_mapping(char *line, struct mapped *ret)
{
	static const char kind[] = "anon_inode:kvm-vcpu:";
	struct ot_proc_map m;
	uint64_t id;

	if (!ot_proc_map_parse(line, &m) || strncmp(m.path, kind, strlen(kind)) != 0)
		return;
	const char *p = m.path + strlen(kind);
	if (!ot_take_number(&p, 10, '\0', &id))
		return;
	for (uint32_t i = 0; i < ret->nvcpus; i++) {
		const struct vp_hook_vcpu *v = vp_hook.vcpus[i];
		if (v->id != id || (uint64_t)(uintptr_t)v->run == m.start || ret->is[i])
			continue;
		ret->is[i] = true;
		ret->nmapped++;
	}
}

/* Which vCPUs has the VMM itself mapped? */
static struct ot_err *find_mapped(struct mapped *ret)
{
	ot_auto_file FILE *maps = fopen("/proc/self/maps", "re");
	char line[512];

	if (!maps)
		return ot_err_os(errno, "/proc/self/maps");
	pthread_mutex_lock(&vp_hook.lock);
	*ret = (struct mapped){ .nvcpus = vp_hook.nvcpus };
	while (fgets(line, sizeof(line), maps))
		note_mapping(line, ret);
	pthread_mutex_unlock(&vp_hook.lock);
	return NULL;
}

/* By now every call is redirected. A vCPU that was mapped since may have run before that. */
static struct ot_err *check_mapped(const struct mapped *before)
{
	struct mapped now;

	OT_TRY(find_mapped(&now));
	if (now.nvcpus == before->nvcpus && !memcmp(now.is, before->is, sizeof(now.is)))
		return NULL;
	return ot_err_new(OT_ERR_BUSY, "a vCPU is being plugged or unplugged");
}

/* --- threads ----------------------------------------------------------------------------------------- */

struct threads {
	int tids[VP_HOOK_VCPUS_MAX];
	unsigned n;
};

/* Is it a thread that the VMM may kick? */
static bool is_vcpu_thread(const char *tid)
{
	ot_auto_free char *text = NULL;
	char path[300];
	size_t len;

	snprintf(path, sizeof(path), "/proc/self/task/%s/status", tid);
	ot_auto_err struct ot_err *err = ot_read_file(path, CMDLINE_MAX, &text, &len);
	const char *blocked = err ? NULL : strstr(text, "\nSigBlk:");
	return blocked && !(strtoull(blocked + 8, NULL, 16) & 1ull << (VMM_KICK - 1));
}

/* Fails unless there is at least one thread for each of @nvcpus. */
static struct ot_err *find_threads(uint32_t nvcpus, struct threads *ret)
{
	ot_auto_dir DIR *dir = opendir("/proc/self/task");
	const struct dirent *e;
	struct sigaction sa;

	ret->n = 0;
	while (dir && (e = readdir(dir)))
		if (*e->d_name != '.' && ret->n < VP_HOOK_VCPUS_MAX && is_vcpu_thread(e->d_name))
			ret->tids[ret->n++] = (int)strtol(e->d_name, NULL, 10);
	if (ret->n < nvcpus || sigaction(VMM_KICK, NULL, &sa) || sa.sa_handler == SIG_DFL ||
	    sa.sa_handler == SIG_IGN)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "the threads of %u vCPUs can't be identified among this VMM's", nvcpus);
	return NULL;
}

/* /proc/PID/task/TID/syscall: "NUMBER ARGUMENT ARGUMENT …", or "running", when the call is unknown. */
static bool is_in_another_call(const char *text)
{
	char *end;
	long nr = strtol(text, &end, 10);
	const char *request = *end == ' ' ? strchr(end + 1, ' ') : NULL;

	return request && (nr != SYS_ioctl || (unsigned)strtoul(request, NULL, 16) != KVM_RUN);
}

/* Has the thread passed through the hook? Or is it in a system call other than KVM_RUN, so that its next
 * KVM_RUN will? */
static bool answers(int tid)
{
	ot_auto_free char *text = NULL;
	char path[64];
	size_t len;

	for (uint32_t i = 0; i < vp_hook.nvcpus; i++) {
		struct vp_hook_vcpu *v = vp_hook.vcpus[i];
		if (atomic_load(&v->tid) == tid &&
		    (atomic_load(&v->seen) || atomic_load(&v->where) != VP_HOOK_OUT))
			return true;
	}
	snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
	ot_auto_err struct ot_err *err = ot_read_file(path, CMDLINE_MAX, &text, &len);
	if (err)
		return ot_err_errno(err) == ENOENT || ot_err_errno(err) == ESRCH; /* the thread has ended */
	return is_in_another_call(text);
}

/* Kick the threads until all have passed; those that have are removed from the list. */
static struct ot_err *kick_all(struct threads *t)
{
	const struct timespec again = { .tv_nsec = AGAIN_NS };

	for (unsigned round = 0; t->n && round < ANSWER_MS * 1000000l / AGAIN_NS; round++) {
		for (unsigned i = t->n; i-- > 0;) {
			if (answers(t->tids[i]))
				t->tids[i] = t->tids[--t->n];
			else
				syscall(SYS_tgkill, getpid(), t->tids[i], VMM_KICK);
		}
		if (t->n)
			nanosleep(&again, NULL);
	}
	return t->n ? ot_err_new(OT_ERR_BUSY, "the vCPU thread %d does not respond", t->tids[0]) : NULL;
}

/* --- entering and leaving ---------------------------------------------------------------------------- */

struct ot_err *vp_hook_go_live(void)
{
	struct threads threads;
	struct mapped mapped;

	if (!vp_hook_is_qemu())
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "this VMM is not QEMU, or a QEMU without modules: its memory layout "
				  "can't be queried");
	OT_TRY(discover());
	OT_TRY(find_mapped(&mapped));
	OT_TRY(find_threads(mapped.nmapped, &threads));
	vp_hook.live = true;
	OT_TRY(vp_hook_redirect((void *)vp_hook_ioctl));
	struct ot_err *err = check_mapped(&mapped);
	if (!err)
		err = kick_all(&threads);
	if (!err)
		err = vp_hook_ask_slots(true);
	if (err)
		vp_hook_redirect_back();
	return err;
}

void vp_hook_go_back(void)
{
	if (vp_hook.live)
		vp_hook_redirect_back();
}
