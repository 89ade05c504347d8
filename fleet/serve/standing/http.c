/* SPDX-License-Identifier: GPL-2.0-or-later */
/* HTTP by libmicrohttpd. Clients are untrusted: connections, their memory and their time are limited. */
#include "fleet/serve/standing/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#define CONNECTIONS  16u
#define PER_ADDRESS  8u
#define TIMEOUT_S    10u
#define MEMORY_BYTES (16u << 10) /* of a connection, for its request */

static const char text_type[] = "text/plain; version=0.0.4; charset=utf-8";

struct fl_http {
	struct fl_http_config config;
	struct MHD_Daemon *daemon;
	int fd;
};

/* @p text is the library's from now on. */
static enum MHD_Result answer(struct MHD_Connection *c, unsigned status, char *text, size_t len)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);

	if (!r) {
		free(text);
		return MHD_NO; /* the connection is closed */
	}
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, text_type);
	MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	enum MHD_Result result = MHD_queue_response(c, status, r);

	MHD_destroy_response(r);
	return result;
}

static enum MHD_Result answer_text(struct MHD_Connection *c, unsigned status, const char *text)
{
	char *copy = strdup(text);

	return copy ? answer(c, status, copy, strlen(copy)) : MHD_NO;
}

static enum MHD_Result answer_page(const struct fl_http *http, struct MHD_Connection *c)
{
	struct ot_buf page;

	ot_buf_init(&page);
	struct ot_err *err = http->config.page(http->config.arg, &page);

	if (err) {
		enum MHD_Result result = answer_text(c, MHD_HTTP_INTERNAL_SERVER_ERROR, ot_err_message(err));

		ot_err_destroy(err);
		ot_buf_deinit(&page);
		return result;
	}
	size_t len = page.len;
	char *text = ot_buf_take(&page);

	return text ? answer(c, MHD_HTTP_OK, text, len) : MHD_NO;
}

static enum MHD_Result take(void *arg, struct MHD_Connection *c, const char *url, const char *method,
			    const char *version, const char *data, size_t *size, void **state)
{
	static int headers_came;

	(void)version, (void)data;
	if (!*state) { /* the headers; the body follows */
		*state = &headers_came;
		return MHD_YES;
	}
	if (*size) {
		*size = 0;
		return MHD_YES;
	}
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return answer_text(c, MHD_HTTP_METHOD_NOT_ALLOWED, "GET and HEAD only\n");
	if (strcmp(url, "/metrics") != 0)
		return answer_text(c, MHD_HTTP_NOT_FOUND, "outsight-serve: /metrics\n");
	return answer_page(arg, c);
}

struct ot_err *fl_http_create(const struct fl_http_config *config, struct fl_http **ret)
{
	const union MHD_DaemonInfo *info;
	struct fl_http *http = calloc(1, sizeof(*http));
	const bool v6 = config->address->any.sa_family == AF_INET6;

	if (!http)
		return ot_err_nomem();
	http->config = *config;
	errno = 0;
	http->daemon = MHD_start_daemon(
	    MHD_USE_EPOLL | (v6 ? MHD_USE_IPv6 : 0), 0, NULL, NULL, take, http, MHD_OPTION_SOCK_ADDR,
	    &config->address->any, MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u, MHD_OPTION_CONNECTION_LIMIT,
	    CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT, PER_ADDRESS, MHD_OPTION_CONNECTION_TIMEOUT,
	    TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_BYTES, MHD_OPTION_END);
	info = http->daemon ? MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	if (!info) {
		struct ot_err *err = ot_err_os(errno ? errno : EADDRNOTAVAIL,
					       "metrics can't be served at the address of serve.conf");

		fl_http_destroy(http);
		return err;
	}
	http->fd = info->epoll_fd;
	*ret = http;
	return NULL;
}

void fl_http_destroy(struct fl_http *http)
{
	if (http && http->daemon)
		MHD_stop_daemon(http->daemon);
	free(http);
}

int fl_http_fd(const struct fl_http *http)
{
	return http->fd;
}

void fl_http_run(struct fl_http *http)
{
	MHD_run(http->daemon);
}

uint16_t fl_http_port(const struct fl_http *http)
{
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_LISTEN_FD);
	union fl_address own = { 0 };
	socklen_t len = sizeof(own);

	if (!info || getsockname(info->listen_fd, &own.any, &len))
		return 0;
	return ntohs(own.any.sa_family == AF_INET6 ? own.v6.sin6_port : own.v4.sin_port);
}

int fl_http_timeout_ms(const struct fl_http *http)
{
	MHD_UNSIGNED_LONG_LONG ms;

	if (MHD_get_timeout(http->daemon, &ms) != MHD_YES)
		return -1;
	return ms < 60000u ? (int)ms : 60000;
}
