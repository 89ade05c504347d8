/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sched provider's arguments: the CPU of a run queue, and what a thread may sleep on. */
#pragma D depends_on library procfs.d
#pragma D depends_on library procfs_task.d
#pragma D depends_on struct rq

inline int __rq_cpu[struct rq *R] = __has_member(struct rq, cpu) ? R->cpu : 0;

translator cpuinfo_t < struct rq *R > {
	cpu_id = __rq_cpu[R];
	cpu_pset = -1;
	cpu_chip = xlate <cpuinfo_t> (__rq_cpu[R]).cpu_chip;
	cpu_lgrp = 0;
	cpu_info = xlate <processor_info_t> (__cpu_facts[__rq_cpu[R]]);
};
