/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * leaving N
 *
 * Functions that are left in every way there is, written in assembly so that no compiler chooses another one.
 * At each SIGUSR1 main() calls them all N times, and then prints what it has done in all: a line
 * "called NAME CALLS SUM" for each function, where CALLS includes those by jumps of the others and SUM is the
 * sum of what it returned, then "called". Before the first it prints "at LABEL OFFSET" for places in the
 * functions, and "ready".
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

long several(long n), tail(long n), pointer(long n, long (*to)(long)), table(long n), moved(long n);
long recursive(long n), maybe(long n);
void single(void);
extern char several_second[], several_third[], table_jump[], moved_return[], tail_jump[];

/* moved's unlikely part has no name, as in a stripped file; its description in .eh_frame says where it is. */
__asm__(".text\n"
	".macro function name\n.globl \\name\n.type \\name, @function\n\\name:\n.cfi_startproc\n.endm\n"
	".macro ends name\n.cfi_endproc\n.size \\name, . - \\name\n.endm\n"
	"function several\n"
	"	test %rdi, %rdi\n"
	"	je 1f\n"
	"	cmp $1, %rdi\n"
	"	je several_second\n"
	"	mov $30, %eax\n"
	".globl several_third\nseveral_third:\n"
	"	ret\n"
	"1:	mov $10, %eax\n"
	"	ret\n"
	".globl several_second\nseveral_second:\n"
	"	mov $20, %eax\n"
	"	ret\n"
	"ends several\n"
	"function tail\n"
	"	lea (%rdi), %rdi\n"
	".globl tail_jump\ntail_jump:\n"
	"	jmp several\n"
	"ends tail\n"
	"function pointer\n"
	"	jmp *%rsi\n"
	"ends pointer\n"
	"function table\n"
	"	lea 9f(%rip), %rdx\n"
	".globl table_jump\ntable_jump:\n"
	"	jmp *(%rdx, %rdi, 8)\n"
	"1:	mov $1, %eax\n"
	"	ret\n"
	"2:	mov $2, %eax\n"
	"	ret\n"
	"ends table\n"
	".section .data.rel.ro, \"aw\"\n"
	"9:	.quad 1b, 2b, several\n"
	".text\n"
	"function moved\n"
	"	cmp $1, %rdi\n"
	"	je 8f\n"
	"	cmp $2, %rdi\n"
	"	je 7f\n"
	"3:	mov $3, %eax\n"
	".globl moved_return\nmoved_return:\n"
	"	ret\n"
	"ends moved\n"
	"function recursive\n"
	"	test %rdi, %rdi\n"
	"	mov $1, %eax\n"
	"	je 1f\n"
	"	dec %rdi\n"
	"	call recursive\n"
	"	inc %rax\n"
	"1:	ret\n"
	"ends recursive\n"
	"function maybe\n"
	"	test %rdi, %rdi\n"
	"	je several\n"
	"	ret\n"
	"ends maybe\n"
	"function single\n"
	"	ret\n"
	"ends single\n"
	".section .text.unlikely, \"ax\"\n"
	".cfi_startproc\n"
	"7:	mov $7, %eax\n"
	"	ret\n"
	"8:	nop\n"
	"	jmp 3b\n"
	".cfi_endproc\n"
	".text\n");

static struct {
	const char *name;
	long calls, sum;
} told[] = { { "several", 0, 0 }, { "tail", 0, 0 },      { "pointer", 0, 0 }, { "table", 0, 0 },
	     { "moved", 0, 0 },   { "recursive", 0, 0 }, { "single", 0, 0 } };

enum { SEVERAL, TAIL, POINTER, TABLE, MOVED, RECURSIVE, SINGLE, TOLD };

static long count(int which, long returned)
{
	told[which].calls++;
	told[which].sum += returned;
	return returned;
}

__attribute__((noinline)) static void work(long n)
{
	for (long i = 0; i < n; i++) {
		long depth = i % 5;

		count(SEVERAL, several(i % 3));
		count(SEVERAL, count(TAIL, tail(i % 3)));
		count(SEVERAL, count(POINTER, pointer(i % 3, several)));
		count(TABLE, table(i % 3));
		if (i % 3 == 2)
			count(SEVERAL, 30);
		count(MOVED, moved(i % 3));
		recursive(depth);
		for (long k = 0; k <= depth; k++)
			count(RECURSIVE, k + 1);
		single();
		count(SINGLE, 0);
		maybe(i % 2);
		if (i % 2 == 0)
			count(SEVERAL, 10);
	}
	for (int i = 0; i < TOLD; i++)
		dprintf(1, "called %s %ld %ld\n", told[i].name, told[i].calls, told[i].sum);
	dprintf(1, "called\n");
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1;
	sigset_t signals;
	int signal;

	sigemptyset(&signals);
	sigaddset(&signals, SIGUSR1);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	dprintf(1, "at several_second %lx\n", several_second - (char *)several);
	dprintf(1, "at several_third %lx\n", several_third - (char *)several);
	dprintf(1, "at tail_jump %lx\n", tail_jump - (char *)tail);
	dprintf(1, "at table_jump %lx\n", table_jump - (char *)table);
	dprintf(1, "at moved_return %lx\n", moved_return - (char *)moved);
	dprintf(1, "ready\n");
	while (!sigwait(&signals, &signal))
		work(n);
	return 1;
}
