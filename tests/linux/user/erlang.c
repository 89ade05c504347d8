/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * erlang N
 *
 * A stand-in for Erlang's emulator: static probes with the names, the forms of arguments, and the semaphores
 * that OTP 25 has where it is built with them. As there, the texts that are a probe's arguments are only made
 * while the probe is wanted.
 *
 * At each SIGUSR1 N processes of its own are born, get a message, collect garbage and end. It prints what
 * happened, an event a line, with the values that the event's probe has:
 *
 *     process-spawn|PID|MFA
 *     wanted COUNT
 *     done
 *
 * COUNT is that of semaphores that are not 0.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "note.h"
#include "rounds.h"

#define TEXT      64
#define FIRST_PID 80
#define NUMBERED  950

#define SEMAPHORE(name) __attribute__((section(".probes"))) volatile uint16_t erlang_##name##_semaphore

SEMAPHORE(process__spawn);
SEMAPHORE(process__exit);
SEMAPHORE(process__exit_signal);
SEMAPHORE(process__exit_signal__remote);
SEMAPHORE(process__scheduled);
SEMAPHORE(process__unscheduled);
SEMAPHORE(message__send);
SEMAPHORE(message__queued);
SEMAPHORE(message__receive);
SEMAPHORE(gc_major__start);
SEMAPHORE(gc_major__end);
SEMAPHORE(gc_minor__start);
SEMAPHORE(gc_minor__end);
SEMAPHORE(copy__struct);
SEMAPHORE(dist__monitor);
SEMAPHORE(user_trace__i4s4);
SEMAPHORE(user_trace__n);

#define WANTED(name)               __builtin_expect(erlang_##name##_semaphore, 0)
#define FIRE(name, arguments, ...) NOTE("erlang", #name, "erlang_" #name "_semaphore", arguments, __VA_ARGS__)
#define FIRE_AT(words, name, arguments, ...) \
	NOTE_AT(words, "erlang", #name, "erlang_" #name "_semaphore", arguments, __VA_ARGS__)

/* Probes of NUMBERED names that differ in their number alone; all have one semaphore here. */
__asm__(".altmacro\n"
	".macro numbered_probe n\n"
	"	.pushsection .note.stapsdt,\"\",\"note\"\n"
	"	.balign 4\n"
	"	.4byte 8, 1995f-1994f, 3\n"
	"	.asciz \"stapsdt\"\n"
	"1994:	.8byte numbered_probes + 2 * \\n, _.stapsdt.base, erlang_user_trace__n_semaphore\n"
	"	.asciz \"erlang\"\n"
	"	.asciz \"user_trace__n\\n\"\n"
	"	.asciz \"8@%rdi -8@%rsi\"\n"
	"1995:	.balign 4\n"
	"	.popsection\n"
	"	nop\n"
	"	ret\n"
	".endm\n"
	".pushsection .text\n"
	".type numbered_probes, @function\n"
	"numbered_probes:\n"
	".set number, 0\n"
	".rept 950\n"
	"	numbered_probe %number\n"
	"	.set number, number + 1\n"
	".endr\n"
	".size numbered_probes, . - numbered_probes\n"
	".popsection\n"
	".noaltmacro\n");
void numbered_probes(void);

char this_node[] = "one@guest";
char *erts_this_node_sysname = this_node;

/* One text of the emulator's own for each argument; a probe's are there until the next one. */
static char *text(int i, const char *value)
{
	static char texts[6][TEXT];

	return strncpy(texts[i], value, TEXT - 1);
}

/* A register that no constraint names. Its value must be there before: a call may use the register. */
#define IN(name, type, value) register type name __asm__(#name) = (value)

/* --- processes --------------------------------------------------------------------------------------- */

__attribute__((noipa)) static void spawn(const char *pid, const char *mfa)
{
	if (WANTED(process__spawn)) {
		char *first = text(0, pid), *second = text(1, mfa);
		IN(r14, char *, second);

		FIRE(process__spawn, "8@%%rbx 8@%%r14", "b"(first), "r"(r14));
	}
	printf("process-spawn|%s|%s\n", pid, mfa);
}

__attribute__((noipa)) static void exit_process(const char *pid, const char *reason)
{
	if (WANTED(process__exit)) {
		char *first = text(0, pid), *second = text(1, reason);
		IN(r12, char *, first);
		IN(r13, char *, second);

		FIRE(process__exit, "8@%%r12 8@%%r13", "r"(r12), "r"(r13));
	}
	printf("process-exit|%s|%s\n", pid, reason);
}

__attribute__((noipa)) static void exit_signal(const char *sender, const char *pid, const char *reason)
{
	if (WANTED(process__exit_signal)) {
		char *first = text(0, sender), *second = text(1, pid), *third = text(2, reason);
		IN(r12, char *, first);
		IN(r13, char *, third);

		FIRE(process__exit_signal, "8@%%r12 8@%%rbx 8@%%r13", "r"(r12), "b"(second), "r"(r13));
	}
	printf("process-exit_signal|%s|%s|%s\n", sender, pid, reason);
}

__attribute__((noipa)) static void exit_signal_remote(const char *sender, const char *node, const char *pid,
						      const char *reason)
{
	if (WANTED(process__exit_signal__remote)) {
		char *first = text(0, sender), *second = text(1, node), *third = text(2, pid);
		char *fourth = text(3, reason);
		IN(r9, char *, first);
		IN(r8, char *, second);
		IN(r13, char *, third);
		IN(r15, char *, fourth);

		FIRE(process__exit_signal__remote, "8@%%r9 8@%%r8 8@%%r13 8@%%r15 -8@%%rax -8@%%rdx -8@%%rcx",
		     "r"(r9), "r"(r8), "r"(r13), "r"(r15), "a"(0l), "d"(0l), "c"(0l));
	}
	printf("process-exit_signal-remote|%s|%s|%s|%s\n", sender, node, pid, reason);
}

/* In two places, as the emulator has it: for a process that begins, and for one that goes on. */
__attribute__((noipa)) static void schedule(const char *pid, const char *mfa, bool begins)
{
	if (WANTED(process__scheduled)) {
		char *first = text(0, pid), *second = text(1, mfa);

		if (begins) {
			IN(r11, char *, first);
			IN(r10, char *, second);
			FIRE(process__scheduled, "8@%%r11 8@%%r10", "r"(r11), "r"(r10));
		} else {
			FIRE_AT(&first, process__scheduled, "8@(%%rsp) 8@%%rdi", "D"(second));
		}
	}
	printf("process-scheduled|%s|%s\n", pid, mfa);
}

__attribute__((noipa)) static void unschedule(const char *pid)
{
	if (WANTED(process__unscheduled)) {
		char *first = text(0, pid);
		IN(rbp, char *, first);

		FIRE(process__unscheduled, "8@%%rbp", "r"(rbp));
	}
	printf("process-unscheduled|%s\n", pid);
}

/* --- messages ---------------------------------------------------------------------------------------- */

/* What a message that is followed carries, or zeros. */
struct token {
	long label, last, now;
};

/* Two of the emulator's five places: one knows that there is no token. */
__attribute__((noipa)) static void send(const char *from, const char *to, long size, const struct token *t)
{
	if (WANTED(message__send)) {
		char *first = text(0, from), *second = text(1, to);

		if (t->label) {
			IN(r12, long, size);
			IN(r8, char *, second);
			FIRE(message__send, "8@%%rsi 8@%%r8 8@%%r12 -8@%%rcx -8@%%rax -8@%%rdx", "S"(first),
			     "r"(r8), "r"(r12), "c"(t->label), "a"(t->last), "d"(t->now));
		} else {
			IN(r12, long, size);
			FIRE(message__send, "8@%%rax 8@%%rdx 8@%%r12 -8@$0 -8@$0 -8@$0", "a"(first),
			     "d"(second), "r"(r12));
		}
	}
	printf("message-send|%s|%s|%ld|%ld|%ld|%ld\n", from, to, size, t->label, t->last, t->now);
}

__attribute__((noipa)) static void queue(const char *pid, long size, long length, const struct token *t)
{
	if (WANTED(message__queued)) {
		long words[11] = { [6] = length, t->label, t->last, t->now, (long)text(0, pid) };

		FIRE_AT(words, message__queued,
			"8@80(%%rsp) 8@%%rax -8@48(%%rsp) -8@56(%%rsp) -8@64(%%rsp) -8@72(%%rsp)", "a"(size));
	}
	printf("message-queued|%s|%ld|%ld|%ld|%ld|%ld\n", pid, size, length, t->label, t->last, t->now);
}

__attribute__((noipa)) static void receive(const char *pid, long size, long length, const struct token *t)
{
	if (WANTED(message__receive)) {
		long words[9] = { [8] = length };
		char *first = text(0, pid);
		IN(r10, char *, first);
		IN(r8, long, t->last);

		FIRE_AT(words, message__receive, "8@%%r10 8@%%rax -8@64(%%rsp) -8@%%rcx -8@%%r8 -8@%%rdx",
			"r"(r10), "a"(size), "c"(t->label), "r"(r8), "d"(t->now));
	}
	printf("message-receive|%s|%ld|%ld|%ld|%ld|%ld\n", pid, size, length, t->label, t->last, t->now);
}

/* --- memory ------------------------------------------------------------------------------------------ */

#define COLLECT(kind, edge, form)                                                             \
	do {                                                                                  \
		if (WANTED(gc_##kind##__##edge)) {                                            \
			const long words[6] = { [1] = n, [4] = n, [5] = (long)text(0, pid) }; \
			FIRE_AT(words, gc_##kind##__##edge, "8@40(%%rsp) " form, "i"(0));     \
		}                                                                             \
		printf("gc_" #kind "-" #edge "|%s|%ld\n", pid, n);                            \
	} while (0)

__attribute__((noipa)) static void begin_collecting(const char *pid, long n, bool all)
{
	if (all)
		COLLECT(major, start, "-4@32(%%rsp)");
	else
		COLLECT(minor, start, "-4@32(%%rsp)");
}

__attribute__((noipa)) static void end_collecting(const char *pid, long n, bool all)
{
	if (all)
		COLLECT(major, end, "8@8(%%rsp)");
	else
		COLLECT(minor, end, "8@8(%%rsp)");
}

__attribute__((noipa)) static void copy_struct(int size)
{
	IN(r14, long, (long)0x7700000000 | size);

	if (WANTED(copy__struct))
		FIRE(copy__struct, "-4@%%r14d", "r"(r14));
	printf("copy-struct|%d|%d\n", size, size);
}

/* --- the node, and what programs of its own trace ---------------------------------------------------- */

__attribute__((noipa)) static void monitor(const char *what, const char *node, const char *type,
					   const char *reason)
{
	if (WANTED(dist__monitor)) {
		char *second = text(1, what), *third = text(2, node), *fourth = text(3, type);
		char *fifth = text(4, reason);
		IN(r13, char *, second);
		IN(r15, char *, third);
		IN(r9, char *, fourth);

		FIRE(dist__monitor, "8@erts_this_node_sysname(%%rip) 8@%%r13 8@%%r15 8@%%r9 8@%%rdi",
		     "r"(r13), "r"(r15), "r"(r9), "D"(fifth));
	}
	printf("dist-monitor|%s|%s|%s|%s|%s\n", erts_this_node_sysname, what, node, type, reason);
}

/* Texts that are not given are NULL. */
__attribute__((noipa)) static void trace(const char *pid, const char *tag, long n, const char *words)
{
	if (WANTED(user_trace__i4s4)) {
		char *first = text(0, pid), *second = text(1, tag);
		long stack[10] = {
			[1] = (long)second, n, -n, 2 * n, 1l << 40, [6] = (long)text(2, words), 0, 0,
			(long)text(3, tag)
		};
		IN(r12, char *, first);

		FIRE_AT(stack, user_trace__i4s4,
			"8@%%r12 8@8(%%rsp) -8@16(%%rsp) -8@24(%%rsp) -8@32(%%rsp) -8@40(%%rsp) "
			"8@48(%%rsp) 8@56(%%rsp) 8@64(%%rsp) 8@72(%%rsp)",
			"r"(r12));
	}
	printf("user_trace-i4s4|%s|%s|%ld|%ld|%ld|%ld|%s|||%s\n", pid, tag, n, -n, 2 * n, 1l << 40, words,
	       tag);
}

/* The probe of a number, by its place. */
static void trace_number(long number, long value)
{
	if (WANTED(user_trace__n))
		((void (*)(long, long))((char *)numbered_probes + 2 * number))(value, -value);
	printf("user_trace-n%ld|%ld|%ld\n", number, value, -value);
}

/* --- a round ----------------------------------------------------------------------------------------- */

static int wanted(void)
{
	const volatile uint16_t *all[] = {
		&erlang_process__spawn_semaphore,       &erlang_process__exit_semaphore,
		&erlang_process__exit_signal_semaphore, &erlang_process__exit_signal__remote_semaphore,
		&erlang_process__scheduled_semaphore,   &erlang_process__unscheduled_semaphore,
		&erlang_message__send_semaphore,        &erlang_message__queued_semaphore,
		&erlang_message__receive_semaphore,     &erlang_gc_major__start_semaphore,
		&erlang_gc_major__end_semaphore,        &erlang_gc_minor__start_semaphore,
		&erlang_gc_minor__end_semaphore,        &erlang_copy__struct_semaphore,
		&erlang_dist__monitor_semaphore,        &erlang_user_trace__i4s4_semaphore,
		&erlang_user_trace__n_semaphore,
	};
	int n = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		n += *all[i] != 0;
	return n;
}

static void live(long i)
{
	static const char *const reasons[] = { "normal", "killed", "{shutdown,\"a text\"}" };
	const struct token none = { 0 }, token = { 77, i, -i };
	const struct token *t = i % 5 ? &none : &token;
	const char *reason = reasons[i % 3], *mfa = i % 2 ? "lists:seq/2" : "erlang:apply/2";
	char pid[TEXT];

	snprintf(pid, sizeof(pid), "<0.%ld.0>", FIRST_PID + i);
	spawn(pid, mfa);
	schedule(pid, mfa, true);
	copy_struct((int)-i);
	send("<0.9.0>", pid, i, t);
	queue(pid, i, i % 4, t);
	unschedule(pid);
	schedule(pid, "proc_lib:init_p/5", false);
	receive(pid, i, i % 4, t);
	begin_collecting(pid, i, i % 7 == 0);
	end_collecting(pid, 3 * i, i % 7 == 0);
	trace(pid, "a tag", i, "some words");
	trace_number(i % NUMBERED, 2 * i);
	exit_process(pid, reason);
	if (i % 3 == 1)
		exit_signal(pid, "<0.9.0>", reason);
	if (i % 3 == 2)
		exit_signal_remote(pid, "two@guest", "<7.9.0>", reason);
}

static void live_all(long n)
{
	for (long i = 0; i < n; i++)
		live(i);
	monitor("nodeup", "two@guest", "visible", "ok");
	printf("wanted %d\n", wanted());
}

int main(int argc, char **argv)
{
	do_rounds(live_all, argc > 1 ? atol(argv[1]) : 1);
	return 1;
}
