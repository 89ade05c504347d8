/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Providers defined in D: a file of provider/d for each, in which a probe is
 *
 *   probe exit(int) {
 *           at { fbt::taskstats_exit:entry / args[1] / { trace(args[0]->exit_code & 0x7f); } }
 *           or { … }
 *   }
 *
 * The parentheses hold the types of args[], each by the name of a C type. If a translator of the D libraries
 * makes another type for D, that follows behind a colon: `struct task_struct * : psinfo_t *`. `char * :
 * string` is the string at the pointer. args[n] is argN, or the argument named in front: `arg1 struct bio * :
 * bufinfo_t *`.
 *
 * Each of `at` and `or` is an alternative: clauses of D, one for each kind of place at which the probe fires.
 * A clause's descriptions name the place, its predicate says whether the probe fires there, and its n-th
 * trace() gives argN, all in terms of the arguments of the place. The first alternative that compiles for
 * this guest, and whose places can be probed, is the probe: it is chosen by the functions, tracepoints and
 * members that exist, never by a version; some functions that a kernel may lack have a substitute
 * (inlined_place.h). An alternative for less (one IP version) comes last: it compiles everywhere. Its module
 * is the kernel's unless the definition names one. Its function is that of its places, if all are in one.
 *
 * `with { … }` and `after { … }` may follow an alternative: clauses that are added to every session which
 * enables the probe, to keep values from one place to another in variables; at the same place those of `with`
 * run before the session's own, those of `after` behind them. No program can write their names.
 *
 * `probe FUNCTION:entry(…) return(…)` defines both: each alternative is followed by `returns { … }`, the
 * places where the operation ends, as clauses without predicates. The return fires if the entry has fired in
 * that thread. Its arguments are the entry's, as they were then, followed by the values that `returns`
 * traces.
 *
 * Text outside of probes is ordinary D (inlines, types) for all of them; `provider NAME;` comes first. A
 * probe that has a function, or a module of its own, is `probe FUNCTION:NAME` or `probe
 * MODULE:FUNCTION:NAME`. `probe *:NAME` is a probe for each of a list of the guest's objects (members.h),
 * with the object's name as its function; `$1` is its value.
 */
#ifndef VP_PROVIDER_DEFINITION_H
#define VP_PROVIDER_DEFINITION_H

#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"

#define VP_ALTERNATIVES_MAX 4
#define VP_ARGS_MAX         10

/* A part of a file. */
struct vp_text_part {
	const char *text; /* not terminated; NULL: there is none */
	size_t len;
};

struct vp_alternative {
	struct vp_text_part at, with, after;
};

struct vp_definition {
	const char *module, *function, *name; /* module "": the kernel's; function "*": of each member */
	unsigned nargs;
	struct {
		const char *native;
		const char *translated; /* NULL: as it is */
		unsigned mapping;       /* argN */
	} args[VP_ARGS_MAX];
	unsigned nalternatives;
	struct vp_alternative alternatives[VP_ALTERNATIVES_MAX];
};

struct vp_definitions {
	const char *provider;
	const char *common; /* the rest of the file, with its lines where they were */
	struct vp_definition *list;
	size_t count;
};

/** Parse a file. @p text is borrowed, memory is of @p arena. BAD_DATA: with the line. */
OT_MUST_CHECK struct ot_err *vp_definitions_parse(const char *text, struct ot_arena *arena,
						  struct vp_definitions *ret);

#endif
