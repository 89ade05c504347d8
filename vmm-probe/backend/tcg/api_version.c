/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding a QEMU's release in its data, and the version of the plugin API to speak with it. */
#include "vmm-probe/backend/tcg/api_version.h"

#include <ctype.h>
#include <string.h>

/* The first release that speaks version 7. */
#define USERDATA_MAJOR 11
#define USERDATA_MINOR 1

/* At most four digits; -1: there is none, or more. */
static int number(const char **p, const char *end)
{
	int n = 0, digits = 0;

	for (; *p < end && isdigit((unsigned char)**p); (*p)++, digits++) {
		if (digits == 4)
			return -1;
		n = n * 10 + (**p - '0');
	}
	return digits ? n : -1;
}

bool vp_tcg_find_release(const void *data, size_t size, struct vp_tcg_release *ret)
{
	static const char says[] = "QEMU emulator version ";
	const char *at = data, *end = at + size;

	while ((at = memmem(at, (size_t)(end - at), says, sizeof(says) - 1)) != NULL) {
		at += sizeof(says) - 1;

		const char *p = at;
		int major = number(&p, end);
		if (major <= 0 || p == end || *p++ != '.')
			continue;
		int minor = number(&p, end);
		if (minor < 0)
			continue;
		*ret = (struct vp_tcg_release){ (unsigned)major, (unsigned)minor };
		return true;
	}
	return false;
}

int vp_tcg_api_version(const struct vp_tcg_release *release, bool has_write_register, bool has_set_pc)
{
	if (!has_set_pc)
		return has_write_register ? 5 : 4;
	if (!release->major || release->major > USERDATA_MAJOR)
		return 7;
	return release->major == USERDATA_MAJOR && release->minor >= USERDATA_MINOR ? 7 : 6;
}
