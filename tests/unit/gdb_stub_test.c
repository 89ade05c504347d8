/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Talking to gdb stubs: a scripted one on the other end of a socket, that is well or ill behaved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/compiler.h"
#include "vmm-probe/backend/gdb/keeper.h"
#include "vmm-probe/backend/gdb/stub.h"
#include "vmm-probe/backend/gdb/taken.h"

/* Instead of an answer. */
#define SILENT "\1"
#define CLOSE  "\2"
#define RAW    "\3" /* what follows is sent as it is, without $ and checksum */

/* What is answered to requests that begin so; the first that fits. */
struct line {
	const char *request, *answer;
};

static const char target_xml[] =
    "l<?xml version=\"1.0\"?><!DOCTYPE target SYSTEM \"gdb-target.dtd\"><target>"
    "<architecture>i386:x86-64</architecture><xi:include href=\"regs.xml\"/></target>";
#define R(name) "<reg name=\"" name "\" bitsize=\"64\" type=\"int64\"/>"
#define REGS                                                                                             \
	"<feature name=\"org.gnu.gdb.i386.core\">" R("rax") R("rbx") R("rcx") R("rdx") R("rsi") R("rdi") \
	    R("rbp") R("rsp") R("r8") R("r9") R("r10") R("r11") R("r12") R("r13") R("r14") R("r15")      \
		R("rip") "<reg name=\"eflags\" bitsize=\"32\"/><reg name=\"cs\" bitsize=\"32\"/>"        \
			 "<reg name=\"st0\" bitsize=\"80\" regnum=\"24\"/><reg name=\"gs_base\" "        \
			 "bitsize=\"64\" regnum=\"20\"/>"
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

struct fake {
	int fd;
	const struct line *lines; /* before the good ones; NULL: none */
	unsigned corrupt;         /* so many of the next packets are sent with a wrong checksum first */
	unsigned refuse;          /* so many of the next requests are refused */
	const char *lose;         /* the next request with this prefix is ignored; NULL: none */
	const char *delay;        /* one that begins so is answered late */
	char log[8192];           /* requests, each with a newline behind it; as many as there is room for */
	size_t log_len;
	pthread_t thread;
};

static bool say(int fd, const char *data, size_t len)
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

static struct vp_gdb_stub stub;

static struct ot_err *open_fake(struct fake *f)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	f->fd = fds[0];
	assert_int_equal(pthread_create(&f->thread, NULL, serve, f), 0);
	return vp_gdb_stub_open(&stub, "fake", fds[1]);
}

static void close_fake(struct fake *f, enum vp_gdb_leave how)
{
	vp_gdb_stub_close(&stub, how);
	pthread_join(f->thread, NULL);
	close(f->fd);
}

static void assert_error(struct ot_err *err, enum ot_err_code code, const char *text)
{
	assert_non_null(err);
	if (!strstr(ot_err_message(err), text) || ot_err_code(err) != code)
		fail_msg("code %d: \"%s\", not %d: \"%s\"", ot_err_code(err), ot_err_message(err), code,
			 text);
	ot_err_destroy(err);
}

static void assert_ok(struct ot_err *err)
{
	if (err)
		fail_msg("%s", ot_err_message(err));
}

/* --- a good one ----------------------------------------------------------------------------------------- */

static void test_registers_and_memory(void **state)
{
	struct fake f = { 0 };
	struct vp_regs regs = { 0 };
	uint8_t bytes[1000];
	bool done;

	(void)state;
	assert_ok(open_fake(&f));
	assert_int_equal(stub.nthreads, 1);
	assert_ok(vp_gdb_read_regs(&stub, 0, &regs));
	assert_int_equal(regs.v[VP_RAX], 0);
	assert_int_equal(regs.v[VP_RSP], 0x0707070707070707);
	assert_int_equal(regs.v[VP_RIP], 0x1010101010101010);
	assert_int_equal(regs.v[VP_RFLAGS], 0x11111111);
	assert_int_equal(regs.v[VP_CS], 0x12121212);
	assert_int_equal(regs.v[VP_GS_BASE], 0x1414141414141414);
	assert_int_equal(regs.v[VP_CR3], 0x1e1e1e1e1e1e1e1e);
	assert_false(regs.valid & VP_REG_BIT(VP_CR4));
	assert_ok(vp_gdb_read(&stub, true, 0x1001, bytes, sizeof(bytes)));
	for (size_t i = 0; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], (0x1001 + i) & 0xff);
	assert_ok(vp_gdb_write_rip(&stub, 0, 0x1122334455667788, &done));
	assert_false(done); /* it knows no P, and is not asked again */
	assert_ok(vp_gdb_write_rip(&stub, 0, 1, &done));
	close_fake(&f, VP_GDB_LET_RUN);
	assert_non_null(strstr(f.log, "Hg01\nP10=8877665544332211\nQqemu.PhyMemMode:0\nD\n"));
	assert_non_null(strstr(f.log, "Qqemu.PhyMemMode:1\nm1001,80\nm1081,80\n"));
}

static void test_breakpoints_and_steps(void **state)
{
	const struct line lines[] = { { "Z1,ffffffff81000000,1", "OK" },
				      { "vCont;s:01", "T05thread:01;" },
				      { "Z0", "E16" },
				      { NULL, NULL } };
	struct fake f = { .lines = lines };

	(void)state;
	assert_ok(open_fake(&f));
	assert_ok(vp_gdb_break(&stub, VP_GDB_HARDWARE, 0xffffffff81000000, true));
	assert_error(vp_gdb_break(&stub, VP_GDB_SOFTWARE, 0xffffffff81000000, true), OT_ERR_UNSUPPORTED,
		     "refuses");
	assert_error(vp_gdb_break(&stub, VP_GDB_HARDWARE, 0xffffffff81000010, true), OT_ERR_UNSUPPORTED,
		     "refuses");
	assert_ok(vp_gdb_step(&stub, 0));
	close_fake(&f, VP_GDB_LEAVE_STOPPED);
	assert_null(strstr(f.log, "D\n"));
}

/* --- a target that another client resumes --------------------------------------------------------------- */

static unsigned times(const char *log, const char *text)
{
	unsigned n = 0;

	for (const char *at = strstr(log, text); at; at = strstr(at + 1, text))
		n++;
	return n;
}

static const struct line fenced[] = { { "qC", "QC01" },
				      { "P10=", "OK" },
				      { "vCont;s:01", "T05thread:01;" },
				      { "vCont;c", SILENT },
				      { NULL, NULL } };

static void test_lost_requests(void **state)
{
	struct fake f = { .lines = fenced };
	uint8_t byte;
	bool runs;

	(void)state;
	assert_ok(open_fake(&f));
	f.lose = "m";
	assert_ok(vp_gdb_read(&stub, false, 0x1001, &byte, 1));
	assert_int_equal(byte, 1);
	assert_int_equal(stub.lost, 1);
	f.lose = "vCont;c";
	assert_ok(vp_gdb_continue(&stub, &runs));
	assert_false(runs);
	assert_ok(vp_gdb_continue(&stub, &runs));
	assert_true(runs);
	f.lose = "vCont;s";
	assert_ok(vp_gdb_step(&stub, 0));
	assert_int_equal(stub.lost, 3);
	close_fake(&f, VP_GDB_LET_RUN);
	assert_int_equal(times(f.log, "vCont;s"),
			 0); /* after a step the address is checked, and the step is repeated */
}

/* The vCPU is elsewhere by then. */
static void test_lost_register_write(void **state)
{
	struct fake f = { .lines = fenced };
	bool done;

	(void)state;
	assert_ok(open_fake(&f));
	assert_ok(vp_gdb_write_rip(&stub, 0, 1, &done));
	assert_true(done);
	f.lose = "P";
	assert_ok(vp_gdb_write_rip(&stub, 0, 2, &done));
	assert_false(done);
	assert_ok(vp_gdb_write_rip(&stub, 0, 3, &done));
	assert_false(done);
	close_fake(&f, VP_GDB_LET_RUN);
	assert_int_equal(times(f.log, "P10="), 1);
}

static void test_late_answers(void **state)
{
	struct fake f = { .lines = fenced, .delay = "m" };
	uint8_t bytes[4];

	(void)state;
	assert_ok(open_fake(&f));
	assert_ok(vp_gdb_read(&stub, false, 0x1001, bytes, 4));
	assert_memory_equal(bytes, "\1\2\3\4", 4);
	assert_ok(vp_gdb_read(&stub, false, 0x1005, bytes, 4));
	assert_memory_equal(bytes, "\5\6\7\10", 4);
	assert_int_equal(stub.lost, 0);
	close_fake(&f, VP_GDB_LET_RUN);
	assert_int_equal(times(f.log, "m1001,4"), 1); /* so it was not asked twice */
}

/* What QEMU's monitor says of itself, and a stop that shows that it ran. */
static void is_held(const char *status, bool expected)
{
	const struct line lines[] = { { "qC", "QC01" }, { "qRcmd,", status }, { NULL, NULL } };
	struct fake f = { .lines = lines };
	bool held = !expected;

	assert_ok(open_fake(&f));
	assert_ok(vp_gdb_is_held(&stub, &held));
	assert_int_equal(held, expected);
	close_fake(&f, VP_GDB_UNHEARD);
}

static void test_who_holds_it(void **state)
{
	(void)state;
	is_held(RAW "$O564d207374617475733a207061757365640d0a#c5$OK#9a", true);
	is_held(RAW "$O564d207374617475733a2070617573656420286465627567290d0a#12$OK#9a", false);
	is_held(RAW "$T02thread:01;#04"
		    "$O564d207374617475733a207061757365640d0a#c5$OK#9a",
		false);
	is_held("", true); /* no monitor: nothing is known */
	is_held("OK", true);
}

/* --- bad packets ---------------------------------------------------------------------------------------- */

static void test_wrong_checksums(void **state)
{
	struct fake some = { .corrupt = 3 }, all = { .corrupt = 100 };

	(void)state;
	assert_ok(open_fake(&some));
	close_fake(&some, VP_GDB_LET_RUN);
	assert_error(open_fake(&all), OT_ERR_BAD_DATA, "fake is not a gdb stub");
	close_fake(&all, VP_GDB_UNHEARD);
}

static void test_refused_requests(void **state)
{
	struct fake some = { .refuse = 3 }, all = { .refuse = 100 };

	(void)state;
	assert_ok(open_fake(&some));
	close_fake(&some, VP_GDB_LET_RUN);
	assert_error(open_fake(&all), OT_ERR_BAD_DATA, "fake is not a gdb stub");
	close_fake(&all, VP_GDB_UNHEARD);
}

/* Read the registers from @answer, the reply to `g`. */
static struct ot_err *regs_of(const char *text, struct vp_regs *ret)
{
	const struct line lines[] = { { "g", text }, { NULL, NULL } };
	struct fake f = { .lines = lines };

	struct ot_err *err = open_fake(&f); /* which asks for them too */
	if (!err)
		err = vp_gdb_read_regs(&stub, 0, ret);
	close_fake(&f, VP_GDB_UNHEARD);
	return err;
}

static void test_encodings(void **state)
{
	struct vp_regs regs = { 0 };
	uint8_t bytes[8];
	/* 16 digits 0 as one and a run of 15 more; a } stands for itself as }] */
	const struct line lines[] = { { "m10,8", "0*,1" },
				      { "m20,1", "}\x10"
						 "0" },
				      { NULL, NULL } };
	struct fake f = { .lines = lines };

	(void)state;
	assert_ok(open_fake(&f));
	assert_error(vp_gdb_read(&stub, false, 0x10, bytes, 8), OT_ERR_BAD_DATA,
		     "not hexadecimal memory"); /* 17 digits */
	assert_ok(vp_gdb_read(&stub, false, 0x20, bytes, 1));
	assert_int_equal(bytes[0], 0);
	close_fake(&f, VP_GDB_LET_RUN);
	assert_ok(regs_of("0*,00*,0", &regs)); /* two registers of 16 digits */
	assert_int_equal(regs.valid, VP_REG_BIT(VP_RAX) | VP_REG_BIT(VP_RBX));
	assert_error(regs_of(RAW "$*,#56$*,#56$*,#56$*,#56", &regs), OT_ERR_BAD_DATA, "damaged packets");
	assert_error(regs_of(RAW "$}#7d$}#7d$}#7d$}#7d", &regs), OT_ERR_BAD_DATA, "damaged packets");
}

static void test_registers_that_are_none(void **state)
{
	struct vp_regs regs = { 0 };

	(void)state;
	assert_ok(regs_of("xxxxxxxxxxxxxxxx0100000000000000", &regs));
	assert_int_equal(regs.valid, VP_REG_BIT(VP_RBX));
	assert_int_equal(regs.v[VP_RBX], 1);
	assert_ok(regs_of("01000000000000", &regs)); /* half a register */
	assert_int_equal(regs.valid, 0);
	assert_error(regs_of("010000000000000z", &regs), OT_ERR_BAD_DATA, "not hexadecimal");
	assert_error(regs_of("E01", &regs), OT_ERR_BAD_DATA, "does not send registers");
	assert_error(regs_of("", &regs), OT_ERR_BAD_DATA, "does not send registers");
	assert_error(regs_of(CLOSE, &regs), OT_ERR_GUEST_GONE, "closed");
}

static void test_too_much(void **state)
{
	static char packet[3 * VP_GDB_PACKET_MAX], garbage[8192];
	struct vp_regs regs = { 0 };

	(void)state;
	memset(packet, '0', sizeof(packet) - 1);
	packet[0] = RAW[0];
	packet[1] = '$';
	assert_error(regs_of(packet, &regs), OT_ERR_BAD_DATA, "a packet of more than");
	memset(garbage, 'x', sizeof(garbage) - 1);
	garbage[0] = RAW[0];
	assert_error(regs_of(garbage, &regs), OT_ERR_BAD_DATA, "does not speak the gdb protocol");
	/* runs that would be more than there is room for */
	packet[0] = '0';
	for (size_t i = 1; i + 1 < 2000; i += 2)
		memcpy(packet + i, "*~", 2);
	packet[1999] = '\0';
	assert_error(regs_of(packet, &regs), OT_ERR_BAD_DATA, "damaged packets");
}

static void test_memory_that_is_none(void **state)
{
	const struct line lines[] = { { "m0,", "E14" },   { "m1,", "" },       { "m2,", "001" },
				      { "m3,", "0g" },    { "m4,", "000000" }, { "m10,", "0102" },
				      { "m12,", "0304" }, { NULL, NULL } };
	struct fake f = { .lines = lines };
	uint8_t bytes[4] = { 0 };

	(void)state;
	assert_ok(open_fake(&f));
	assert_error(vp_gdb_read(&stub, false, 0, bytes, 1), OT_ERR_FAULT, "0 can't be read");
	assert_error(vp_gdb_read(&stub, false, 1, bytes, 1), OT_ERR_FAULT, "0x1 can't be read");
	assert_error(vp_gdb_read(&stub, false, 2, bytes, 1), OT_ERR_BAD_DATA, "not hexadecimal memory");
	assert_error(vp_gdb_read(&stub, false, 3, bytes, 1), OT_ERR_BAD_DATA, "not hexadecimal memory");
	assert_error(vp_gdb_read(&stub, false, 4, bytes, 1), OT_ERR_BAD_DATA, "not hexadecimal memory");
	assert_ok(vp_gdb_read(&stub, false, 0x10, bytes, 4)); /* a reply shorter than requested is accepted */
	assert_memory_equal(bytes, "\1\2\3\4", 4);
	close_fake(&f, VP_GDB_LET_RUN);
}

/* --- who is refused ------------------------------------------------------------------------------------- */

static void refused(const char *request, const char *text, enum ot_err_code code, const char *why)
{
	const struct line lines[] = { { request, text }, { NULL, NULL } };
	struct fake f = { .lines = lines };

	assert_error(open_fake(&f), code, why);
	close_fake(&f, VP_GDB_UNHEARD);
}

static void test_what_is_missing(void **state)
{
	(void)state;
	refused("qSupported", "PacketSize=400", OT_ERR_UNSUPPORTED, "does not describe its registers");
	refused("qSupported", "", OT_ERR_UNSUPPORTED, "does not describe its registers");
	refused("qSupported", CLOSE, OT_ERR_BAD_DATA, "fake is not a gdb stub");
	refused("qSupported", RAW "HTTP/1.1 400 Bad Request", OT_ERR_BUSY, "fake does not answer");
	refused("qSupported", RAW "$0123#", OT_ERR_BUSY, "fake does not answer");
	refused("?", "W00", OT_ERR_GUEST_GONE, "has ended");
	refused("vCont?", "", OT_ERR_UNSUPPORTED, "can't step one vCPU");
	refused("vCont?", "vCont;c;C;Step", OT_ERR_UNSUPPORTED, "can't step one vCPU");
	refused("qqemu.PhyMemMode", "", OT_ERR_UNSUPPORTED, "reads no physical memory");
	refused("qfThreadInfo", "l", OT_ERR_UNSUPPORTED, "does not list its threads");
	refused("qfThreadInfo", "m1,,2", OT_ERR_BAD_DATA, "threads have invalid names");
	refused("qfThreadInfo", "m1;#", OT_ERR_BAD_DATA, "");
	refused("qsThreadInfo", "m1,2,3,4,5,6,7,8", OT_ERR_LIMIT, "more than 256 threads"); /* without end */
	refused("Hg", "E22", OT_ERR_BAD_DATA, "no longer has a vCPU");
}

static void test_no_breakpoints(void **state)
{
	const struct line lines[] = { { "z", "" }, { NULL, NULL } };
	struct fake f = { .lines = lines };

	(void)state;
	assert_error(open_fake(&f), OT_ERR_UNSUPPORTED, "has no breakpoints");
	close_fake(&f, VP_GDB_UNHEARD);
}

#define TARGET "qXfer:features:read:target.xml:"
#define X86    "<architecture>i386:x86-64</architecture>"

static void test_descriptions(void **state)
{
	static const char eleven[] =
	    "<!DOCTYPE t [<!ENTITY a \"aaaaaaaaaaaaaaaaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]>";
	char entities[512], many[4096] = "l<target>" X86;

	(void)state;
	refused(TARGET, "", OT_ERR_BAD_DATA, "does not send target.xml");
	refused(TARGET, "E00", OT_ERR_BAD_DATA, "does not send target.xml");
	refused(TARGET, "m", OT_ERR_BAD_DATA, "does not send target.xml");
	refused(TARGET, "l", OT_ERR_BAD_DATA, "is not XML");
	refused(TARGET, "l<target>", OT_ERR_BAD_DATA, "is not XML");
	refused(TARGET,
		"mxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
		"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
		OT_ERR_LIMIT, "has more than"); /* without end */
	refused(TARGET, "l<target><architecture>i386</architecture></target>", OT_ERR_UNSUPPORTED,
		"is not x86-64");
	refused(TARGET, "l<target><architecture>aarch64</architecture></target>", OT_ERR_UNSUPPORTED,
		"is not x86-64");
	refused("qXfer:features:read:regs.xml:", "l" REGS "</feature>", OT_ERR_UNSUPPORTED,
		"does not send register cr3");
	refused(TARGET, "l<target>" X86 "<reg name=\"rax\" bitsize=\"0\"/></target>", OT_ERR_BAD_DATA,
		"of size 0");
	refused(TARGET, "l<target>" X86 "<reg name=\"rax\" bitsize=\"99999999\"/></target>", OT_ERR_BAD_DATA,
		"of size 0");
	refused(TARGET, "l<target>" X86 "<reg name=\"rax\"/></target>", OT_ERR_BAD_DATA, "of size 0");
	refused(TARGET, "l<target>" X86 "<reg name=\"rax\" bitsize=\"64\" regnum=\"4294967295\"/></target>",
		OT_ERR_BAD_DATA, "invalid numbers");
	refused(TARGET,
		"l<target>" X86 "<reg name=\"a\" bitsize=\"8\" regnum=\"1\"/><reg name=\"b\" bitsize=\"8\" "
		"regnum=\"1\"/></target>",
		OT_ERR_BAD_DATA, "invalid numbers");
	refused(TARGET,
		"l<target>" X86 "<reg name=\"a\" bitsize=\"8\" regnum=\"1023\"/><reg name=\"b\" "
		"bitsize=\"8\"/></target>",
		OT_ERR_BAD_DATA, "invalid numbers");
	refused(TARGET, "l<target>" X86 "<xi:include href=\"\"/></target>", OT_ERR_BAD_DATA,
		"invalid includes");
	for (int i = 0; i < 17; i++)
		snprintf(many + strlen(many), sizeof(many) - strlen(many), "<xi:include href=\"%d.xml\"/>",
			 i);
	snprintf(many + strlen(many), sizeof(many) - strlen(many), "</target>");
	refused(TARGET, many, OT_ERR_BAD_DATA, "invalid includes");
	/* one that includes itself is read once */
	refused(TARGET, "l<target>" X86 "<xi:include href=\"target.xml\"/></target>", OT_ERR_UNSUPPORTED,
		"does not send register rax");
	snprintf(entities, sizeof(entities), "l%s<target>&b;</target>", eleven);
	refused(TARGET, entities, OT_ERR_BAD_DATA, "");
}

/* --- stops ---------------------------------------------------------------------------------------------- */

static void test_stops(void **state)
{
	static const struct {
		const char *text;
		bool is;
		int signal;
		uint32_t vcpu;
	} cases[] = {
		{ "T05thread:01;", true, 5, 0 },
		{ "T02thread:02;", true, 2, 1 },
		{ "T05hwbreak:;thread:02;core:1;", true, 5, 1 },
		{ "T05thread:p1.2;", true, 5, VP_VCPUS_MAX },
		{ "T05thread:0102;", true, 5, VP_VCPUS_MAX },
		{ "T05thread:", true, 5, VP_VCPUS_MAX },
		{ "S05", true, 5, VP_VCPUS_MAX },
		{ "T5", false, 0, 0 },
		{ "Tzz", false, 0, 0 },
		{ "OK", false, 0, 0 },
		{ "", false, 0, 0 },
	};
	static struct vp_gdb_packet packet;
	struct vp_gdb_stub *s = calloc(1, sizeof(*s));
	struct vp_gdb_stop stop;
	bool is;

	(void)state;
	assert_non_null(s);
	s->nthreads = 2;
	memcpy(s->threads[0], "01", 3);
	memcpy(s->threads[1], "02", 3);
	for (size_t i = 0; i < OT_ARRAY_SIZE(cases); i++) {
		packet.len = strlen(cases[i].text);
		memcpy(packet.data, cases[i].text, packet.len + 1);
		assert_ok(vp_gdb_parse_stop(s, &packet, &is, &stop));
		assert_int_equal(is, cases[i].is);
		if (is)
			assert_int_equal(stop.signal, cases[i].signal);
		if (is)
			assert_int_equal(stop.vcpu, cases[i].vcpu);
	}
	free(s);
}

/* A listener and its connections: none, one that was accepted, and ours in addition. */
static void check_taken(struct sockaddr *addr, socklen_t len, bool tells_who)
{
	char who[64], want[32];
	int server = socket(addr->sa_family, SOCK_STREAM, 0), other, ours, served;

	assert_int_equal(bind(server, addr, len), 0);
	assert_int_equal(listen(server, 4), 0);
	assert_int_equal(getsockname(server, addr, &len), 0);
	ours = socket(addr->sa_family, SOCK_STREAM, 0);
	assert_int_equal(connect(ours, addr, len), 0);
	assert_false(vp_gdb_is_taken(ours, who, sizeof(who)));
	close(ours);
	close(accept(server, NULL, NULL));
	other = socket(addr->sa_family, SOCK_STREAM, 0);
	assert_int_equal(connect(other, addr, len), 0);
	served = accept(server, NULL, NULL);
	assert_true(served >= 0);
	ours = socket(addr->sa_family, SOCK_STREAM, 0);
	assert_int_equal(connect(ours, addr, len), 0);
	assert_true(vp_gdb_is_taken(ours, who, sizeof(who)));
	snprintf(want, sizeof(want), " (PID %d)", (int)getpid());
	if (tells_who)
		assert_non_null(strstr(who, want));
	else
		assert_string_equal(who, "");
	close(ours);
	close(served);
	close(other);
	close(server);
}

static void test_stub_is_taken(void **state)
{
	struct sockaddr_in tcp = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	struct sockaddr_in6 tcp6 = { .sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	struct sockaddr_un path = { .sun_family = AF_UNIX };
	int probe = socket(AF_INET6, SOCK_STREAM, 0);

	(void)state;
	check_taken((struct sockaddr *)&tcp, sizeof(tcp), true);
	if (probe >= 0 && !bind(probe, (struct sockaddr *)&tcp6, sizeof(tcp6)))
		check_taken((struct sockaddr *)&tcp6, sizeof(tcp6), true);
	close(probe);
	snprintf(path.sun_path, sizeof(path.sun_path), "/tmp/outsight-taken-%d", (int)getpid());
	check_taken((struct sockaddr *)&path, sizeof(path), false);
	unlink(path.sun_path);
}

/* --- the keeper --------------------------------------------------------------------------------------- */

/* What has come within so long, behind what is in @got already, or until @text is in it; false: it is not. */
static bool comes(int fd, char *got, size_t size, const char *text, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	size_t len = strlen(got);

	while (!strstr(got, text) && poll(&p, 1, timeout_ms) > 0) {
		ssize_t n = recv(fd, got + len, size - 1 - len, 0);
		if (n <= 0)
			break;
		len += (size_t)n;
		got[len] = '\0';
	}
	return strstr(got, text);
}

/* A killed outsight's stub answers the fence with @answer, in two pieces of which the first has @first bytes.
 */
static void check_keeper(const char *answer, size_t first)
{
	struct vp_gdb_keeper keeper;
	char got[4096] = "";
	int fds[2], status;

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
	assert_ok(vp_gdb_keeper_start(&keeper, fds[1]));
	close(fds[1]);
	close(keeper.pipe_fd);
	assert_true(comes(fds[0], got, sizeof(got), "\003+\003$qSupported#37", 30000));
	/* a stub that is slow to stop: a detach that it reads together with the interrupt is too early */
	assert_false(comes(fds[0], got, sizeof(got), "$D#44", 700));
	assert_true(say(fds[0], answer, first));
	assert_false(comes(fds[0], got, sizeof(got), "$D#44", 100));
	assert_true(say(fds[0], answer + first, strlen(answer) - first));
	/* the parent may have detached: it attaches again before */
	assert_true(comes(fds[0], got, sizeof(got), "$vAttach;1#37", 30000));
	assert_true(comes(fds[0], got, sizeof(got), "$D#44", 30000));
	assert_true(strstr(got, "$vAttach;1#37") < strstr(got, "$D#44"));
	close(fds[0]);
	assert_int_equal(waitpid(keeper.pid, &status, 0), keeper.pid);
	assert_int_equal(status, 0);
}

static void test_keeper(void **state)
{
	(void)state;
	check_keeper("$T02thread:01;#04+$PacketSize=1000;multiprocess+#00", 24);
	/* an answer that the parent did not read any more is none to the keeper */
	check_keeper("+$QC01#f5$OK#9a+$PPacketSize=1#00", 27);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers_and_memory),
		cmocka_unit_test(test_breakpoints_and_steps),
		cmocka_unit_test(test_lost_requests),
		cmocka_unit_test(test_lost_register_write),
		cmocka_unit_test(test_late_answers),
		cmocka_unit_test(test_who_holds_it),
		cmocka_unit_test(test_wrong_checksums),
		cmocka_unit_test(test_refused_requests),
		cmocka_unit_test(test_encodings),
		cmocka_unit_test(test_registers_that_are_none),
		cmocka_unit_test(test_too_much),
		cmocka_unit_test(test_memory_that_is_none),
		cmocka_unit_test(test_what_is_missing),
		cmocka_unit_test(test_no_breakpoints),
		cmocka_unit_test(test_descriptions),
		cmocka_unit_test(test_stops),
		cmocka_unit_test(test_stub_is_taken),
		cmocka_unit_test(test_keeper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
