/* SPDX-License-Identifier: GPL-2.0-or-later */
/* External sampling as a source: "peek:NAME", "peek:PID". */
#include "vmm-probe/backend/source.h"
#include "vmm-probe/backend/peek/internal.h"
#include "vmm-probe/engine/wire/protocol.h"

static struct ot_err *open_beside(const struct vp_source_env *env, const char *where, struct vp_source *ret)
{
	struct vp_peek *peek;
	int claim = -1;
	pid_t pid;

	OT_TRY(env->claim_vmm(env->arg, where, &pid, &claim));
	OT_TRY(vp_peek_open(pid, claim, &peek));
	ret->handle = peek;
	ret->client = vp_peek_socket(peek);
	ret->vmm = pid;
	return NULL;
}

static void close_beside(void *handle)
{
	vp_peek_close(handle);
}

static void kernel_found(void *handle, const struct vp_phys *phys, struct vp_gpa root, unsigned levels)
{
	vp_peek_use_memory(handle, phys, root, levels);
}

static const char *suffices(uint32_t kind, uint32_t event)
{
	if (kind == VP_PROBE_HOST || kind == VP_PROBE_ERROR || kind == VP_PROBE_PROFILE ||
	    (kind == VP_PROBE_VM && event >> 16 == VP_VM_STAT))
		return NULL;
	return "only sampled from outside its VMM: dtrace:::, profile:::, tick and vm:::stat probes fire";
}

static void note(const void *handle, const char *name, struct ot_buf *out)
{
	const struct vp_peek *peek = handle;

	ot_buf_printf(out,
		      "%s: sampled from outside its VMM (PID %u), by the VMM's own kick; nothing is injected "
		      "into it",
		      name, (unsigned)peek->pid);
}

const struct vp_source_ops vp_peek_source = {
	.prefix = "peek:",
	.costless = true,
	.nameless = true,
	.open = open_beside,
	.close = close_beside,
	.kernel_found = kernel_found,
	.suffices = suffices,
	.note = note,
};
