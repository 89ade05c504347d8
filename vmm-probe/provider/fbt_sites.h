/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Sites of a function in the guest's kernel, for fbt and the providers built on functions. */
#ifndef VP_PROVIDER_FBT_SITES_H
#define VP_PROVIDER_FBT_SITES_H

#include "vmm-probe/provider/provider.h"

/* Conditions (vp_batch_site.syscall) of a function's sites. */
struct vp_site_conditions {
	uint32_t own;    /* of sites in the function itself; 0: none */
	uint32_t shared; /* of sites in code that it tail-calls, which other functions may run too; 0: such
			    code has no sites */
};

/** The site where the function at probe->gva is entered. @p when may be NULL: no conditions. *ret is owned by
 * the caller (free()). */
OT_MUST_CHECK struct ot_err *vp_function_entry_site(struct vp_probes *probes, const struct vp_probe *probe,
						    const struct vp_site_conditions *when,
						    struct vp_batch_site **ret, uint32_t *ret_count);

/**
 * The sites where it returns, its .cold part included; none for a function that never returns. At a tail jump
 * the callee has not run yet: rax, and so a return probe's arg1, has an arbitrary value. Conditional tail
 * jumps, which no C compiler emits for a kernel, are not among the sites.
 *
 * With a condition for shared code, tail jumps are followed: a third of all system calls end in one
 * (__x64_sys_read jumps to ksys_read). The sites are then the exits of the target.
 */
OT_MUST_CHECK struct ot_err *vp_function_return_sites(struct vp_probes *probes, const struct vp_probe *probe,
						      const struct vp_site_conditions *when,
						      struct vp_batch_site **ret, uint32_t *ret_count);

#endif
