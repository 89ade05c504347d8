/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Paths of a program's own files: next to it in the build tree, where `cmake --install` puts them, wherever
 * that tree was moved to since, and last where it was configured to be. In a program that has loaded
 * liboutsight the files are next to that library.
 */
#ifndef OT_BASE_INSTALLED_H
#define OT_BASE_INSTALLED_H

#include <stdbool.h>
#include <stddef.h>

/** A tree of installed files, as one program or library sees it. */
struct ot_installed {
	const char *bin;      /* the folder of the program, absolute; "" is nowhere */
	const char *from_bin; /* from there to our folder of libraries, or of data: "../lib/outsight" */
	const char *libdir;   /* that folder as it was configured, absolute: "/usr/local/lib/outsight" */
	const char
	    *lib; /* the folder of liboutsight, absolute, which has ours in outsight/; NULL: a program */
};

/**
 * Find the file @p name among the libraries of @p in: in LIB/outsight and in LIB (a build tree's); in
 * from_bin, then in the build tree (BIN/../lib, which has them without a folder of their own), then in
 * libdir.
 *
 * @param ret  its path, absolute, links and ".." resolved; untouched when it is not there
 * @param size of @p ret; a longer path is passed over
 * @return whether there is one that can be read
 */
bool ot_installed_library_in(const struct ot_installed *in, const char *name, char *ret, size_t size);

/** The same of this program's tree; but when $OUTSIGHT_PLUGIN_DIR is set and not empty, only there. */
bool ot_installed_library(const char *name, char *ret, size_t size);

/** The folder of the D libraries of @p in, like a library: LIB/outsight/d, d/ in from_bin,
 * BIN/../lib/outsight/d, d/ in libdir. */
bool ot_installed_d_in(const struct ot_installed *in, char *ret, size_t size);

/** The same of this program's tree. */
bool ot_installed_d(char *ret, size_t size);

/** The folder of the tools' scripts of @p in, whose folders are those of data: tools/ in from_bin,
 * BIN/../share/outsight/tools, tools/ in libdir. */
bool ot_installed_tools_in(const struct ot_installed *in, char *ret, size_t size);

/** The same of this program's tree. */
bool ot_installed_tools(char *ret, size_t size);

/** The path of the program @p name in the folder that this program is in, whether it is there or not.
 * @return false: it does not fit, or /proc is not there */
bool ot_installed_program(const char *name, char *ret, size_t size);

#endif
