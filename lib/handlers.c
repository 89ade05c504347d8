/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions of the caller that receive text, faults, drops and messages: dtrace_handle_buffered(3). */
#include <errno.h>

#include "lib/handle.h"

static int check(dtrace_hdl_t *h, bool is_set, bool is_null)
{
	if (is_null)
		return lib_fail(h, EINVAL);
	return is_set ? lib_fail_text(h, EBUSY, "There is such a handler already") : 0;
}

int dtrace_handle_buffered(dtrace_hdl_t *h, dtrace_handle_buffered_f *handler, void *arg)
{
	if (check(h, h->handlers.buffered, !handler))
		return -1;
	h->handlers.buffered = handler;
	h->handlers.buffered_arg = arg;
	return 0;
}

int dtrace_handle_err(dtrace_hdl_t *h, dtrace_handle_err_f *handler, void *arg)
{
	if (check(h, h->handlers.err, !handler))
		return -1;
	h->handlers.err = handler;
	h->handlers.err_arg = arg;
	return 0;
}

int dtrace_handle_drop(dtrace_hdl_t *h, dtrace_handle_drop_f *handler, void *arg)
{
	if (check(h, h->handlers.drop, !handler))
		return -1;
	h->handlers.drop = handler;
	h->handlers.drop_arg = arg;
	return 0;
}

void outsight_handle_message(dtrace_hdl_t *h, outsight_message_f *handler, void *arg)
{
	h->handlers.message = handler;
	h->handlers.message_arg = arg;
}
