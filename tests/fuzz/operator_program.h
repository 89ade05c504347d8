/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The program of an operator whose hosts are hostile: fuzz_operator compiles it as the operator's, and its
 * seeds have it as a host's. And how an input has messages: a kind, a length of two bytes, the bytes. */
#ifndef TESTS_FUZZ_OPERATOR_PROGRAM_H
#define TESTS_FUZZ_OPERATOR_PROGRAM_H

#include "tests/unit/dif_lang_fixture.h"

#define OPERATOR_STRSIZE 32u
#define OPERATOR_PROGRAM                                                                              \
	"fbt::do_exit:entry { trace(arg0); printf(\"%s %d\\n\", execname, pid); stack(); exit(0); }"  \
	"fbt::do_exit:entry { @other = sum(arg0); @a[probefunc, guest] = count(); @q[pid] = "         \
	"quantize(arg0); "                                                                            \
	"@s[stack()] = count(); @m[sym(arg0)] = max(arg0); clear(@a); trunc(@q, 5); printa(@other); " \
	"ustack(); }"                                                                                 \
	"ERROR { trace(arg3); }"

#endif
