/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The last error of a handle: a number, and a text with the remedy. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/handle.h"

static const char *const texts[] = {
	[OUTSIGHT_E_VERSION - OUTSIGHT_E_VERSION] = "Client requested version newer than library",
	[OUTSIGHT_E_COMPILER - OUTSIGHT_E_VERSION] = "Error in D program",
	[OUTSIGHT_E_OPTION_NAME - OUTSIGHT_E_VERSION] = "Invalid option name",
	[OUTSIGHT_E_OPTION_VALUE - OUTSIGHT_E_VERSION] = "Invalid value for specified option",
	[OUTSIGHT_E_ACTIVE - OUTSIGHT_E_VERSION] = "Operation illegal when tracing is active",
	[OUTSIGHT_E_NO_BUFFERED - OUTSIGHT_E_VERSION] =
	    "No buffered output handler: pass a stream, or call dtrace_handle_buffered()",
	[OUTSIGHT_E_ABORTED - OUTSIGHT_E_VERSION] = "Aborted by a callback",
	[OUTSIGHT_E_CALLBACK - OUTSIGHT_E_VERSION] = "Invalid value returned by a callback",
	[OUTSIGHT_E_FAULT - OUTSIGHT_E_VERSION] = "Error on enabled probe",
	[OUTSIGHT_E_DROP - OUTSIGHT_E_VERSION] = "Data were lost",
	[OUTSIGHT_E_NO_SYMBOL - OUTSIGHT_E_VERSION] = "No symbol corresponds to address",
	[OUTSIGHT_E_GUEST - OUTSIGHT_E_VERSION] = "The guest can't be traced",
	[OUTSIGHT_E_DATA - OUTSIGHT_E_VERSION] = "Invalid data",
	[OUTSIGHT_E_LIMIT - OUTSIGHT_E_VERSION] = "Too large",
	[OUTSIGHT_E_UNSUPPORTED - OUTSIGHT_E_VERSION] = "Not supported here",
	[OUTSIGHT_E_INTERNAL - OUTSIGHT_E_VERSION] = "Internal error",
};

int lib_fail(dtrace_hdl_t *h, int error)
{
	free(h->message);
	h->message = NULL;
	h->error = error;
	return -1;
}

int lib_fail_text(dtrace_hdl_t *h, int error, const char *fmt, ...)
{
	va_list ap;

	lib_fail(h, error);
	va_start(ap, fmt);
	if (vasprintf(&h->message, fmt, ap) < 0)
		h->message = NULL; /* the number's own text remains */
	va_end(ap);
	return -1;
}

static int number_of(const struct ot_err *err)
{
	switch (ot_err_code(err)) {
	case OT_ERR_NO_MEMORY:
		return ENOMEM;
	case OT_ERR_OS:
	case OT_ERR_PERMISSION:
		return ot_err_errno(err) ? ot_err_errno(err) : EPERM;
	case OT_ERR_BUSY:
		return EBUSY;
	case OT_ERR_SYNTAX:
		return OUTSIGHT_E_COMPILER;
	case OT_ERR_NOT_FOUND:
	case OT_ERR_GUEST_GONE:
	case OT_ERR_FAULT:
		return OUTSIGHT_E_GUEST;
	case OT_ERR_BAD_DATA:
		return OUTSIGHT_E_DATA;
	case OT_ERR_LIMIT:
		return OUTSIGHT_E_LIMIT;
	case OT_ERR_UNSUPPORTED:
		return OUTSIGHT_E_UNSUPPORTED;
	case OT_ERR_INTERNAL:
		break;
	}
	return OUTSIGHT_E_INTERNAL;
}

int lib_result(dtrace_hdl_t *h, struct ot_err *err)
{
	if (!err)
		return 0;
	if (!h->is_noted)
		lib_fail_text(h, number_of(err), "%s", ot_err_message(err));
	h->is_noted = false;
	ot_err_destroy(err);
	return -1;
}

struct ot_err *lib_err(dtrace_hdl_t *h, int error)
{
	lib_fail(h, error);
	h->is_noted = true;
	return ot_err_new(OT_ERR_INTERNAL, "%s", dtrace_errmsg(h, error));
}

void lib_keep_error(dtrace_hdl_t *h, int error, const char *text)
{
	if (h->pending_error)
		return;
	h->pending_error = error;
	h->pending_message = strdup(text);
}

int lib_take_error(dtrace_hdl_t *h)
{
	if (!h->pending_error)
		return 0;
	lib_fail(h, h->pending_error);
	h->message = h->pending_message;
	h->pending_error = 0;
	h->pending_message = NULL;
	return -1;
}

void lib_report(dtrace_hdl_t *h, const char *text)
{
	if (h->handlers.message)
		h->handlers.message(text, h->handlers.message_arg);
}

void lib_report_note(void *arg, bool missing, const char *text)
{
	(void)missing;
	lib_report(arg, text);
}

/* Recursive: a callback may use another handle. */
static pthread_mutex_t turn = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void lib_begin(dtrace_hdl_t *h)
{
	pthread_mutex_lock(&turn);
	h->busy = true;
}

void lib_end(dtrace_hdl_t *h)
{
	h->busy = false;
	pthread_mutex_unlock(&turn);
}

int lib_check_idle(dtrace_hdl_t *h)
{
	if (!h->busy) {
		h->is_noted = false; /* of an error that was not passed on */
		return 0;
	}
	return lib_fail_text(h, EBUSY, "A callback can't call this function of its own handle");
}

int lib_check_going(dtrace_hdl_t *h)
{
	if (lib_check_idle(h))
		return -1;
	if (h->state != LIB_IDLE)
		return 0;
	return lib_fail_text(h, EINVAL, "Tracing has not begun: dtrace_go() comes first");
}

int dtrace_errno(dtrace_hdl_t *h)
{
	return h->error;
}

const char *dtrace_errmsg(dtrace_hdl_t *h, int error)
{
	size_t i = (size_t)error - OUTSIGHT_E_VERSION;

	if (h && h->error == error && h->message)
		return h->message;
	if (error >= OUTSIGHT_E_VERSION)
		return i < OT_ARRAY_SIZE(texts) ? texts[i] : "Unknown error";
	/* strerror() is not thread-safe */
	const char *text = error ? strerrordesc_np(error) : "No error";
	return text ? text : "Unknown error";
}
