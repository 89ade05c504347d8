/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A gdb stub as a source: "gdb:HOST:PORT", "gdb:/PATH". */
#include "vmm-probe/backend/source.h"
#include "vmm-probe/backend/gdb/gdb.h"

static struct ot_err *open_stub(const struct vp_source_env *env, const char *where, struct vp_source *ret)
{
	struct vp_gdb *gdb;

	env->progress(env->arg, "connecting to the gdb stub");
	OT_TRY(vp_gdb_open(where, &gdb));
	ret->handle = gdb;
	ret->client = vp_gdb_socket(gdb);
	ret->phys = vp_gdb_phys(gdb);
	return NULL;
}

static void close_stub(void *handle)
{
	vp_gdb_close(handle);
}

static void cost(const void *handle, const char *name, struct ot_buf *out)
{
	uint64_t request_ns, hit_ns;

	vp_gdb_cost(handle, &request_ns, &hit_ns);
	ot_buf_printf(out,
		      "guest %s is traced through its gdb stub: each hit stops the whole guest, for about "
		      "%.1f ms here (a request takes %llu us)",
		      name, (double)hit_ns / 1e6, (unsigned long long)(request_ns / 1000));
}

const struct vp_source_ops vp_gdb_source = {
	.prefix = "gdb:",
	.reading = "reading the guest through its gdb stub",
	.patient = true,
	.open = open_stub,
	.close = close_stub,
	.cost = cost,
};
