/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Errors as values.
 *
 * A function that can fail returns `struct ot_err *`: NULL is success, else the
 * caller owns the error and must ot_err_destroy() it or pass it on. Outputs
 * come last, are named `ret` or `ret_x`, and are set only on success.
 * Errors are not shared between threads.
 */
#ifndef OT_BASE_ERR_H
#define OT_BASE_ERR_H

#include <stdarg.h>

#include "base/compiler.h"

/* What the caller can do about it, not where it came from. */
enum ot_err_code {
	OT_ERR_NO_MEMORY = 1,
	OT_ERR_OS,    /* a system call failed; errno is kept */
	OT_ERR_FAULT, /* a guest address is not mapped or not RAM */
	OT_ERR_NOT_FOUND,
	OT_ERR_BAD_DATA,    /* hostile or broken input */
	OT_ERR_UNSUPPORTED, /* this backend, host or guest can't do that */
	OT_ERR_PERMISSION,
	OT_ERR_BUSY,
	OT_ERR_LIMIT,
	OT_ERR_SYNTAX,
	OT_ERR_GUEST_GONE,
	OT_ERR_INTERNAL,
};

struct ot_err;

/** Make an error with a printf-style message. Never NULL: without memory it is
 * the static no-memory error. */
OT_MUST_CHECK OT_NONNULL_RESULT struct ot_err *ot_err_new(enum ot_err_code code, const char *fmt, ...)
    OT_PRINTF(2, 3);
OT_MUST_CHECK OT_NONNULL_RESULT struct ot_err *ot_err_vnew(enum ot_err_code code, const char *fmt, va_list ap)
    OT_PRINTF(2, 0);

/** Make an OT_ERR_OS error from errno value @p err; ": strerror" is appended.
 * EACCES and EPERM make it OT_ERR_PERMISSION. */
OT_MUST_CHECK OT_NONNULL_RESULT struct ot_err *ot_err_os(int err, const char *fmt, ...) OT_PRINTF(2, 3);

/** The static no-memory error; allocates nothing, needs no destroy. */
OT_MUST_CHECK OT_NONNULL_RESULT struct ot_err *ot_err_nomem(void);

/** Put "context: " in front of @p err's message and hand it on (NULL stays NULL). */
OT_MUST_CHECK struct ot_err *ot_err_prefix(struct ot_err *err, const char *fmt, ...) OT_PRINTF(2, 3);

/** Free an error. NULL and the static error are fine. */
void ot_err_destroy(struct ot_err *err);

/** Getters; strings live as long as @p err. ot_err_errno() is 0 when none. */
enum ot_err_code ot_err_code(const struct ot_err *err);
const char *ot_err_message(const struct ot_err *err);
int ot_err_errno(const struct ot_err *err);

/* clang's analyzer ignores returns_nonnull: without this it follows each error as if there were
 * none. */
#if defined(__clang_analyzer__) && !defined(OT_ERR_IMPLEMENTATION)
#define OT_ERR_IS_ONE(call)                 \
	({                                  \
		struct ot_err *one_ = call; \
		if (!one_)                  \
			__builtin_trap();   \
		one_;                       \
	})
#define ot_err_new(...)  OT_ERR_IS_ONE(ot_err_new(__VA_ARGS__))
#define ot_err_vnew(...) OT_ERR_IS_ONE(ot_err_vnew(__VA_ARGS__))
#define ot_err_os(...)   OT_ERR_IS_ONE(ot_err_os(__VA_ARGS__))
#define ot_err_nomem()   OT_ERR_IS_ONE(ot_err_nomem())
#endif

/* Return from the calling function when @p expr fails. */
#define OT_TRY(expr)                                 \
	do {                                         \
		struct ot_err *ot_try_err_ = (expr); \
		if (ot_try_err_)                     \
			return ot_try_err_;          \
	} while (0)

#endif
