/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libnats by dlopen(), under the name of the library that this was built with, because its functions change
 * with that name. */
#include "fleet/link/nats_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct call {
	const char *name;
	size_t offset;
};

#define CALL(name) { #name, offsetof(struct fl_nats_calls, name) },

static const struct call calls[] = { FL_NATS_CALLS(CALL) };

struct ot_err *fl_nats_load(const struct fl_nats_calls **ret)
{
	static struct fl_nats_calls table;
	static bool loaded;

	if (loaded) {
		*ret = &table;
		return NULL;
	}
	void *library = dlopen(FL_LIBNATS, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "%s is not installed here, and a broker is reached through it (Debian: apt "
				  "install outsight-serve)",
				  FL_LIBNATS);
	for (size_t i = 0; i < OT_ARRAY_SIZE(calls); i++) {
		void *address = dlsym(library, calls[i].name);

		if (!address)
			return ot_err_new(OT_ERR_UNSUPPORTED, "%s has no %s()", FL_LIBNATS, calls[i].name);
		memcpy((char *)&table + calls[i].offset, &address, sizeof(address));
	}
	loaded = true;
	*ret = &table;
	return NULL;
}
