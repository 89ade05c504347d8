/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Calls of the functions of returned.S, in the guest whose probes are resident. The callers' registers are
 * held to the calling convention: those that a function must keep have values of their own. */
#include "guest.h"

typedef uint64_t returned(uint64_t, uint64_t);

extern returned returned_padded, returned_thunk, returned_branched, returned_plain, returned_tail;

/* rdx is the second half of a result of two registers, and none of these changes it. */
static void call(const char *what, returned *function, uint64_t a, uint64_t b)
{
	register uint64_t r12 __asm__("r12") = a + 12, r13 __asm__("r13") = a + 13,
			      r14 __asm__("r14") = a + 14;
	uint64_t rax, rbx = a + 3, rcx, rdx = ~a, rsi = b, rdi = a;

	__asm__ volatile("call *%[function]"
			 : "=a"(rax), "+b"(rbx), "=c"(rcx), "+d"(rdx), "+S"(rsi), "+D"(rdi), "+r"(r12),
			   "+r"(r13), "+r"(r14)
			 : [function] "2"(function)
			 : "r8", "r9", "r10", "r11", "memory", "cc");
	check(what, rax, a + b);
	check("rbx", rbx, a + 3);
	check("rdx", rdx, ~a);
	check("r12", r12, a + 12);
	check("r13", r13, a + 13);
	check("r14", r14, a + 14);
}

void call_returned(uint64_t i, uint64_t second)
{
	call("padded", returned_padded, i, second);
	call("thunk", returned_thunk, i, second);
	call("branched", returned_branched, i, second);
	call("plain", returned_plain, i, second);
	call("returned tail", returned_tail, i, second);
}
