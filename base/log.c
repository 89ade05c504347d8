/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The system's log: lines, and their way to the logger. */
#include "base/log.h"

#include <ctype.h>
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"

#define PATIENCE_S 5

void ot_log_put_text(struct ot_buf *out, const char *text, size_t max)
{
	size_t start = out->len;
	bool blank = false;

	for (; *text && out->len - start < max; text++) {
		unsigned char c = (unsigned char)*text;
		if (isspace(c)) {
			blank = true;
			continue;
		}
		if (blank)
			ot_buf_putc(out, ' ');
		ot_buf_putc(out, c < 0x20 || c > 0x7e || c == '"' ? '?' : (char)c);
		blank = false;
	}
	if (*text)
		ot_buf_puts(out, "...");
}

/* Loggers take datagrams, or, older ones, a stream in which a NUL ends a line. -1: there is none. */
static int dial(int *ret_type)
{
	static const int types[] = { SOCK_DGRAM, SOCK_STREAM };
	const struct sockaddr_un addr = { .sun_family = AF_UNIX, .sun_path = _PATH_LOG };

	for (size_t i = 0; i < OT_ARRAY_SIZE(types); i++) {
		ot_auto_close int sock = socket(AF_UNIX, types[i] | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		if (sock < 0)
			return -1;
		if (!connect(sock, (const struct sockaddr *)&addr, sizeof(addr))) {
			*ret_type = types[i];
			return ot_move_fd(sock);
		}
		if (errno != EPROTOTYPE)
			return -1;
	}
	return -1;
}

/* The month's name is not the locale's. */
static void put_head(struct ot_buf *out)
{
	static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	time_t now = time(NULL);
	struct tm t = { 0 };

	localtime_r(&now, &t);
	ot_buf_printf(out, "<%d>%.3s %2d %02d:%02d:%02d outsight[%d]: ", LOG_AUTHPRIV | LOG_NOTICE,
		      months + 3 * (t.tm_mon % 12), t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, (int)getpid());
}

static bool deliver(int sock, const void *line, size_t len, bool patient)
{
	struct pollfd ready = { .fd = sock, .events = POLLOUT };
	ssize_t n = send(sock, line, len, MSG_NOSIGNAL);

	if (n < 0 && errno == EAGAIN && patient && poll(&ready, 1, PATIENCE_S * 1000) > 0)
		n = send(sock, line, len, MSG_NOSIGNAL);
	return n == (ssize_t)len;
}

bool ot_log_send(const char *line, bool patient)
{
	ot_auto(ot_buf_deinit) struct ot_buf text;
	int type = SOCK_DGRAM;
	ot_auto_close int sock = dial(&type);

	ot_buf_init(&text);
	if (sock < 0)
		return false;
	put_head(&text);
	ot_buf_puts(&text, line);
	return !text.failed && deliver(sock, text.data, text.len + (type == SOCK_STREAM), patient);
}

bool ot_log_listens(void)
{
	int type;
	ot_auto_close int sock = dial(&type);

	return sock >= 0;
}
