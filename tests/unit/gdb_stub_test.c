/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Talking to gdb stubs that are well or ill behaved. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compiler.h"
#include "gdb_fake.h"

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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
