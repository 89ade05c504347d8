/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The layout of a session's shared memory; both sides compute it. */
#include "vmm-probe/engine/wire/shared.h"

#define PAGE         4096ull
#define HALF_ALIGN   64ull
#define SHARED_LIMIT (64ull << 30)

static uint64_t align_up(uint64_t n, uint64_t align)
{
	return (n + align - 1) & ~(align - 1);
}

static uint64_t vcpu_stride(const struct vp_msg_open *open)
{
	return 2 * align_up(open->bufsize, HALF_ALIGN) + 2 * align_up(open->aggsize, HALF_ALIGN);
}

uint64_t vp_principal_offset(const struct vp_msg_open *open, uint32_t vcpu, unsigned half)
{
	return open->buffers_offset + vcpu * vcpu_stride(open) + half * align_up(open->bufsize, HALF_ALIGN);
}

uint64_t vp_aggregation_offset(const struct vp_msg_open *open, uint32_t vcpu, unsigned half)
{
	return vp_principal_offset(open, vcpu, 0) + 2 * align_up(open->bufsize, HALF_ALIGN) +
	       half * align_up(open->aggsize, HALF_ALIGN);
}

/* Each size is checked before it is used, so no sum can wrap. */
struct ot_err *vp_shared_layout(struct vp_msg_open *open, uint64_t *ret_total)
{
	uint64_t at;

	if (open->nvcpus > VP_VCPUS_MAX)
		return ot_err_new(OT_ERR_LIMIT, "%u vCPUs are more than %u", open->nvcpus, VP_VCPUS_MAX);
	if (open->nspec > VP_NSPEC_MAX)
		return ot_err_new(OT_ERR_LIMIT, "%u speculations are more than %u", open->nspec,
				  VP_NSPEC_MAX);
	if (open->bufsize > SHARED_LIMIT || open->aggsize > SHARED_LIMIT ||
	    open->globals_size > SHARED_LIMIT || open->dynvars_size > SHARED_LIMIT ||
	    (open->nvcpus && vcpu_stride(open) > SHARED_LIMIT / open->nvcpus))
		return ot_err_new(OT_ERR_LIMIT, "buffers of more than 64 GiB");

	open->globals_offset = 0;
	at = align_up(open->globals_size, PAGE);
	open->dynvars_offset = at;
	at += align_up(open->dynvars_size, PAGE);
	open->specs_offset = at;
	at += align_up(open->nspec * sizeof(uint64_t), PAGE);
	open->status_offset = at;
	at += align_up(open->nvcpus * sizeof(struct vp_vcpu_status), PAGE);
	open->buffers_offset = at;
	at += align_up(open->nvcpus * vcpu_stride(open), PAGE);
	if (at > SHARED_LIMIT)
		return ot_err_new(OT_ERR_LIMIT, "buffers of more than 64 GiB");
	*ret_total = at ? at : PAGE;
	return NULL;
}
