/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A guest with one process that maps a file, in 2 MiB of memory, with types of its own: just what
 * vmm-probe/guest/process/ goes by.
 *
 *   process 7 ── mm ── mappings 0 to 19, each of one page with a page between; every second one of the file
 *   file ── /srv/data/prog, with a file system mounted on /srv; its pages 0 to 69: in a tree of two levels
 */
#ifndef TESTS_UNIT_PROCESS_FIXTURE_H
#define TESTS_UNIT_PROCESS_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>

#include "vmm-probe/guest/process/processes.h"

#define PF_BASE 0xffffffff92000000ull
#define PF_SIZE 0x20000u /* bytes that are used of its memory */
#define PF_PID  7u
#define PF_VMAS 20u

/* Where things are. */
#define PF_TASK    (PF_BASE + 0x0000u)
#define PF_PIDNR   (PF_BASE + 0x0100u)
#define PF_PID_NS  (PF_BASE + 0x0180u)
#define PF_MM      (PF_BASE + 0x0200u)
#define PF_FILE    (PF_BASE + 0x0300u)
#define PF_INODE   (PF_BASE + 0x0400u)
#define PF_SB      (PF_BASE + 0x0480u)
#define PF_MAPPING (PF_BASE + 0x0500u)
#define PF_VMEMMAP (PF_BASE + 0x0580u) /* the pointer to the first struct page */
#define PF_NR_CPUS (PF_BASE + 0x05c0u) /* how many entries the table of per-CPU areas has; it begins … */
#define PF_PERCPU  (PF_BASE + 0x200000u - 8u) /* … so that only the first is in memory */
#define PF_DENTRY(n)                                                                                       \
	(PF_BASE + 0x0600u + 0x40u * (n)) /* 0: the root; 1 "srv"; 2: the mounted root; 3 "data"; 4 "prog" \
					   */
#define PF_NAME(n)    (PF_BASE + 0x0800u + 0x20u * (n))
#define PF_MOUNT(n)   (PF_BASE + 0x16000u + 0x80u * (n)) /* 0: the root's; 1: on /srv */
#define PF_SIGNAL     (PF_BASE + 0x0a00u)                /* struct signal_struct: how many threads live */
#define PF_VDSO_IMAGE (PF_BASE + 0x0a40u)                /* struct vdso_image: data, size */
#define PF_NODE(n)    (PF_BASE + 0x2000u + 0x400u * (n)) /* of xarrays: 0 PIDs; 1 the file's top; 2, 3 below */
#define PF_MAPLE(n)   (PF_BASE + 0x4000u + 0x100u * (n)) /* 0: the top, 1 and 2: leaves */
#define PF_VMA(n)     (PF_BASE + 0x5000u + 0x60u * (n))
#define PF_PAGES      (PF_BASE + 0x8000u) /* struct page of each page of RAM, 64 bytes */
#define PF_DATA       (3u << 20)          /* physical: the file's pages */

/* Offsets. */
enum {
	PF_THIS_CPU_OFF = 0x40, /* in a per-CPU area */
	PF_NUMBERS = 24,        /* in a struct pid */
	PF_TGID = 16,
	PF_START = 24,
	PF_COMM = 32,
	PF_TASK_MM = 48,
	PF_LINKS = 64,
	PF_TASK_SIGNAL = 112,
	PF_EXEC_IDS = 120, /* self_exec_id and parent_exec_id, of 32 bits each */
	PF_TASK_FILES = 128,
	PF_TASK_NSPROXY = 136,
	PF_TASK_FS = 144,
	PF_FILE_OP = 40,
	PF_FILE_PRIVATE = 48,
	PF_SB_TYPE = 8,
	PF_SB_SUBTYPE = 16,
	PF_MNT_MOUNTS = 32,
	PF_MNT_CHILD = 48,
	PF_MNT_LINK = 64, /* mnt_list, or mnt_node */
	PF_MAP_COUNT = 8,
	PF_MA_ROOT = 24,
	PF_MMAP = 32,
	PF_MM_RB = 40,
	PF_EXE_FILE = 48, /* 0 at first */
	PF_VDSO = 64,     /* the kernel's code in the process, and … */
	PF_VDSO_OF = 72,  /* … its image in the kernel: both 0 at first */
	PF_VMA_NEXT = 16,
	PF_VMA_UFFD = 56,
	PF_VMA_RB = 64,
	PF_VMA_ANON = 88,
	PF_D_PARENT = 0,
	PF_D_LEN = 12,
	PF_D_NAME = 16,
	PF_D_PPREV = 32,
	PF_XA_SLOTS = 16,
	PF_FOLIO_MAPPING = 24,
	PF_FOLIO_INDEX = 32,
};

/* A file's page @p n has this address in the kernel's table of pages, and these are its bytes. */
#define PF_PAGE(n)     (PF_PAGES + 64u * ((PF_DATA >> 12) + (n)))
#define PF_FILE_PAGES  70u
#define PF_FOLIO_AT    64u /* pages 64 to 67 are one folio of four */
#define PF_FOLIO_PAGES 4u

struct process_guest;
struct btf_builder;

/* What a test's guest has besides: types, and symbols with their addresses (ends with a name of NULL). */
struct process_more {
	void (*add_types)(struct btf_builder *b, bool maple);
	const struct process_symbol {
		const char *name;
		uint64_t at;
	} * symbols;
};

/** @p maple: mappings are in a maple tree, else in a list. */
struct process_guest *process_guest_create(bool maple);
struct process_guest *process_guest_create_more(bool maple, const struct process_more *more);
void process_guest_destroy(struct process_guest *pg);
/** Reads of its memory since the last call. */
unsigned process_guest_reads(struct process_guest *pg);
/** Its kernel's page table maps PF_BASE no more (@p mapped false), or does again. */
void process_guest_map(struct process_guest *pg, bool mapped);
/** Its kernel's page table maps @p gva as it maps PF_BASE. */
void process_guest_map_at(struct process_guest *pg, uint64_t gva);
struct vp_processes *process_guest(struct process_guest *pg);
struct vp_guest *process_guest_kernel(struct process_guest *pg);

/** Add the guest's types, without those of a test. */
void process_guest_types(struct btf_builder *b, bool maple);

/** All as it was at first. */
void process_guest_reset(struct process_guest *pg);
uint64_t *process_word(struct process_guest *pg, uint64_t gva);
/** The file's page @p n in RAM. */
uint8_t *process_page(struct process_guest *pg, unsigned n);
/** The address that mapping @p n begins at. */
uint64_t process_vma_start(unsigned n);

#endif
