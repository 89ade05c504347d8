/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * libjvm.so: a stand-in for Java's machine. Static probes with the names and forms of arguments that OpenJDK
 * 17 has; none has a semaphore. Names are texts of a given length, without a NUL.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "note.h"

void jvm_work(long n);

__attribute__((noipa)) static void gc_begin(int full)
{
	NOTE("hotspot", "gc__begin", "0", "1@%%dil", "D"(0x5500 | full));
}

__attribute__((noipa)) static void gc_end(void)
{
	NOTE("hotspot", "gc__end", "0", "", "i"(0));
}

__attribute__((noipa)) static void load_class(const char *name, int length, long loader)
{
	const struct {
		char before[152];
		long loader;
	} data = { .loader = loader };

	NOTE("hotspot", "class__loaded", "0", "8@%%rdx -4@%%eax 8@152(%%rdi) 1@%%cl", "d"(name), "a"(length),
	     "D"(&data), "c"(0));
	printf("class|%.*s|%ld\n", length, name, loader);
}

__attribute__((noipa)) static void start_thread(const char *name, int length, long id)
{
	/* At 60 and 56 bytes before the end: its length, and its number. */
	struct {
		char before[4];
		int length;
		long id;
		char rest[48];
	} frame = { .length = length, .id = id };
	uint64_t system = (uint64_t)getpid();
	register void *end __asm__("rbp") = &frame + 1;
	register const char *first __asm__("r13") = name;
	register uint64_t fourth __asm__("r15") = system;

	NOTE("hotspot", "thread__start", "0", "8@%%r13 -4@-60(%%rbp) -8@-56(%%rbp) 8@%%r15 1@%%al", "r"(end),
	     "r"(first), "r"(fourth), "a"(0x100 | (id & 1)));
	printf("thread|%.*s|%ld|%lu|%ld\n", length, name, id, system, id & 1);
}

/* Both names are a part of one text. */
void jvm_work(long n)
{
	static const char text[] = "java/lang/StringBuilder worker-1";

	for (long i = 0; i < n; i++) {
		gc_begin(i % 3 == 0);
		gc_end();
		printf("gc|%s\n", i % 3 ? "minor" : "full");
		load_class(text, 16 + (int)(i % 8), i);
		start_thread(text + 24, 8, 10 + i);
	}
}
