/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Matches descriptions that use another system's name for something that this guest also has. */
#include "vmm-probe/provider/hint_systems.h"
#include "vmm-probe/provider/providers.h"
#include "vmm-probe/provider/registry_internal.h"
#include "vmm-probe/provider/syscall_numbers.h"

struct found {
	struct vp_probes *probes;
	bool any;
};

/* A function of a call that no process can make, or only 32-bit processes, does not match. */
static bool see(void *arg, const struct vp_probe *probe)
{
	struct found *f = arg;
	bool is_call = vp_probe_entry(f->probes, probe->id)->provider == &vp_provider_syscall;

	f->any = !is_call || vp_syscall_is_native(probe);
	return !f->any;
}

static bool is_here(struct vp_probes *probes, const struct dif_probedesc *desc)
{
	struct found f = { .probes = probes };
	uint64_t count;

	ot_err_destroy(vp_probes_match(probes, desc, false, see, &f, &count));
	return f.any;
}

bool vp_probes_named_here(struct vp_probes *probes, const struct dif_probedesc *desc,
			  struct dif_probedesc *ret)
{
	struct dif_probedesc meant;

	if (!vp_probe_same_of_linux(desc, &meant) || is_here(probes, desc) || !is_here(probes, &meant))
		return false;
	*ret = meant;
	return true;
}
