/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "vmm-probe/backend/none/none.h"

#include <string.h>
#include <unistd.h>

#include "dif/obj/names.h"
#include "vmm-probe/guest/guest.h"

static uint64_t none_reg(void *backend, void *ctx, enum vp_reg reg)
{
	(void)backend;
	(void)ctx;
	(void)reg;
	return 0;
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
		return ot_err_new(OT_ERR_UNSUPPORTED, "there is no guest to watch");
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

static bool none_load(void *backend, uint64_t gva, void *dst, uint32_t len, bool user)
{
	struct vp_guest *guest = backend;

	if (!guest || user)
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

static const struct vp_backend_ops none_ops = {
	.name = "none",
	.reg = none_reg,
	.gpa_to_host = none_gpa_to_host,
	.install = none_install,
	.snapshot = none_snapshot,
	.nvcpus = none_nvcpus,
	.load = none_load,
	.scalar = none_scalar,
	.string = none_string,
};

struct ot_err *vp_none_engine_create(struct vp_guest *guest, struct vp_engine **ret)
{
	struct vp_engine_config config = {
		.ops = &none_ops,
		.backend = guest,
		.guest_name = "none",
		.host = true,
	};

	return vp_engine_create(&config, ret);
}
