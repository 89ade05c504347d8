/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A scripted gdb stub on the other end of a socket, well or ill behaved. */
#ifndef TESTS_GDB_FAKE_H
#define TESTS_GDB_FAKE_H

#include <pthread.h>

#include "vmm-probe/backend/gdb/stub.h"

/* Instead of an answer. */
#define SILENT "\1"
#define CLOSE  "\2"
#define RAW    "\3" /* what follows is sent as it is, without $ and checksum */

/* What is answered to requests that begin so; the first that fits. */
struct line {
	const char *request, *answer;
};

/* The description of a target's registers, but for its end. */
#define R(name) "<reg name=\"" name "\" bitsize=\"64\" type=\"int64\"/>"
#define REGS                                                                                             \
	"<feature name=\"org.gnu.gdb.i386.core\">" R("rax") R("rbx") R("rcx") R("rdx") R("rsi") R("rdi") \
	    R("rbp") R("rsp") R("r8") R("r9") R("r10") R("r11") R("r12") R("r13") R("r14") R("r15")      \
		R("rip") "<reg name=\"eflags\" bitsize=\"32\"/><reg name=\"cs\" bitsize=\"32\"/>"        \
			 "<reg name=\"st0\" bitsize=\"80\" regnum=\"24\"/><reg name=\"gs_base\" "        \
			 "bitsize=\"64\" regnum=\"20\"/>"

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

/* Our end of the conversation. */
extern struct vp_gdb_stub stub;

/* Start it, and have `stub` opened on it. */
struct ot_err *open_fake(struct fake *f);
void close_fake(struct fake *f, enum vp_gdb_leave how);

bool say(int fd, const char *data, size_t len);

void assert_error(struct ot_err *err, enum ot_err_code code, const char *text);
void assert_ok(struct ot_err *err);

#endif
