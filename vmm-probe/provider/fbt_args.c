/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Types of fbt's args[], from the guest's BTF. */
#include "vmm-probe/provider/fbt_args.h"

#include <string.h>

#include "vmm-probe/arch/regs.h"
#include "vmm-probe/guest/btf_types.h"
#include "vmm-probe/provider/fbt_offset.h"

#define ARGS_MAX 10 /* arg0 … arg9 */

/* The prototype of the probe's function, or NULL. Compilers' clones (.isra.0, .constprop.0, .part.0) have
 * other parameters, which BTF does not describe: they have no prototype. */
static const struct btf_type *prototype(struct vp_probes *probes, const struct vp_probe *probe,
					const struct vp_btf **ret_btf)
{
	struct vp_types *types = vp_probes_types(probes);
	const struct vp_btf *btf = types ? vp_types_btf(types, probe->module) : NULL;
	uint32_t id = btf ? vp_btf_find(btf, VP_BTF_FUNC, probe->function) : 0;

	/* A module's function is described by the module's own types; a kernel function of that name is
	 * another one.
	 */
	if (!id || id < vp_btf_first(btf))
		return NULL;
	*ret_btf = btf;
	return vp_btf_type(btf, vp_btf_type(btf, id)->type);
}

unsigned vp_proto_count(const struct btf_type *proto)
{
	const struct btf_param *p = (const struct btf_param *)(proto + 1);
	unsigned n = BTF_INFO_VLEN(proto->info);

	return n && !p[n - 1].type && !p[n - 1].name_off ? n - 1 : n;
}

bool vp_proto_map(const struct vp_btf *btf, const struct btf_type *proto, unsigned first, unsigned registers,
		  unsigned n, unsigned *ret, unsigned *ret_words)
{
	const struct btf_param *p = (const struct btf_param *)(proto + 1) + first;
	unsigned regs = 0;
	uint64_t stack = 0;

	for (unsigned i = 0;; i++) {
		uint64_t size, words, at;

		if (!vp_btf_size(btf, p[i].type, &size))
			return false;
		words = size ? (size + 7) / 8 : 0;
		if (words <= 2 && regs + words <= registers) {
			at = regs;
			regs += (unsigned)words;
		} else {
			at = registers + stack;
			stack += words;
		}
		if (i == n) {
			*ret = (unsigned)at;
			*ret_words = (unsigned)words;
			return at < ARGS_MAX;
		}
		if (stack >= ARGS_MAX)
			return false;
	}
}

bool vp_fbt_arg(struct vp_probes *probes, const struct vp_probe *probe, unsigned n, struct dif_probe_arg *ret)
{
	const struct vp_btf *btf;
	const struct btf_type *proto = prototype(probes, probe, &btf);
	struct vp_types *types = vp_probes_types(probes);
	unsigned words;

	if (!proto || (int)n >= vp_fbt_nargs(probes, probe))
		return false;
	if (probe->args == VP_ARGS_FBT_RETURN) {
		ret->mapping = n;
		ret->native = n ? vp_types_get(types, btf, proto->type)
				: vp_types_find(types, NULL, DIF_C_TYPEDEF, "long");
		return ret->native != NULL;
	}
	if (!vp_proto_map(btf, proto, 0, VP_NREGS_ARGS, n, &ret->mapping, &words))
		return false;
	ret->native = vp_types_get(types, btf, ((const struct btf_param *)(proto + 1))[n].type);
	return ret->native != NULL;
}

int vp_fbt_nargs(struct vp_probes *probes, const struct vp_probe *probe)
{
	const struct vp_btf *btf;
	const struct btf_type *proto = prototype(probes, probe, &btf);

	if (vp_fbt_is_offset(probe))
		return 0;
	if (!proto)
		return -1;
	if (probe->args == VP_ARGS_FBT_RETURN)
		return vp_btf_resolve(btf, proto->type) ? 2 : 1;
	return (int)vp_proto_count(proto);
}
