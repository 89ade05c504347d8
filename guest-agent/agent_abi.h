/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the guest's module and the host agree upon: structures in guest memory, and who writes
 * what. Included by the module and by the host's side; plain C, x86-64: fields are little-endian,
 * naturally aligned, without padding. Addresses are the guest's: *_gva kernel virtual, *_gpa
 * physical.
 *
 * The module's data symbol `outsight_agent` is a struct ga_header; the host finds it by the
 * guest's list of modules. From there:
 *
 *   ga_header              guest writes
 *    |- catalogue_gva ->   struct ga_entry[nslots]: what can be turned on, by slot; guest writes
 *    |- rings_gva ->       struct ga_ring_place[], by the guest's CPU number; guest writes
 *    |   `- gpa ->         struct ga_ring: records; physically contiguous; both write
 *    `- control_gpa ->     struct ga_control: what is to be on; contiguous; both write
 *
 * Each side treats the other's writes as hostile. Words that both sides use are read once.
 *
 * Owner. The host writes into guest memory only while it owns the control block: ga_control.owner
 * goes from the token (a 64-bit number of this load of the module, its low byte 0) to token | id,
 * id not 0, by a locked compare-and-exchange on the physical address. So a host that looked at
 * memory which the guest has reused in the meantime changes nothing: the token is not
 * there any more. Before the module frees the memory it exchanges the token for 0; while a host
 * owns it, it sets ga_header.state to GA_CLOSING and waits for the host to put the token back.
 * Memory whose owner does not answer is never freed.
 *
 * Beat. While it owns, the host changes ga_control.beat at least once in GA_BEAT_MS. After
 * GA_LEASE_MS without change the module turns everything off (the host's engine is gone: a
 * restored snapshot, a migrated guest); a new engine may then take the block over, again by
 * compare-and-exchange.
 *
 * Commands are a state, not a stream: slots[] says what is to be on, `generation` changes when it
 * does. The module polls it ten times a second and applies it; `applied` is then that generation.
 *
 * Records. A CPU reserves record number n of its ring (from 0), fills slot n modulo `records`,
 * and last stores n + 1 into its seq (release). The consumer takes record `tail` when its seq
 * (acquire) is tail + 1, copies it, and stores tail + 1 (release). A record that is reserved and
 * not stored yet (an interrupt's, inside another's) holds up those behind it, so order within a
 * CPU is that of reservation. When all `records` are taken the event is counted in `lost`.
 *
 * Walks. The module has three tracepoints of its own, in the catalogue like any other. While the
 * first or the second is on, it walks /proc or reads /proc/modules several times a second; each
 * time is a pass, with a number that grows:
 *
 *   outsight_task    pass, pid, comm: 2 words. A process that the walk found
 *   outsight_module  pass, number of the module in the pass << 8 | part, name: GA_NAME_WORDS words.
 *                    Names come in GA_NAME_PARTS parts, NUL-padded
 *   outsight_pass    pass, enum ga_pass, how many events the pass has written so far, errno or 0. The last of
 *                    a pass
 *
 * Text lies in words as in memory. A receiver with fewer events than outsight_pass reports (rings may lose
 * some, sessions begin in the middle) can't use that pass.
 */
#ifndef OUTSIGHT_AGENT_ABI_H
#define OUTSIGHT_AGENT_ABI_H

#include <linux/types.h>

#define GA_SYMBOL  "outsight_agent"
#define GA_MODULE  "outsight"
#define GA_MAGIC   0x31746e6741744fULL /* "OtAgnt1" */
/*
 * Incremented with each change of requests or structures. Flags too: a module ignores an unknown one
 * silently. Not tracepoints: they are in the catalogue.
 *   2: GA_WANT_SYSCALL, GA_WANT_TASK
 *   3: GA_RECORD_32BIT
 */
#define GA_VERSION 3

#define GA_TRACEPOINTS 4096 /* slots of tracepoints, from 0 */
#define GA_KPROBES     1024 /* slots behind those: requested by the host by address */
#define GA_SLOTS       (GA_TRACEPOINTS + GA_KPROBES)

#define GA_BEAT_MS  500
#define GA_LEASE_MS 5000
#define GA_POLL_MS  100 /* how often the module polls the control block */

#define GA_RECORDS_MAX 32768U /* of a ring: that many may be taken in one go */

#define GA_NAME 80
#define GA_ARGS 8
#define GA_COMM 16

#define GA_NAME_WORDS 3
#define GA_NAME_PARTS 3

enum ga_pass {
	GA_PASS_TASKS,
	GA_PASS_MODULES,
};

enum ga_state {
	GA_COMING, /* not complete yet, or unusable */
	GA_LIVE,
	GA_CLOSING, /* being unloaded: drain, then put the token back */
};

/* In the module's data, page-aligned. Written by the guest. */
struct ga_header {
	__u64 magic;       /* GA_MAGIC; 0 once the module is gone */
	__u32 version;     /* GA_VERSION: another one is refused */
	__u32 size;        /* of this structure */
	__u32 state;       /* enum ga_state */
	__u32 nrings;      /* entries at rings_gva */
	__u32 record_size; /* of struct ga_record */
	__u32 nslots;      /* GA_SLOTS: entries at catalogue_gva, and of ga_control.slots */
	__u64 token;       /* see above */
	__u64 control_gpa;
	__u64 control_size;
	__u64 catalogue_gva;
	__u64 rings_gva;
	__u64 doorbell_gva;  /* function called when a ring is half full, or as a slot asks */
	__u64 mark_gva;      /* function called between the two time stamps of `clock` */
	__u32 catalogue_seq; /* odd while the catalogue changes */
	__u32 omitted;       /* tracepoints without a slot */
	__u32 applied;       /* generation of ga_control that is in force */
	__u32 armed;         /* slots that are on */
	__u32 tsc_khz;       /* the guest's own value; marks are more exact */
	__u32 lapses;        /* times that everything was turned off because the heartbeat was missing */
	/*
	 * The last mark: the guest read its time-stamp counter, called the function at mark_gva,
	 * and read it again, with interrupts off. The trap on that function gives the host a time between the
	 * two.
	 */
	__u32 clock_seq; /* odd while the two below change; grows by 2 a mark */
	__u32 pad;
	__u64 clock_before;
	__u64 clock_after;
};

enum ga_kind {
	GA_OFF,
	GA_TRACEPOINT, /* slots below GA_TRACEPOINTS; `address` must be the catalogue's */
	GA_KPROBE,     /* the others; at the instruction at `address` */
	GA_KRETPROBE,  /* the others; return from the function at `address` */
};

/* What can be turned on, and how that went. Written by the guest. */
struct ga_entry {
	__u64 address;      /* struct tracepoint, or the requested kprobe's; 0: an empty slot */
	__u64 missed;       /* kprobes: hits that could not be taken; not in any ring's `lost` */
	__u32 armed;        /* enum ga_kind that is in force */
	__s32 error;        /* -errno with which arming failed; else 0 */
	char name[GA_NAME]; /* of the tracepoint, NUL-terminated; longer ones are cut */
};

enum ga_want_flags {
	GA_WANT_DOORBELL = 1, /* call the doorbell after each event */
	/*
	 * Only sys_enter and sys_exit: the rest of the call's data, read at the event. args[] of sys_enter:
	 * address of the registers, the call's number, its six arguments; of sys_exit: address of the
	 * registers, the result, the call's number.
	 */
	GA_WANT_SYSCALL = 2,
	/*
	 * Tracepoints: word GA_TASK_WORD(flags) of args[] is the address of a task, whose numbers and name
	 * are read at the event: args[5] its thread's number, and its process's above bit 31, args[6] and
	 * args[7] its comm; all 0 when that address can't be read.
	 */
	GA_WANT_TASK = 4,
};

#define GA_TASK_WORD(flags) ((flags) >> 8 & 7)
#define GA_TASK_FLAGS(word) (GA_WANT_TASK | (word) << 8)

/* All that this version has. */
#define GA_WANT_FLAGS (GA_WANT_DOORBELL | GA_WANT_SYSCALL | GA_TASK_FLAGS(7))

/* Written by the host: kind to GA_OFF, then the rest, then kind. */
struct ga_want {
	__u64 address;
	__u32 kind;  /* enum ga_kind */
	__u16 nargs; /* words to pass on, at most GA_ARGS */
	__u16 flags; /* enum ga_want_flags */
};

/* Physically contiguous, page-aligned. */
struct ga_control {
	__u64 owner; /* both, by compare-and-exchange */
	__u64 reserved[7];
	__u64 beat; /* from here on the host writes */
	__u32 generation;
	__u32 pad;
	__u64 reserved2[6];
	struct ga_want slots[GA_SLOTS];
};

struct ga_ring_place {
	__u64 gpa;     /* of struct ga_ring; 0: this CPU has none (yet) */
	__u64 percpu;  /* base of the CPU's per-CPU area, by which the host knows it */
	__u32 records; /* a power of two, at most GA_RECORDS_MAX */
	__u32 pad;
};

enum ga_record_flags {
	GA_RECORD_KPROBE = 1, /* args are those of a function by its registers */
	GA_RECORD_RETURN = 2, /* args[0] is the value returned */
	GA_RECORD_32BIT = 4,  /* GA_WANT_SYSCALL: a 32-bit call, which has other numbers */
};

struct ga_record {
	__u64 seq;  /* number of the record in its ring, plus 1; stored last */
	__u64 tsc;  /* time-stamp counter of this CPU */
	__u64 task; /* address of the running struct task_struct */
	__u32 pid;  /* of the thread, in the guest's first namespace, */
	__u32 tgid; /* and of its process */
	char comm[GA_COMM];
	__u32 slot;
	__u32 preempt; /* preempt_count() */
	__u32 cpu;     /* the guest's number */
	__u16 nargs;   /* words of args[] that mean something */
	__u16 flags;   /* enum ga_record_flags */
	__u64 args[GA_ARGS];
};

/* Physically contiguous, page-aligned. */
struct ga_ring {
	__u64 lost; /* events for which there was no room. Written by the guest */
	__u64 reserved[7];
	__u64 tail; /* number of the record to be taken next. Written by the host */
	__u64 reserved2[503];
	struct ga_record records[];
};

#endif
