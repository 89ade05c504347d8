/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host engine's backend: BEGIN, END and tick in the operator's process, without a guest's vCPUs. */
#include "vmm-probe/backend/none/none.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include "dif/obj/names.h"
#include "vmm-probe/engine/backend.h"
#include "vmm-probe/guest/guest.h"

#define ANCESTORS_MAX 4096

/* This process's registers, in this function. */
static uint64_t none_reg(void *backend, void *ctx, enum vp_reg reg)
{
	static const int8_t names[VP_NREGS] = {
		[VP_RAX] = REG_RAX, [VP_RCX] = REG_RCX,   [VP_RDX] = REG_RDX,    [VP_RBX] = REG_RBX,
		[VP_RSP] = REG_RSP, [VP_RBP] = REG_RBP,   [VP_RSI] = REG_RSI,    [VP_RDI] = REG_RDI,
		[VP_R8] = REG_R8,   [VP_R9] = REG_R9,     [VP_R10] = REG_R10,    [VP_R11] = REG_R11,
		[VP_R12] = REG_R12, [VP_R13] = REG_R13,   [VP_R14] = REG_R14,    [VP_R15] = REG_R15,
		[VP_RIP] = REG_RIP, [VP_CS] = REG_CSGSFS, [VP_RFLAGS] = REG_EFL,
	};
	ucontext_t here;

	(void)backend;
	(void)ctx;
	if (reg > VP_CS || getcontext(&here))
		return 0;
	uint64_t value = (uint64_t)here.uc_mcontext.gregs[names[reg]];
	return reg == VP_CS ? value & 0xffff : value;
}

static void *none_gpa_to_host(void *backend, uint64_t gpa, uint64_t *ret_len)
{
	(void)backend;
	(void)gpa;
	(void)ret_len;
	return NULL;
}

static struct ot_err *none_install(void *backend, const struct vp_plan *plan)
{
	(void)backend;
	if (plan && plan->nsites)
		return ot_err_new(OT_ERR_UNSUPPORTED, "there is no guest to trace");
	return NULL;
}

static uint32_t none_snapshot(void *backend, struct vp_regs *regs, uint32_t max)
{
	(void)backend;
	(void)regs;
	(void)max;
	return 0;
}

static uint32_t none_nvcpus(void *backend)
{
	(void)backend;
	return 1;
}

/* BEGIN runs in this process, so its user memory is this process's, as in dtrace(1). The kernel checks the
 * address for us. */
static bool load_own(uint64_t addr, void *dst, uint32_t len)
{
	struct iovec to = { dst, len }, from = { (void *)(uintptr_t)addr, len };

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == (ssize_t)len;
}

static bool none_load(void *backend, uint64_t gva, void *dst, uint32_t len, bool user)
{
	struct vp_guest *guest = backend;

	if (!guest)
		return user && load_own(gva, dst, len);
	if (user)
		return false;
	struct ot_err *err = vp_guest_read(guest, (struct vp_gva){ gva }, dst, len);
	ot_err_destroy(err);
	return err == NULL;
}

static bool none_scalar(void *backend, uint32_t var, uint64_t *ret)
{
	(void)backend;
	switch (var) {
	case DIF_VAR_pid:
		*ret = (uint64_t)getpid();
		return true;
	case DIF_VAR_tid:
		*ret = (uint64_t)gettid();
		return true;
	case DIF_VAR_ppid:
		*ret = (uint64_t)getppid();
		return true;
	case DIF_VAR_uid:
		*ret = getuid();
		return true;
	case DIF_VAR_gid:
		*ret = getgid();
		return true;
	default:
		return false;
	}
}

static int none_string(void *backend, uint32_t var, char *dst, uint32_t cap)
{
	static const char execname[] = "dtrace";

	(void)backend;
	if (var != DIF_VAR_execname || cap < sizeof(execname))
		return -1;
	memcpy(dst, execname, sizeof(execname));
	return (int)sizeof(execname) - 1;
}

/* The parent of a process of this host; 0: none, or it has ended. */
static uint64_t parent_of(uint64_t pid)
{
	char path[64], stat[512];
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%llu/stat", (unsigned long long)pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, stat, sizeof(stat) - 1);
	close(fd);
	stat[n > 0 ? n : 0] = '\0';
	/* "PID (NAME) STATE PARENT …"; the name may contain anything */
	const char *behind_name = strrchr(stat, ')');
	return behind_name && strlen(behind_name) > 4 ? strtoull(behind_name + 4, NULL, 10) : 0;
}

static bool none_progenyof(void *backend, uint64_t pid)
{
	uint64_t id = (uint64_t)getpid();

	(void)backend;
	for (unsigned i = 0; id && i < ANCESTORS_MAX; i++, id = parent_of(id))
		if (id == pid)
			return true;
	return false;
}

static void none_raise(void *backend, int signal)
{
	(void)backend;
	kill(getpid(), signal);
}

#define NONE_HOST .scalar = none_scalar, .string = none_string, .progenyof = none_progenyof
#define NONE_OPS                                                                                   \
	.name = "none", .reg = none_reg, .gpa_to_host = none_gpa_to_host, .install = none_install, \
	.snapshot = none_snapshot, .nvcpus = none_nvcpus, .load = none_load

/* With a guest, raise() would signal the wrong process. */
static const struct vp_backend_host beside_guest_host = { NONE_HOST };
static const struct vp_backend_host none_host = { NONE_HOST, .raise = none_raise };
static const struct vp_backend_ops beside_guest_ops = { NONE_OPS, .host = &beside_guest_host };
static const struct vp_backend_ops none_ops = { NONE_OPS, .host = &none_host };

struct ot_err *vp_none_engine_create(struct vp_guest *guest, struct vp_engine **ret)
{
	struct vp_engine_config config = {
		.ops = guest ? &beside_guest_ops : &none_ops,
		.backend = guest,
		.guest_name = "none",
	};

	return vp_engine_create(&config, ret);
}
