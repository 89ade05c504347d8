/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * trapping
 *
 * Executes an int3 until the host replaces its byte, then prints whether the instruction still traps. The
 * host finds the int3 behind a pattern of 16 bytes: each is its index times 37 plus 11.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define MARK 16
#define INT3 0xcc
#define RET  0xc3

static volatile sig_atomic_t traps;

static void on_trap(int signal)
{
	(void)signal;
	traps++;
}

int main(void)
{
	volatile unsigned char *page =
	    mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	volatile unsigned char *at = page + MARK;
	sig_atomic_t before;
	bool there;
	void (*code)(void);

	if (page == MAP_FAILED)
		return 1;
	for (int i = 0; i < MARK; i++)
		page[i] = (unsigned char)(i * 37 + 11);
	at[0] = INT3;
	at[1] = RET;
	memcpy(&code, &at, sizeof(code));
	signal(SIGTRAP, on_trap);
	do {
		there = at[0] == INT3;
		before = traps;
		code();
		if (traps == 100) {
			puts("traps");
			fflush(stdout);
		}
	} while (there);
	puts(traps == before ? "gone" : "trapped where there is no int3");
	return 0;
}
