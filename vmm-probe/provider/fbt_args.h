/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types of fbt's args[], by the function's prototype in the guest's BTF. */
#ifndef VP_PROVIDER_FBT_ARGS_H
#define VP_PROVIDER_FBT_ARGS_H

#include "vmm-probe/provider/provider.h"

struct btf_type;
struct vp_btf;

/** Parameters of a prototype, without the "..." at its end. */
unsigned vp_proto_count(const struct btf_type *proto);

/** The argN that holds parameter @p n of those from @p first on, with @p registers registers of the calling
 * convention left: a parameter of 9 to 16 bytes takes two registers if both are left; a larger one, and any
 * that finds no register, is on the stack, in order. False: in no argN, or split between two of them. */
bool vp_proto_map(const struct vp_btf *btf, const struct btf_type *proto, unsigned first, unsigned registers,
		  unsigned n, unsigned *ret, unsigned *ret_words);

/** entry: args[n] is the n-th parameter. return: args[0] the offset in the function, args[1] its result
 * (void functions have none). As vp_probes_arg() and vp_probes_nargs(). */
bool vp_fbt_arg(struct vp_probes *probes, const struct vp_probe *probe, unsigned n,
		struct dif_probe_arg *ret);
int vp_fbt_nargs(struct vp_probes *probes, const struct vp_probe *probe);

#endif
