/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * fbt::FUNCTION:inlined: the places of the core kernel at which the compiler has inlined a function. The
 * debugging information of the file that --vmlinux names lists them.
 *
 * It is a separate probe, so that fbt::FUNCTION:entry means a call and has its return. It exists only if a
 * description names it, so that no other description causes the file to be read.
 */
#ifndef VP_PROVIDER_FBT_INLINED_H
#define VP_PROVIDER_FBT_INLINED_H

#include "vmm-probe/provider/registry.h"

#define VP_FBT_INLINED "inlined"

/** The part of a provider's provide() for descriptions whose name is exactly that: a probe for each function
 * that they match and that is inlined somewhere. Functions of one name that are declared at different places
 * have a probe each. Nothing without --vmlinux. */
OT_MUST_CHECK struct ot_err *vp_fbt_inlined_provide(struct vp_probes *probes, const struct vp_provider *self,
						    const struct dif_probedesc *desc);

/** Is it such a probe? */
bool vp_fbt_is_inlined(const struct vp_probe *probe);

/** As a provider's, of such a probe. It is refused unless each copy that can still run has a site. */
OT_MUST_CHECK struct ot_err *vp_fbt_inlined_resolve(struct vp_probes *probes, const struct vp_probe *probe);
OT_MUST_CHECK struct ot_err *vp_fbt_inlined_sites(struct vp_probes *probes, const struct vp_probe *probe,
						  struct vp_batch_site **ret, uint32_t *ret_count);

/** args[n] is the n-th parameter; a parameter that no copy still has does not exist. */
bool vp_fbt_inlined_arg(struct vp_probes *probes, const struct vp_probe *probe, unsigned n,
			struct dif_probe_arg *ret);
int vp_fbt_inlined_nargs(const struct vp_probe *probe);

/** Describe the number of copies, their places, and the arguments that some of them lack. */
void vp_fbt_inlined_describe(struct vp_probes *probes, const struct vp_probe *probe, struct ot_buf *out);

#endif
