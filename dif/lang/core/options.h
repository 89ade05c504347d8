/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Options: -x name[=value], #pragma D option, setopt(). One table has every option's name,
 * kind and default; values are parsed by D's rules (sizes, rates, booleans), and the error
 * texts are dtrace's.
 */
#ifndef DIF_LANG_CORE_OPTIONS_H
#define DIF_LANG_CORE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/map.h"
#include "dif/lang/core/stability.h"

enum dif_bufpolicy { DIF_BUF_RING = 0, DIF_BUF_FILL = 1, DIF_BUF_SWITCH = 2 };

/* Values in force. One struct with many fields: one for each option. Sizes in bytes, rates as ns between two
 * events, flags as 0/1. Compile-time strings live as long as the options object. */
struct dif_options {
	/* run time */
	uint64_t bufsize, aggsize, dynvarsize, specsize, injectsize, strsize;
	uint64_t nspec, stackframes, maxframes, ustackframes, jstackframes, jstackstrsize, stackindent;
	uint64_t switchrate_ns, aggrate_ns, statusrate_ns, cleanrate_ns;
	enum dif_bufpolicy bufpolicy;
	bool bufresize_manual;
	int64_t cpu;      /* -1: all */
	uint64_t maxcost; /* per cent of vCPU time that probes may take; 0: any */
	uint64_t ttl_ns;  /* how long a session may last; 0: for ever */
	bool destructive, quiet, flowindent, rawbytes, temporal, grabanon;
	bool aggsortkey, aggsortrev, agghist, aggpack, aggzoom, aggpercpu;
	int64_t aggsortkeypos, aggsortpos;
	/* compile time */
	bool argref, cpp, defaultargs, empty, errtags, droptags, noattach, nolibs, pspec, zdefs, anydefs,
	    verbose, noerror;
	bool cpphdrs, debug, noresolve, quietresize, knodefs, unodefs, kdefs, udefs;
	bool encoding_utf8, encoding_set;
	const char *cpppath, *syslibdir;
	bool has_amin;
	struct dif_attribute amin;
	uint32_t version; /* 0: the latest; newer names are not seen */
	uint64_t iregs, tregs;
	int64_t tree; /* bits of enum dif_tree_pass */
	/* any option that was set, by name, to its text ("" when none): for the rest and for -x lists */
	struct ot_map set;
	struct ot_map strings; /* keeps the texts */
};

void dif_options_init(struct dif_options *opts);
void dif_options_deinit(struct dif_options *opts);

enum dif_opt_phase {
	DIF_OPT_COMMAND_LINE,
	DIF_OPT_PROGRAM, /* #pragma D option: command-line-only options are refused */
	DIF_OPT_ACTIVE,  /* tracing runs: only dynamic options */
};

/** Set one option; @p value NULL when none was given. The error's message is dtrace's:
 * "Invalid option name", "Invalid value for specified option", … */
OT_MUST_CHECK struct ot_err *dif_options_set(struct dif_options *opts, const char *name, const char *value,
					     enum dif_opt_phase phase);

/** Append to @p out advice about @p err, which dif_options_set() returned for @p name: the likely name, or
 * the values that the option takes; without a full stop. False: there is none. */
bool dif_options_hint(const char *name, const struct ot_err *err, struct ot_buf *out);

/** The name of option @p i, in no order that means anything; NULL behind the last. */
const char *dif_options_name(size_t i);

#endif
