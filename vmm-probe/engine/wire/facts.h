/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Facts: the constants that an engine needs of a guest. The operator's process finds them
 * (vmm-probe/guest/facts.c) and sends them with a session. The engine parses nothing of a guest; with the
 * facts it makes bounded, checked loads. All offsets are bytes; VP_NO_OFFSET: this kernel lacks the member,
 * and values that depend on it read as 0 (strings as "").
 */
#ifndef VP_ENGINE_WIRE_FACTS_H
#define VP_ENGINE_WIRE_FACTS_H

#include <stdint.h>

#include "vmm-probe/arch/regs.h"
#include "vmm-probe/engine/wire/kernel_trees.h"

#define VP_NO_OFFSET       0xffffffffu
#define VP_VCPUS_MAX       256
#define VP_GUEST_NAME      64
#define VP_TEXT_LOCKS      4
#define VP_SYSCALL_ARGS    6
#define VP_WRITERS         2
#define VP_RETURN_THUNKS   8
#define VP_UNNAMED         1ull
#define VP_SYSCALL_CALLERS 4 /* functions, at most */
/* In a task's thread_info.status: it is in a 32-bit system call. */
#define VP_TASK_COMPAT     2u

/* [start, end); empty: unknown. */
struct vp_text_range {
	uint64_t start, end;
};

/* For finding a process's copies of its memory after a fork (service/family.h). All, or none: init_task is 0.
 */
struct vp_family_facts {
	uint64_t init_task; /* the list of all processes begins there */
	uint64_t vmemmap;   /* the first struct page */
	uint32_t task_tasks;
	uint32_t mm_pgd, mm_exe_file, mm_start_stack;
	uint32_t page_size, page_mapping,
	    page_head;       /* struct page: its size; compound_head or compound_info */
	uint32_t page_index; /* with the others: which page of a file it is. VP_NO_OFFSET: unknown */
};

/* The constants for code that a guest executes itself (docs/design/017-resident-probes.md). All, or none:
 * image_end is 0. */
struct vp_resident_facts {
	uint64_t image_end; /* the kernel's image ends there */
	uint32_t task_size; /* bytes of a struct task_struct; 0: unknown, and nothing is read there */
	int32_t percpu;     /* offset, from a per-CPU area's base, of the part that the image laid out … */
	uint32_t percpu_size; /* … and its bytes */
	/* All tasks: processes from init_task on, and the threads of each. tasks VP_NO_OFFSET: unknown. */
	uint32_t tasks; /* in struct task_struct, with the next two */
	uint32_t signal, thread_node;
	uint32_t thread_head; /* in struct signal_struct */
	uint64_t init_task;
	/* Functions with which the kernel writes its memory to a disk, or leaves it to another kernel. 0: it
	 * has no such feature; VP_UNNAMED: it has, and the function is not among its symbols. */
	uint64_t writers[VP_WRITERS];
	/* Return thunks: a jump there is a function's return, and no call in its place. 0: no more. */
	uint64_t thunks[VP_RETURN_THUNKS];
};

/* For finding a process's mappings, and the pages of their files (hit/untouched.c). All, or none: vmemmap is
 * 0. A table of constants, as vp_facts is. */
struct vp_mapping_facts {
	uint64_t vmemmap; /* the first struct page */
	uint32_t mm_pgd;
	uint32_t mm_tree;                          /* the root of a maple tree of mappings, or … */
	uint32_t mm_rb, vma_rb, rb_left, rb_right; /* … VP_NO_OFFSET, and they are in a red-black tree */
	struct vp_maple_shape leaf, range;         /* nodes of a maple tree … */
	uint32_t maple_leaf, maple_range, maple_arange; /* … and their types */
	uint32_t vma_start, vma_end, vma_flags, vma_pgoff, vma_file, vma_ops, vma_anon;
	uint32_t vma_uffd; /* the userfaultfd that supplies its pages; VP_NO_OFFSET: the kernel has none */
	uint32_t file_mapping, mapping_pages; /* to the xarray of the file's pages */
	uint32_t xa_shift, xa_slots, xa_nslots;
	uint32_t folio_flags, folio_mapping, folio_index,
	    folio_uptodate; /* the last one: a bit of its flags */
	uint32_t page_size; /* of a struct page */
};

/* One flat struct with many fields: a table of constants that is sent as it is; each is found and used on its
 * own. */
struct vp_facts {
	uint32_t size; /* sizeof(struct vp_facts), the session is refused if the two sides differ */
	uint32_t guest_id;
	char guest_name[VP_GUEST_NAME];

	/* Kernel address space: its own root, so that PTI and user mode do not matter. */
	uint64_t kernel_root; /* guest physical address of the top table; 0: no facts of a guest */
	uint32_t levels;      /* 4 or 5 */
	uint32_t nvcpus;
	uint64_t user_pgd_mask; /* and-ed with CR3: the full page table of the running process (without PCID
				 * bits and PTI's bit 12) */

	/* Per-CPU areas, by vCPU index; 0: unknown. */
	uint64_t percpu_base[VP_VCPUS_MAX];

	uint64_t current_task;  /* offset in the per-CPU area of the pointer to the running task */
	uint64_t preempt_count; /* offset in the per-CPU area; ~0: unknown */
	uint32_t hardirq_mask, softirq_mask, nmi_mask;

	/* struct task_struct */
	uint32_t task_comm, task_comm_size;
	uint32_t task_pid, task_tgid, task_real_parent, task_cred, task_start_time;
	uint32_t task_sum_exec_runtime, task_exec_start, task_stack, task_mm, task_group_leader;
	uint32_t task_thread_pointer; /* the base of the thread's own thread-local storage */
	uint32_t task_status;         /* of thread_info: 32 bits, with VP_TASK_COMPAT */
	/* struct cred: kuid_t and kgid_t are one u32 */
	uint32_t cred_uid, cred_gid;
	/* struct pt_regs, for system calls' arguments */
	uint32_t ptregs_args[VP_SYSCALL_ARGS];
	uint32_t ptregs_args_32[VP_SYSCALL_ARGS]; /* those of 32-bit system calls */
	uint32_t ptregs_pc, ptregs_sp, ptregs_fp, ptregs_mode, ptregs_size;
	uint32_t ptregs_general[VP_NREGS_GENERAL]; /* by enum vp_reg */
	uint32_t ptregs_syscall;                   /* number of the system call that the task is in */
	/* The callers of system calls' functions, and those of 32-bit ones'. */
	struct vp_text_range syscall_caller, syscall_callers_32[VP_SYSCALL_CALLERS];

	/* Per-CPU run queue, for vtimestamp: offset of `runqueues` in the per-CPU area (~0: unknown), and
	 * of rq.clock_task in it. */
	uint64_t runqueues;
	uint32_t rq_clock_task;

	/* Kernel text, for stack walks: a return address outside [text_start, text_end) and outside the
	 * modules' range ends a walk. */
	uint64_t text_start, text_end;
	uint64_t modules_start, modules_end;
	uint64_t stack_size; /* THREAD_SIZE, bounds a walk */
	/* Words that are 0, apart from the low three bits, unless the kernel is about to read or change its
	 * text: the owners of its mutexes. 0: unknown. */
	uint64_t text_locks[VP_TEXT_LOCKS];
	uint64_t key_lock; /* such a word: of the mutex under which it patches branches on static keys */
	uint32_t
	    stack_padding; /* between the user's registers (struct pt_regs) and the top of a task's stack */
	struct vp_family_facts families;
	struct vp_mapping_facts mappings;
	struct vp_resident_facts resident;
};

#endif
