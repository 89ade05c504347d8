/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One page by HTTP, /metrics, without a thread: the caller polls and runs it. */
#ifndef FLEET_SERVE_STANDING_HTTP_H
#define FLEET_SERVE_STANDING_HTTP_H

#include "base/buf.h"
#include "base/err.h"
#include "fleet/serve/conf.h"

struct fl_http;

struct fl_http_config {
	const union fl_address *address;
	/** Append the page. */
	struct ot_err *(*page)(void *arg, struct ot_buf *out);
	void *arg;
};

OT_MUST_CHECK struct ot_err *fl_http_create(const struct fl_http_config *config, struct fl_http **ret);
void fl_http_destroy(struct fl_http *http);
/** Readable when fl_http_run() has something to do. */
int fl_http_fd(const struct fl_http *http);
void fl_http_run(struct fl_http *http);
/** The port that it listens on, if the address has port 0. */
uint16_t fl_http_port(const struct fl_http *http);
/** The time in ms until fl_http_run() is due; -1: not before an event. */
int fl_http_timeout_ms(const struct fl_http *http);

#endif
