/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Per-CPU areas as Linux lays them out: a template in the image, whose symbols name what each area has, and
 * GS of each vCPU with what its area is behind the template. In the guest whose probes are resident.
 */
#include "guest.h"

#define MSR_EFER    0xc0000080u
#define EFER_NXE    (1u << 11)
#define MSR_GS_BASE 0xc0000101u

struct area {
	uint64_t this_cpu_off;
	uint64_t current_task;
	uint32_t preempt_count;
	uint8_t rest[65536 - 20]; /* what resident probes have of each vCPU is as far apart */
};

extern uint8_t __per_cpu_start[];
uint64_t __per_cpu_offset[MAX_CPUS];
static struct area areas[MAX_CPUS] __attribute__((aligned(4096)));
static uint64_t tasks[MAX_CPUS][8];

/* The template: only its addresses are of use. */
__asm__(".pushsection .data\n"
	".balign 4096\n"
	".globl __per_cpu_start, this_cpu_off, current_task, __preempt_count, __per_cpu_end\n"
	"__per_cpu_start:\n"
	"this_cpu_off: .quad 0\n"
	"current_task: .quad 0\n"
	"__preempt_count: .quad 0\n"
	"__per_cpu_end:\n"
	".popsection\n");

void percpu_setup(uint32_t cpu)
{
	uint64_t base = (uint64_t)&areas[cpu] - (uint64_t)__per_cpu_start;
	uint32_t low, high;

	/* Its page tables may have pages that can't be executed, as Linux's do. */
	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(MSR_EFER));
	__asm__ volatile("wrmsr" : : "c"(MSR_EFER), "a"(low | EFER_NXE), "d"(high));
	areas[cpu].this_cpu_off = base;
	areas[cpu].current_task = (uint64_t)tasks[cpu];
	__per_cpu_offset[cpu] = base;
	__asm__ volatile("wrmsr" : : "c"(MSR_GS_BASE), "a"((uint32_t)base), "d"((uint32_t)(base >> 32)));
}
