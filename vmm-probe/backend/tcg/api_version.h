/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The version of the plugin API that a QEMU speaks. */
#ifndef VP_TCG_API_VERSION_H
#define VP_TCG_API_VERSION_H

#include <stdbool.h>
#include <stddef.h>

struct vp_tcg_release {
	unsigned major, minor; /* 0.0: not found */
};

/** Find the release of the QEMU with this constant data, by its --version text. False: not found. */
bool vp_tcg_find_release(const void *data, size_t size, struct vp_tcg_release *ret);

/**
 * The version to speak with a QEMU of that release. Versions 4 to 6 are recognised by the functions that
 * exist; 7 changed parameters and added no function, so the release decides.
 */
int vp_tcg_api_version(const struct vp_tcg_release *release, bool has_write_register, bool has_set_pc);

#endif
