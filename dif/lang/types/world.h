/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program is compiled for: a guest's types and symbols, the probes there are, as callbacks. */
#ifndef DIF_LANG_TYPES_WORLD_H
#define DIF_LANG_TYPES_WORLD_H

#include "base/buf.h"
#include "dif/lang/core/stability.h"
#include "dif/lang/types/types.h"
#include "dif/obj/program.h"

struct dif_symbol {
	uint64_t address; /* guest kernel virtual address; per-CPU: offset in the per-CPU area */
	uint64_t size;    /* 0 unknown */
	const char *name;
	const char *module;
	struct dif_type *type; /* NULL: the guest has no type for it */
	bool is_function;
	bool is_percpu;
};

/* A probe as the compiler sees it. */
struct dif_probe_info {
	uint32_t id;
	const char *provider, *module, *function, *name;
	int nargs; /* typed args[]; -1: this probe has none known (D_ARGS_NONE) */
};

/* args[n] of a probe. */
struct dif_probe_arg {
	struct dif_type *native; /* of the value in arg<mapping> */
	/* The type that D sees instead, which a translator makes of the value: a type of a D library's by its
	 * name, with stars ("bufinfo_t *"). NULL: the native one. */
	const char *translated;
	const char *name; /* the parameter's, for -lv; NULL: unknown */
	unsigned mapping;
};

/* The world that a program is compiled for. Callbacks may be NULL: nothing found. */
struct dif_world {
	void *env;

	/* Find "struct NAME", "union NAME", "enum NAME" (tag_kind STRUCT, UNION, ENUM) or a typedef or
	 * base type (tag_kind TYPEDEF). module NULL: any. NULL when there is none. */
	struct dif_type *(*find_type)(void *env, const char *module, enum dif_ckind tag_kind,
				      const char *name);
	/* An enumerator of any guest enum. */
	bool (*find_enumerator)(void *env, const char *name, struct dif_type **ret_type, int64_t *ret_value);
	/* `symbol or module`symbol. */
	bool (*find_symbol)(void *env, const char *module, const char *name, struct dif_symbol *ret);
	/* Code that holds a symbol's address was generated: it is for this guest's kernel only. A name that
	 * is only found, as in a library that the program does not use, is not reported. */
	void (*address_used)(void *env);
	bool (*has_module)(void *env, const char *module);

	/* Call @each for probes that match (until it returns false); returns how many matched. May
	 * create probes (profile-997). Error: the description can't be (D_PDESC_INVAL, D_PROC_*). */
	struct ot_err *(*match)(void *env, const struct dif_probedesc *desc,
				bool (*each)(void *arg, const struct dif_probe_info *probe), void *arg,
				uint64_t *ret_count);
	/* The program is compiled for other worlds too, and @desc matches probes there only: @each is called
	 * for those. What is compiled for it here need not succeed, and is enabled nowhere. */
	bool (*elsewhere)(void *env, const struct dif_probedesc *desc,
			  bool (*each)(void *arg, const struct dif_probe_info *probe), void *arg);
	/* The reason why the probes of @desc can't be enabled, for the message that it matches none; appended
	 * to @out. False: there is nothing of that name. */
	bool (*why_none)(void *env, const struct dif_probedesc *desc, struct ot_buf *out);
	/* Append to @out a suggestion for a description that matches nothing and that nothing refuses. False:
	 * there is none. */
	bool (*hint_probe)(void *env, const struct dif_probedesc *desc, struct ot_buf *out);
	/* The meaning in this world of @desc, which has another system's name of a probe. False: it needs no
	 * translation. *ret borrows from @desc and from constants. */
	bool (*named_here)(void *env, const struct dif_probedesc *desc, struct dif_probedesc *ret);
	/* args[n] of a probe. False: no such argument. */
	bool (*probe_arg)(void *env, uint32_t probe_id, unsigned n, struct dif_probe_arg *ret);
	/* Does this fifth, leftmost field match an attached guest? */
	bool (*match_guest)(void *env, const char *pattern);
	/* #pragma D depends_on KIND NAME. */
	bool (*has_dependency)(void *env, const char *kind, const char *name);
	/* Is there such a process, for the pid provider? NULL: unknown. */
	bool (*has_process)(void *env, int64_t pid);
	/* Value of $name macro variables: pid uid target …; false: unknown. */
	bool (*macro)(void *env, const char *name, int64_t *ret);
	/* print()'s and -v's texts of stability; NULL: Private/Private/Unknown */
	bool (*attributes)(void *env, const char *provider, struct dif_attribute ret[DIF_ATTR_PARTS]);
};

#endif
