/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loading libvirt and libxml2 with dlopen(). */
#include "vmm-probe/machines/libs.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "base/compiler.h"

struct call {
	const char *name;
	size_t offset; /* of its pointer in the table */
};

/* Load the first of @files that is installed (NULL-terminated), and resolve @calls into @table. */
static struct ot_err *load(const char *const *files, const char *package, const struct call *calls, size_t n,
			   void *table)
{
	const char *file = *files;
	void *library = NULL;

	for (; *files && !library; files++) {
		library = dlopen(*files, RTLD_NOW | RTLD_LOCAL);
		file = library ? *files : file;
	}
	if (!library)
		return ot_err_new(OT_ERR_UNSUPPORTED, "%s is not installed here (Debian: apt install %s)",
				  file, package);
	for (size_t i = 0; i < n; i++) {
		void *address = dlsym(library, calls[i].name);
		if (!address)
			return ot_err_new(OT_ERR_UNSUPPORTED, "%s is too old: it has no %s()", file,
					  calls[i].name);
		memcpy((char *)table + calls[i].offset, &address, sizeof(address));
	}
	return NULL;
}

struct ot_err *vp_libvirt_load(struct vp_libvirt_calls *ret)
{
#define CALL(name) { #name, offsetof(struct vp_libvirt_calls, name) },
	static const struct call calls[] = { VP_LIBVIRT_CALLS(CALL) };
#undef CALL
	static const char *const files[] = { "libvirt.so.0", NULL };

	return load(files, "libvirt0", calls, OT_ARRAY_SIZE(calls), ret);
}

struct ot_err *vp_libxml_load(struct vp_libxml_calls *ret)
{
#define CALL(name) { #name, offsetof(struct vp_libxml_calls, name) },
	static const struct call calls[] = { VP_LIBXML_CALLS(CALL) };
#undef CALL
	/* The functions that we use are the same in both ABIs. */
	static const char *const files[] = { "libxml2.so.2", "libxml2.so.16", NULL };

	return load(files, "libxml2", calls, OT_ARRAY_SIZE(calls), ret);
}
