/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which version of the plugin API a QEMU speaks. */
#ifndef VP_TCG_API_VERSION_H
#define VP_TCG_API_VERSION_H

#include <stdbool.h>
#include <stddef.h>

struct vp_tcg_release {
	unsigned major, minor; /* 0.0: not found */
};

/** Find the release of the QEMU whose constant data these are, by what it prints for --version. False: it is
 * not there. */
bool vp_tcg_find_release(const void *data, size_t size, struct vp_tcg_release *ret);

/**
 * The version to speak with a QEMU of that release. Versions 4 to 6 show in the functions that there are; 7
 * changed what functions get and added none, so it is told by the release.
 */
int vp_tcg_api_version(const struct vp_tcg_release *release, bool has_write_register, bool has_set_pc);

#endif
