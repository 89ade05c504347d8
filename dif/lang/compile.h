/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The D compiler: text to program. One compiler serves a whole session: its globals,
 * aggregations, types and libraries are shared by everything it compiles.
 *
 * dif/ opens no file and knows no guest: types, symbols and probes come through struct
 * dif_world. Errors in a program are diagnostics, returned as values.
 */
#ifndef DIF_LANG_COMPILE_H
#define DIF_LANG_COMPILE_H

#include "base/buf.h"
#include "dif/lang/core/options.h"
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
	bool (*has_module)(void *env, const char *module);

	/* Call @each for probes that match (until it returns false); returns how many matched. May
	 * create probes (profile-997). Error: the description can't be (D_PDESC_INVAL, D_PROC_*). */
	struct ot_err *(*match)(void *env, const struct dif_probedesc *desc,
				bool (*each)(void *arg, const struct dif_probe_info *probe), void *arg,
				uint64_t *ret_count);
	/* Why what @desc names can't be enabled, for the message that it matches no probes; appended to @out.
	 * False: there is nothing of that name. */
	bool (*why_none)(void *env, const struct dif_probedesc *desc, struct ot_buf *out);
	/* What may have been meant by a description that matches nothing and that nothing refuses; appended
	 * to
	 * @out. False: nobody knows. */
	bool (*hint_probe)(void *env, const struct dif_probedesc *desc, struct ot_buf *out);
	/* Type of args[n] of a probe, and which argN holds it. *ret_native_type differs from *ret_type where
	 * a translator is to be applied. False: no such argument. */
	bool (*probe_arg)(void *env, uint32_t probe_id, unsigned n, struct dif_type **ret_native_type,
			  struct dif_type **ret_type, unsigned *ret_mapping);
	/* Does this fifth, leftmost field match an attached guest? */
	bool (*match_guest)(void *env, const char *pattern);
	/* #pragma D depends_on KIND NAME. */
	bool (*has_dependency)(void *env, const char *kind, const char *name);
	/* Is there such a process, that the pid provider could look into? NULL: nobody knows. */
	bool (*has_process)(void *env, int64_t pid);
	/* Value of $name macro variables: pid uid target …; false: unknown. */
	bool (*macro)(void *env, const char *name, int64_t *ret);
	/* print()'s and -v's texts of stability; NULL: Private/Private/Unknown */
	bool (*attributes)(void *env, const char *provider, struct dif_attribute ret[DIF_ATTR_PARTS]);
};

enum dif_source_kind {
	DIF_SOURCE_SCRIPT,       /* -s */
	DIF_SOURCE_COMMAND_LINE, /* -n and friends: a bare specifier is a clause */
	DIF_SOURCE_LIBRARY,
};

/* What a bare word of a command-line specifier means: -P -m -f -n -i. */
enum dif_spec { DIF_SPEC_NAME, DIF_SPEC_FUNCTION, DIF_SPEC_MODULE, DIF_SPEC_PROVIDER, DIF_SPEC_ID };

struct dif_source {
	enum dif_source_kind kind;
	enum dif_spec spec;
	const char *name; /* file name or the specifier, for messages */
	const char *text;
	size_t len;
	const char *const *args; /* $0, $1 … */
	unsigned nargs;
	bool syntax_only; /* clauses are parsed and not compiled: there is nothing yet to compile them for */
};

/* One error. Strings live as long as the compiler. */
struct dif_diag {
	const char *tag;  /* "D_SYNTAX"; NULL: an untagged one */
	const char *file; /* NULL: the source itself */
	uint32_t line;    /* 0: none, then `region` says where ("in action list") */
	uint32_t column;  /* from 1; 0 unknown */
	const char *region;
	const char *message;
	const char *hint; /* what to do; NULL */
};

struct dif_compiler;

/** @p world and @p opts are borrowed for the compiler's life. */
OT_MUST_CHECK struct ot_err *dif_compiler_create(const struct dif_world *world, struct dif_options *opts,
						 struct dif_compiler **ret);
void dif_compiler_destroy(struct dif_compiler *comp);

/**
 * Compile one source and append its clauses to @p prog (with aggregations and option settings).
 * On a D error: returns an OT_ERR_SYNTAX error and *ret_diag describes it (borrowed from the
 * compiler); @p prog is as before, but names that the text defined before its error stay known. @p ret_first
 * is the index of the first new clause.
 */
OT_MUST_CHECK struct ot_err *dif_compile(struct dif_compiler *comp, const struct dif_source *src,
					 struct dif_program *prog, uint32_t *ret_first,
					 const struct dif_diag **ret_diag);

/** How many probes the last compiled source's descriptions matched (one that matched twice by
 * two descriptions counts twice), for "matched N probes". */
uint64_t dif_compiler_matched(const struct dif_compiler *comp);

/** The syntax trees of the last compiled source's clauses that `-x tree` asked for, as text; "" for none.
 * Lives until the next compilation. */
const char *dif_compiler_tree(const struct dif_compiler *comp);

/** The least that any name used in the last compiled source's clauses has. */
struct dif_attribute dif_compiler_used(const struct dif_compiler *comp);

/** What `#pragma D attributes … provider NAME PART` said in this session; false: nothing. */
bool dif_compiler_provider_attribute(const struct dif_compiler *comp, const char *provider,
				     enum dif_attr_part part, struct dif_attribute *ret);

/** dtrace's text of a diagnostic: "line 3: syntax error near …", with "[TAG] " in front under
 * errtags. */
void dif_diag_print(const struct dif_diag *diag, bool errtags, struct ot_buf *out);

/** A type's D name: "struct task_struct *", "int [10]". */
void dif_type_print(struct dif_type *type, struct ot_buf *out);

#endif
