/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The texts of a session compiled into one program, once for each kernel that its guests run. Nothing is
 * printed: the caller reports errors and their places. */
#ifndef CONSUMER_COMPILE_H
#define CONSUMER_COMPILE_H

#include "consumer/texts.h"
#include "vmm-probe/session/session.h"

/* One text, compiled. */
struct con_compiled {
	const char *what;          /* "script" or "description" */
	char *name;                /* for messages: a description is cut where its predicate or body begins */
	uint32_t first, end;       /* its clauses for the first kernel */
	uint64_t matched;          /* probes, in all guests */
	struct dif_attribute used; /* the lowest stability that its clauses use */
};

/* The place of a compilation's failure, besides its error. */
struct con_failure {
	char *context;               /* "invalid probe specifier …"; owned; NULL: the error is sufficient */
	const struct dif_diag *diag; /* an error of D, the compiler's; NULL: another */
	bool in_source;              /* it is in this text: */
	struct dif_source source;    /* borrowed from the texts */
	bool in_library;             /* … or while the D libraries were compiled */
};

struct con_compilation {
	struct dif_compiler *comps[VP_GUESTS_MAX]; /* one for each kernel of the session */
	uint32_t ncomps;
	struct dif_program prog;
	struct con_compiled *units; /* of each text */
	size_t nunits, units_cap;
	uint64_t matched; /* of all */
	struct con_failure failure;
	/* Set before: */
	bool syntax_only;                          /* clauses are only parsed: there is no guest yet */
	void (*list)(void *arg, const char *text); /* gets the listings of -S and -x tree; NULL: none */
	void *list_arg;
	/** Called for each compiler before its first source: dif_compiler_expect(); NULL. */
	struct ot_err *(*expect)(void *arg, struct dif_compiler *comp);
	void *expect_arg;
};

/** Libraries, then texts in order, for each kernel that the session's guests run. @p c is to be deinited in
 * any case. After an error c->failure has the place, and @p c must not be used further. SYNTAX: an error of
 * D, c->failure.diag. */
OT_MUST_CHECK struct ot_err *con_compile(struct con_compilation *c, const struct con_texts *texts,
					 struct vp_session *s);

/** The texts that were added to @p texts since, into the same program; the first time it is con_compile().
 * After an error the texts before are as they were; take the new ones out of @p texts. */
OT_MUST_CHECK struct ot_err *con_compile_more(struct con_compilation *c, const struct con_texts *texts,
					      struct vp_session *s);

/** All texts for the last kernel of the session, that of a guest which joins. The clauses are appended to the
 * program, and vp_session_reject() removes them after an error. */
OT_MUST_CHECK struct ot_err *con_compile_joining(struct con_compilation *c, const struct con_texts *texts,
						 struct vp_session *s);
/** Go back to @p ncomps compilers, after an error or not; before vp_session_reject(). */
void con_compile_undo(struct con_compilation *c, uint32_t ncomps);

/** compile_saved.c: the program of texts->dof, into a compilation that has none. */
OT_MUST_CHECK struct ot_err *con_compile_saved(struct con_compilation *c, const struct con_texts *texts,
					       struct vp_session *s);

/** Take the clauses from number @p first on out of the program whose text is not to be enabled: @p keep gets
 * its number. Before vp_session_enable(), or, of those that con_compile_joining() has added, before
 * vp_session_join(); only the program is of use afterwards. */
void con_compilation_keep(struct con_compilation *c, uint32_t first, bool (*keep)(void *arg, uint32_t text),
			  void *arg);

/** failure.c: append a compilation's failure as one line: "failed to compile script x.d: line 3: syntax error
 * near …". @p err is the compilation's error. */
void con_failure_print(const struct con_failure *failure, const struct ot_err *err, bool errtags,
		       struct ot_buf *out);

void con_compilation_deinit(struct con_compilation *c);

#endif
