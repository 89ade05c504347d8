/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Probes, their sites and their enablings, as ENABLE carries them: the layout that both sides use. */
#ifndef VP_ENGINE_WIRE_BATCH_H
#define VP_ENGINE_WIRE_BATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "vmm-probe/engine/wire/cpc.h"
#include "vmm-probe/engine/wire/facts.h"

/* The meaning of arg0..arg9 at a probe. */
enum vp_args {
	VP_ARGS_NONE,           /* all 0 (BEGIN, END; tick: arg0 0, arg1 1) */
	VP_ARGS_FBT_ENTRY,      /* System V: rdi rsi rdx rcx r8 r9, then the stack */
	VP_ARGS_FBT_RETURN,     /* arg0 offset of the site in its function, arg1 rax */
	VP_ARGS_SYSCALL_ENTRY,  /* from struct pt_regs at rdi: di si dx r10 r8 r9 */
	VP_ARGS_SYSCALL_RETURN, /* arg0 = arg1 = rax; errno = -rax when in [-4095, -1] */
	VP_ARGS_PROFILE,        /* arg0 kernel pc or 0, arg1 user pc or 0, arg2 lateness in ns, or for a
				 * counter how many overflows did not fire since the last that did */
	VP_ARGS_ERROR, /* dtrace:::ERROR: arg1 epid, arg2 action, arg3 offset, arg4 fault, arg5 address */
	VP_ARGS_AGENT, /* the words that the guest's agent passed on */
	VP_ARGS_SITE,  /* of a probe: each of its sites decides, by `args`, `raw` and `program` */
	VP_ARGS_SYSCALL32_ENTRY, /* of a 32-bit call: from struct pt_regs at rdi: bx cx dx si di bp */
};

/* How a site may be trapped by a backend that changes guest text. Other backends need no trap and ignore it.
 */
enum vp_site_trap {
	VP_SITE_TEXT, /* in its text; the instruction is a nop or is emulated (insn.h) */
	VP_SITE_STEP, /* in its text; the vCPU then single-steps the instruction: ordinary registers and
		       memory only */
	VP_SITE_HW,   /* by a debug register; then as TEXT if possible, else as STEP. In a process: and then
		       * the CPU executes the instruction */
};

/* A site in the functions with which a kernel reads and patches its own text. Traps are removed from the
 * guest from when a vCPU is at an ENTER until it, or the one that its task has moved to, is at a LEAVE. */
enum vp_sentinel {
	VP_SENTINEL_NONE,
	VP_SENTINEL_ENTER, /* in the straight-line code at the function's beginning */
	VP_SENTINEL_LEAVE, /* an exit of the function */
	/* In the functions that patch branches on static keys; planted while a trap is on such a branch. Only
	 * the traps on branches that the guest is about to patch are removed. */
	VP_SENTINEL_KEY_ENTER, /* of the function that gets the address of a branch's struct jump_entry as its
				* first parameter, where that is still in its register */
	VP_SENTINEL_KEY_LEAVE, /* an exit of the function after which all of those branches are patched */
	/* In functions whose first parameter, still in its register there, is a struct module: */
	VP_SENTINEL_MODULE_COMES, /* its text and tables are complete, its initialisation has not begun */
	VP_SENTINEL_MODULE_GOES,  /* its memory is about to be freed. An ENTER too */
	/* In a function whose first parameter, still in its register there, is a struct vm_area_struct: a
	 * mapping that the running process has just made or changed. For semaphores in files; only where the
	 * backend changes no text. */
	VP_SENTINEL_MAPS,
};

/* A function that the guest's agent calls to notify the host (guest-agent/agent_abi.h). */
enum vp_agent_call {
	VP_AGENT_CALL_NONE,
	VP_AGENT_CALL_DOORBELL = 1,
	VP_AGENT_CALL_MARK = 2,
};

/* Events of a vCPU that a VMM sees and its guest does not: the vm provider's. */
enum vp_vm_kind {
	VP_VM_EXIT,  /* out of the guest. arg0 reason, arg1 ns in the guest */
	VP_VM_ENTRY, /* before entering the guest. arg0 ns since the exit */
	VP_VM_IN,    /* a port read. arg0 port, arg1 bytes, arg2 the (first) value, arg3 how many */
	VP_VM_OUT,   /* the same, written */
	VP_VM_READ,  /* an access outside RAM. arg0 guest physical address, arg1 bytes, arg2 value */
	VP_VM_WRITE,
	VP_VM_STAT, /* a statistic, once a second. arg0 its increase, arg1 its value */
	VP_VM_KINDS,
};

/* An event: its kind, and for EXIT the reason (KVM_EXIT_*, or HIT: a trap of ours), for STAT the index. */
#define VP_VM_EVENT(kind, what) ((uint32_t)(kind) << 16 | (uint32_t)(what))
#define VP_VM_HIT               0xffffu

/*
 * ENABLE's memfd: struct vp_batch, then arrays and a string pool at the given offsets.
 */
struct vp_batch {
	uint32_t size;
	uint32_t nprobes, probes_offset;       /* struct vp_batch_probe */
	uint32_t nsites, sites_offset;         /* struct vp_batch_site */
	uint32_t necbs, ecbs_offset;           /* struct vp_batch_ecb, in program order per probe */
	uint32_t strings_offset, strings_size; /* NUL-terminated, last byte NUL */
	uint32_t nagents, agent_offset;        /* struct vp_batch_agent: 0 or 1 of them */
	uint32_t dof_offset, dof_size;         /* site programs, see struct vp_batch_site; 0 bytes: none */
};

enum vp_probe_kind {
	VP_PROBE_SITE,       /* fires when a vCPU executes one of its sites */
	VP_PROBE_PROFILE,    /* fires on every vCPU each interval_ns */
	VP_PROBE_ERROR,      /* dtrace:::ERROR of this session, for faults on this engine */
	VP_PROBE_HOST,       /* BEGIN, END, tick: fired by the operator's process (host engine only) */
	VP_PROBE_SENTINEL,   /* internal: all its sites have `sentinel`, and it has no ECB */
	VP_PROBE_VM,         /* fires on an event of a vCPU */
	VP_PROBE_AGENT,      /* fires for records of the guest's agent */
	VP_PROBE_AGENT_CALL, /* internal: all its sites have `agent`, and it has no ECB */
	VP_PROBE_CPC,        /* fires on a vCPU when its counter of `cpc` overflows */
};

/* AGENT: the events of its slot for which a probe fires. */
enum vp_agent_when {
	VP_WHEN_ALWAYS,
	VP_WHEN_FIRST, /* of a thread group's leader */
	VP_WHEN_WORD,  /* (args[when_word] & when_mask) == when_value, before `skip` */
};

#define VP_AGENT_SKIP_MAX 4u

/* AGENT: the events that the guest's agent must report, and those for which a probe fires. */
struct vp_batch_event {
	uint64_t address; /* as reported by the guest's agent */
	uint32_t slot;    /* the tracepoint's; else chosen by the engine */
	uint32_t nargs;   /* words of arguments to pass on */
	uint32_t want;    /* enum ga_kind */
	uint32_t flags;   /* enum ga_want_flags */
	uint32_t syscall; /* not 0: fires only for system call number syscall - 1 */
	uint32_t skip;    /* words of the event before the probe's arguments */
	uint32_t when;    /* enum vp_agent_when */
	uint32_t when_word;
	uint64_t when_mask, when_value;
};

/* The process that a probe's sites are in: a hit fires only in it. All four must be its own, so that neither
 * a later process with the same number nor another program in the same process is mistaken for it. */
struct vp_batch_process {
	uint64_t root;     /* guest physical address of its top page table: VP_REG_ROOT under user_pgd_mask */
	uint64_t mm;       /* address of its struct mm_struct */
	uint64_t since_ns; /* start_time of its first thread */
	uint32_t pid;      /* in the first PID namespace; 0: the sites are in the kernel's text */
	uint32_t pad;
};

struct vp_batch_probe {
	uint32_t id;                               /* probe id as shown */
	uint32_t kind;                             /* enum vp_probe_kind */
	uint32_t args;                             /* enum vp_args */
	uint32_t provider, module, function, name; /* offsets in the string pool */
	uint32_t first_site, nsites;
	uint32_t event; /* VM: VP_VM_EVENT() */
	uint64_t interval_ns;
	struct vp_batch_event agent; /* AGENT */
	struct vp_cpc_event cpc;     /* CPC */
	struct vp_batch_process process;
	/* Not 0: its sites are in a file of the guest's, and a hit fires in every process that executes the
	 * file's own page. The address of its struct address_space; `process` is then unset. */
	uint64_t file;
	/* 1: with `file`; it stands in for the probes of processes that are not enabled yet. It fires for a
	 * clause where no probe of the process's own does at that place; and the name of its provider ends
	 * with an asterisk, for which the process's number is put. Else 0 */
	uint32_t stands_in;
	uint32_t pad;
};

/*
 * The agent in the guest, as the operator's process found it. A later batch may name another one (the guest
 * has reloaded its module): then that batch's AGENT probes without ECBs give the new places of the probes of
 * the same ids, and its AGENT_CALL sites replace the earlier ones.
 */
struct vp_batch_agent {
	uint64_t token;
	uint64_t header_gpa;
	uint64_t control_gpa;
	uint32_t tsc_khz; /* as the guest reports it */
	uint32_t pad;
	struct {
		uint64_t gpa; /* 0: none */
		uint32_t records;
		uint32_t pad;
	} rings[VP_VCPUS_MAX]; /* by vCPU */
};

/* A site's condition: fires only in system calls of the kernel's own ABI. 32-bit system calls run functions
 * without parameters too. */
#define VP_SYSCALL_NATIVE 0xffffffffu
/* The same, of 32-bit ones only. */
#define VP_SYSCALL_COMPAT 0xfffffffeu
/* With a number: of a 32-bit system call. */
#define VP_SYSCALL_32     0x80000000u

/*
 * Site programs. A site may have a condition and arguments of its own. A program is a clause of the batch's
 * DOF without aggregations, of at most VP_SITE_ARGS actions `trace(expression)`: its predicate is the
 * condition (none: always), its n-th action's value is argN. A site's `raw` program computes the arguments of
 * the place (the instruction's: a tracepoint's, from the registers that hold them), its `program` those of
 * the probe in terms of these; without `raw`, the arguments of the place are by `args`. So a program may use
 * regs[], memory and arg0 … arg9 one level below, and the variables of the session's program. Conditions are
 * evaluated once a firing, `raw`'s first; an argument when a clause first asks for it. Neither is evaluated
 * again for the firing's other ECBs, except an argument in scratch memory, and after a fault.
 */
#define VP_SITE_ARGS 10u

struct vp_batch_site {
	uint64_t gva; /* with `process` of its probe, an address of that process; with `file`, an offset in
		       * that; else the kernel's */
	/* In a module's text: its struct module, whose page is unmapped with the module even where the kernel
	 * keeps the text's page for another one; else 0. */
	uint64_t owner;
	/* Not 0: a branch on a static key. There is a nop or a jump to this address, and the guest may
	 * exchange one for the other at any time. */
	uint64_t target;
	uint32_t offset;   /* from the start of its function: arg0 of a return probe */
	uint8_t length;    /* of the instruction */
	uint8_t bytes[15]; /* as the operator's process read it; the engine compares before it plants */
	/* Not 0: fires only in system call number syscall - 1, and only if the function is about to return to
	 * the caller of system calls' functions (facts.syscall_caller, syscall_callers_32): the site is in
	 * shared code that the call tail-calls. */
	uint32_t syscall; /* … with VP_SYSCALL_32 or not; or VP_SYSCALL_NATIVE, VP_SYSCALL_COMPAT */
	uint8_t room;     /* at least `length`: includes bytes after the instruction that never execute; in a
			   * process, whatever follows it in its page */
	uint8_t trap;     /* enum vp_site_trap */
	uint8_t sentinel; /* enum vp_sentinel */
	uint8_t agent;    /* enum vp_agent_call */
	uint16_t pushed;  /* sentinels: the return address is this many bytes above rsp */
	uint8_t args;     /* enum vp_args: FBT_*, SYSCALL*_* or NONE. Only of a probe with VP_ARGS_SITE */
	uint8_t pad2;
	uint32_t raw, program; /* 1 + index of a clause of the batch's DOF; 0: none. Only with VP_ARGS_SITE */
	/* Only in a process: address of a static probe's semaphore, a 16-bit number without which the program
	 * skips the place. The engine keeps it raised while the site is in its plan. In a file, and of a
	 * probe that stands in: its offset in the file; the engine raises it where processes map that, if the
	 * batch or an earlier one has a VP_SENTINEL_MAPS. 0: there is none, or it must not be raised */
	uint64_t semaphore;
};

/** Is it in a process, and not in the kernel, whose half of the address space is the upper one? */
static inline bool vp_batch_site_is_user(const struct vp_batch_site *site)
{
	return !(site->gva >> 63);
}

struct vp_batch_ecb {
	uint32_t epid;
	uint32_t clause; /* index in the program */
	uint32_t probe;  /* index in this batch */
	uint32_t pad;
};

/* Both sides may be built by different compilers: no struct has padding but where it says so. */
_Static_assert(sizeof(struct vp_batch) == 13 * 4, "");
_Static_assert(sizeof(struct vp_cpc_event) == 2 * 8 + 2 * 4, "");
_Static_assert(sizeof(struct vp_batch_event) == 3 * 8 + 8 * 4, "");
_Static_assert(sizeof(struct vp_batch_process) == 3 * 8 + 2 * 4, "");
_Static_assert(sizeof(struct vp_batch_probe) == 10 * 4 + 8 + sizeof(struct vp_batch_event) +
						    sizeof(struct vp_cpc_event) +
						    sizeof(struct vp_batch_process) + 8 + 2 * 4,
	       "");
_Static_assert(sizeof(struct vp_batch_agent) == 3 * 8 + 2 * 4 + VP_VCPUS_MAX * 16, "");
_Static_assert(sizeof(struct vp_batch_site) == 3 * 8 + 4 + 16 + 4 + 4 + 2 + 2 + 2 * 4 + 8, "");
_Static_assert(sizeof(struct vp_batch_ecb) == 4 * 4, "");

#endif
