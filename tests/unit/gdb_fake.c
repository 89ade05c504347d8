/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A scripted gdb stub. */
#include "gdb_fake.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

static const char target_xml[] =
    "l<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target>"
    "<architecture>i386:x86-64</architecture><xi:include href=\"regs.xml\"/></target>";
static const char regs_xml[] = "l" REGS "<reg name=\"cr3\" bitsize=\"64\" regnum=\"30\"/></feature>";

static const struct line good[] = {
	{ "qSupported", "PacketSize=100;qXfer:features:read+;vContSupported+" },
	{ "?", "T05thread:01;" },
	{ "qXfer:features:read:target.xml:0", target_xml },
	{ "qXfer:features:read:regs.xml:0", regs_xml },
	{ "qfThreadInfo", "m01" },
	{ "qsThreadInfo", "l" },
	{ "vCont?", "vCont;c;C;s;S" },
	{ "qqemu.PhyMemMode", "0" },
	{ "Qqemu.PhyMemMode", "OK" },
	{ "z1,0,1", "E22" },
	{ "Hg", "OK" },
	{ "D", "OK" },
	{ NULL, NULL },
};

bool say(int fd, const char *data, size_t len)
{
	return send(fd, data, len, MSG_NOSIGNAL) == (ssize_t)len;
}

static void say_packet(struct fake *f, const char *data, bool wrong)
{
	unsigned sum = wrong;
	char tail[4];

	for (const char *p = data; *p; p++)
		sum += (uint8_t)*p;
	snprintf(tail, sizeof(tail), "#%02x", sum & 0xff);
	say(f->fd, "$", 1);
	say(f->fd, data, strlen(data));
	say(f->fd, tail, 3);
}

static const char *find(const struct line *lines, const char *request)
{
	for (; lines && lines->request; lines++)
		if (!strncmp(lines->request, request, strlen(lines->request)))
			return lines->answer;
	return NULL;
}

/* Registers are their number times 0x0101…, memory at A is the byte A. */
static void make_answer(const char *request, char *out)
{
	char *rest;

	out[0] = '\0';
	if (!strcmp(request, "g")) {
		for (int i = 0; i < 31; i++) {
			int size = i < 17 || i == 20 || i == 30 ? 8 : i < 19 ? 4 : i == 24 ? 10 : 0;
			for (int k = 0; k < size; k++)
				out += sprintf(out, "%02x", i);
		}
	} else if (request[0] == 'm') {
		unsigned long long at = strtoull(request + 1, &rest, 16);
		for (unsigned long n = *rest ? strtoul(rest + 1, NULL, 16) : 0; n; n--)
			out += sprintf(out, "%02x", (unsigned)(at++ & 0xff));
	}
}

static bool answer(struct fake *f, const char *request)
{
	char made[4096];
	const char *text = find(f->lines, request);

	text = text ? text : find(good, request);
	if (!text) {
		make_answer(request, made);
		text = made;
	}
	if (text[0] == SILENT[0])
		return true;
	if (text[0] == CLOSE[0])
		return false;
	if (text[0] == RAW[0])
		return say(f->fd, text + 1, strlen(text + 1));
	if (f->corrupt)
		f->corrupt--, say_packet(f, text, true);
	else
		say_packet(f, text, false);
	return true;
}

static void *serve(void *arg)
{
	struct fake *f = arg;
	char request[2048], last[2048] = "", c;
	size_t n = 0;
	bool inside = false, going = true;

	while (going && read(f->fd, &c, 1) == 1) {
		if (!inside && c == '-' && *last)
			going = answer(f, last);
		if (c == '$') {
			inside = true;
			n = 0;
		} else if (inside && c == '#') {
			char sum[2];
			inside = false;
			request[n] = '\0';
			if (read(f->fd, sum, 1) != 1 || read(f->fd, sum + 1, 1) != 1)
				break;
			if (f->refuse) {
				f->refuse--;
				going = say(f->fd, "-", 1);
				continue;
			}
			if (f->lose && !strncmp(request, f->lose, strlen(f->lose))) {
				f->lose = NULL;
				continue;
			}
			if (f->delay && !strncmp(request, f->delay, strlen(f->delay)))
				usleep(500000);
			memcpy(last, request, n + 1);
			if (f->log_len + n + 2 < sizeof(f->log)) {
				memcpy(f->log + f->log_len, request, n);
				f->log[f->log_len + n] = '\n';
				f->log_len += n + 1;
			}
			going = say(f->fd, "+", 1) && answer(f, request);
		} else if (inside && n < sizeof(request) - 1) {
			request[n++] = c;
		}
	}
	shutdown(f->fd, SHUT_RDWR);
	return NULL;
}

struct vp_gdb_stub stub;

struct ot_err *open_fake(struct fake *f)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	f->fd = fds[0];
	assert_int_equal(pthread_create(&f->thread, NULL, serve, f), 0);
	return vp_gdb_stub_open(&stub, "fake", fds[1]);
}

void close_fake(struct fake *f, enum vp_gdb_leave how)
{
	vp_gdb_stub_close(&stub, how);
	pthread_join(f->thread, NULL);
	close(f->fd);
}

void assert_error(struct ot_err *err, enum ot_err_code code, const char *text)
{
	assert_non_null(err);
	if (!strstr(ot_err_message(err), text) || ot_err_code(err) != code)
		fail_msg("code %d: \"%s\", not %d: \"%s\"", ot_err_code(err), ot_err_message(err), code,
			 text);
	ot_err_destroy(err);
}

void assert_ok(struct ot_err *err)
{
	if (err)
		fail_msg("%s", ot_err_message(err));
}
