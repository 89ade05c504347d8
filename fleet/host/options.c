/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An operator's options on a host. Options that name a file, a folder or a program stay with the operator:
 * here they would refer to another machine, and be set by an operator who may have no account on it.
 */
#include "fleet/host/options.h"

#include <stdbool.h>
#include <string.h>

#include "base/compiler.h"

static const char *const for_host[] = {
	"aggpercpu",  "aggrate",      "aggsize",      "amin",          "anydefs",     "argref",
	"bpflog",     "bpflogsize",   "bufpolicy",    "bufresize",     "bufsize",     "cleanrate",
	"core",       "cpu",          "debug",        "defaultargs",   "destructive", "droptags",
	"dynvarsize", "empty",        "encoding",     "errtags",       "evaltime",    "inject",
	"injectsize", "iregs",        "jstackframes", "jstackstrsize", "kdefs",       "knodefs",
	"late",       "lazyload",     "linkmode",     "linktype",      "lockmem",     "maxcost",
	"maxframes",  "noattach",     "noerror",      "nolibs",        "noresolve",   "nspec",
	"pcapsize",   "pgmax",        "preallocate",  "pspec",         "quietresize", "scratchsize",
	"semaphores", "specsize",     "stackframes",  "statusrate",    "strip",       "strsize",
	"switchrate", "temporal",     "trap",         "tregs",         "ttl",         "udefs",
	"unodefs",    "ustackframes", "version",      "view",          "zdefs",       "zone",
};

static const char *const for_operator[] = {
	"agghist",     "aggpack",     "aggsortkey",  "aggsortkeypos", "aggsortpos", "aggsortrev",
	"aggzoom",     "cpp",         "cppargs",     "cpphdrs",       "cpppath",    "ctfpath",
	"ctypes",      "debugassert", "define",      "disasm",        "dtypes",     "fleet",
	"fleetcreds",  "fleethosts",  "fleetkey",    "fleetmergers",  "flowindent", "grabanon",
	"hostloss",    "incdir",      "ldpath",      "libdir",        "linknommap", "modpath",
	"objcopypath", "oformat",     "printsize",   "procfspath",    "promseries", "quiet",
	"rawbytes",    "setenv",      "stackindent", "stdc",          "syslibdir",  "sysslice",
	"tree",        "undef",       "unsetenv",    "useruid",       "verbose",    "waitfor",
};

static bool has(const char *const *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i], name))
			return true;
	return false;
}

enum fl_option_use fl_option_use(const char *name)
{
	if (has(for_host, OT_ARRAY_SIZE(for_host), name))
		return FL_OPTION_HOST;
	return has(for_operator, OT_ARRAY_SIZE(for_operator), name) ? FL_OPTION_OPERATOR : FL_OPTION_UNKNOWN;
}
