/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The types of the host's own kernel, from its BTF, for sessions without a guest. */
#include "vmm-probe/session/host_types.h"

#include "base/cleanup.h"
#include "base/io.h"
#include "vmm-probe/guest/btf_types.h"

#define BTF_MAX (64u << 20)

static struct ot_err *load(struct vp_host_types *host, const char *path)
{
	ot_auto_free char *data = NULL;
	size_t size;

	OT_TRY(ot_read_file(path, BTF_MAX, &data, &size));
	OT_TRY(vp_btf_create(data, size, NULL, &host->btf));
	OT_TRY(vp_types_create(&host->types));
	return vp_types_add_kernel(host->types, host->btf);
}

struct vp_types *vp_host_types_get(struct vp_host_types *host, const char *path)
{
	if (host->tried)
		return host->types;
	struct ot_err *err = load(host, path);
	if (err) {
		ot_err_destroy(err);
		vp_host_types_deinit(host);
	}
	host->tried = true;
	return host->types;
}

void vp_host_types_deinit(struct vp_host_types *host)
{
	vp_types_destroy(host->types);
	vp_btf_destroy(host->btf);
	*host = (struct vp_host_types){ 0 };
}
