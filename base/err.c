/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Errors as values: making, prefixing and reading them. */
#define OT_ERR_IMPLEMENTATION
#include "base/err.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct ot_err {
	enum ot_err_code code;
	int os_errno;
	char *message;
};

/* Reporting that memory ran out must not need memory. */
static struct ot_err no_memory = {
	.code = OT_ERR_NO_MEMORY,
	.message = (char *)"out of memory",
};

struct ot_err *ot_err_nomem(void)
{
	return &no_memory;
}

struct ot_err *ot_err_vnew(enum ot_err_code code, const char *fmt, va_list ap)
{
	struct ot_err *err = calloc(1, sizeof(*err));

	if (!err)
		return &no_memory;
	if (vasprintf(&err->message, fmt, ap) < 0) {
		free(err);
		return &no_memory;
	}
	err->code = code;
	return err;
}

struct ot_err *ot_err_new(enum ot_err_code code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	struct ot_err *err = ot_err_vnew(code, fmt, ap);
	va_end(ap);
	return err;
}

struct ot_err *ot_err_os(int os_errno, const char *fmt, ...)
{
	va_list ap;
	char reason[128];

	va_start(ap, fmt);
	struct ot_err *err = ot_err_vnew(OT_ERR_OS, fmt, ap);
	va_end(ap);
	if (err == &no_memory)
		return err;

	char *whole = NULL;
	const char *text = strerror_r(os_errno, reason, sizeof(reason));
	if (asprintf(&whole, "%s: %s", err->message, text) < 0) {
		ot_err_destroy(err);
		return &no_memory;
	}
	free(err->message);
	err->message = whole;
	err->os_errno = os_errno;
	if (os_errno == EACCES || os_errno == EPERM)
		err->code = OT_ERR_PERMISSION;
	return err;
}

struct ot_err *ot_err_prefix(struct ot_err *err, const char *fmt, ...)
{
	va_list ap;
	char *context = NULL, *whole = NULL;

	if (!err || err == &no_memory)
		return err;
	va_start(ap, fmt);
	int n = vasprintf(&context, fmt, ap);
	va_end(ap);
	if (n < 0)
		return err; /* the context is lost, the error is not */
	n = asprintf(&whole, "%s: %s", context, err->message);
	free(context);
	if (n < 0)
		return err;
	free(err->message);
	err->message = whole;
	return err;
}

void ot_err_destroy(struct ot_err *err)
{
	if (!err || err == &no_memory)
		return;
	free(err->message);
	free(err);
}

enum ot_err_code ot_err_code(const struct ot_err *err)
{
	return err->code;
}

const char *ot_err_message(const struct ot_err *err)
{
	return err->message;
}

int ot_err_errno(const struct ot_err *err)
{
	return err->os_errno;
}
