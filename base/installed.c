/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Paths of a program's own files, from where the program itself is, or the library that this is in. */
#include "base/installed.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* The build tree's folders, seen from its programs. */
#define BUILT      "../lib"
#define BUILT_DATA "../share/outsight"

/* DIR/NAME, when it can be read. */
static bool try(const char *dir, const char *sub, const char *name, char *ret, size_t size)
{
	char path[PATH_MAX], real[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s/%s", dir, sub, name);

	if (!dir || !*dir || n < 0 || (size_t)n >= sizeof(path) || access(path, R_OK))
		return false;
	if (!realpath(path, real) || strlen(real) >= size)
		return false;
	memcpy(ret, real, strlen(real) + 1);
	return true;
}

bool ot_installed_library_in(const struct ot_installed *in, const char *name, char *ret, size_t size)
{
	return try(in->lib, "outsight", name, ret, size) || try(in->lib, ".", name, ret, size) ||
	       try(in->bin, in->from_bin, name, ret, size) || try(in->bin, BUILT, name, ret, size) ||
	       try(in->libdir, ".", name, ret, size);
}

bool ot_installed_d_in(const struct ot_installed *in, char *ret, size_t size)
{
	return try(in->lib, "outsight/d", ".", ret, size) || try(in->bin, in->from_bin, "d", ret, size) ||
	       try(in->bin, BUILT "/outsight", "d", ret, size) || try(in->libdir, ".", "d", ret, size);
}

bool ot_installed_tools_in(const struct ot_installed *in, char *ret, size_t size)
{
	return try(in->bin, in->from_bin, "tools", ret, size) ||
	       try(in->bin, BUILT_DATA, "tools", ret, size) || try(in->libdir, ".", "tools", ret, size);
}

/* The folder of this program; "" if it can't be determined. */
static void own_folder(char *ret, size_t size)
{
	ssize_t n = readlink("/proc/self/exe", ret, size - 1);

	ret[n > 0 ? n : 0] = '\0';
	char *slash = strrchr(ret, '/');
	if (slash)
		*slash = '\0';
}

/* The folder of the library that contains this; "" in a program, and if the library was loaded by a relative
 * path, because the working directory may have changed. */
static void library_folder(char *ret, size_t size)
{
	Dl_info own, program;
	char real[PATH_MAX];

	*ret = '\0';
	if (!dladdr((const void *)(uintptr_t)library_folder, &own) ||
	    !dladdr((const void *)(uintptr_t)getauxval(AT_PHDR), &program) ||
	    own.dli_fbase == program.dli_fbase)
		return;
	if (own.dli_fname[0] != '/' || !realpath(own.dli_fname, real) || strlen(real) >= size)
		return;
	*strrchr(real, '/') = '\0';
	memcpy(ret, real, strlen(real) + 1);
}

bool ot_installed_library(const char *name, char *ret, size_t size)
{
	const char *dir = getenv("OUTSIGHT_PLUGIN_DIR");
	char bin[PATH_MAX], lib[PATH_MAX];

	if (dir && *dir)
		return try(dir, ".", name, ret, size);
	own_folder(bin, sizeof(bin));
	library_folder(lib, sizeof(lib));
	return ot_installed_library_in(&(struct ot_installed){ bin, OT_FROM_BIN, OT_LIBDIR, lib }, name, ret,
				       size);
}

bool ot_installed_d(char *ret, size_t size)
{
	char bin[PATH_MAX], lib[PATH_MAX];

	own_folder(bin, sizeof(bin));
	library_folder(lib, sizeof(lib));
	return ot_installed_d_in(&(struct ot_installed){ bin, OT_FROM_BIN, OT_LIBDIR, lib }, ret, size);
}

bool ot_installed_tools(char *ret, size_t size)
{
	char bin[PATH_MAX];

	own_folder(bin, sizeof(bin));
	return ot_installed_tools_in(&(struct ot_installed){ bin, OT_DATA_FROM_BIN, OT_DATADIR }, ret, size);
}

bool ot_installed_program(const char *name, char *ret, size_t size)
{
	char bin[PATH_MAX];

	own_folder(bin, sizeof(bin));
	int n = snprintf(ret, size, "%s/%s", bin, name);
	return *bin && n > 0 && (size_t)n < size;
}
