/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Types of kernel data that programs read by `name. BTF has types of functions and per-CPU variables only.
 */
#pragma D depends_on module vmlinux

extern unsigned long jiffies;
extern unsigned long jiffies_64;
extern unsigned long totalreserve_pages;
extern unsigned long max_pfn;
extern unsigned int nr_cpu_ids;
extern int nr_threads;
extern int panic_timeout;
extern int oops_in_progress;
extern unsigned int tsc_khz;
extern unsigned int cpu_khz;
extern unsigned long loops_per_jiffy;
extern struct task_struct init_task;
extern struct mm_struct init_mm;
extern struct uts_namespace init_uts_ns;
extern struct pid_namespace init_pid_ns;
extern struct net init_net;
extern unsigned long avenrun[3];
extern char *saved_command_line;
extern struct list_head modules;
