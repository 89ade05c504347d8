/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Processes, threads and processors, as described in proc(4) of other systems. Linux has no such structs:
 * procfs_task.d and procfs_none.d define the members.
 */
typedef struct psinfo {
	int pr_nlwp;
	pid_t pr_pid;
	pid_t pr_ppid;
	pid_t pr_pgid;
	pid_t pr_sid;
	uint32_t pr_uid;
	uint32_t pr_euid;
	uint32_t pr_gid;
	uint32_t pr_egid;
	uintptr_t pr_addr;
	uint64_t pr_ttydev;
	string pr_fname;
	string pr_psargs;
	int pr_argc;
	uintptr_t pr_argv;
	uintptr_t pr_envp;
	char pr_dmodel;
	int pr_taskid;
	int pr_projid;
	int pr_poolid;
	int pr_zoneid;
	int pr_contract;
} psinfo_t;

typedef struct lwpsinfo {
	int pr_flag;
	id_t pr_lwpid;
	uintptr_t pr_addr;
	uintptr_t pr_wchan;
	char pr_stype;
	char pr_state;
	char pr_sname;
	short pr_syscall;
	int pr_pri;
	string pr_clname;
	int pr_onpro;
	int pr_bindpro;
	int pr_bindpset;
	string pr_name;
} lwpsinfo_t;

typedef struct cpuinfo {
	int cpu_id;
	int cpu_pset;
	int cpu_chip;
	int cpu_lgrp;
} cpuinfo_t;

/* For the current thread only: the CPU on which another one last ran is not read. */
translator cpuinfo_t < kthread_t *T > {
	cpu_id = cpu;
	cpu_pset = -1;
	cpu_chip = 0;
	cpu_lgrp = 0;
};

inline cpuinfo_t *curcpu = xlate <cpuinfo_t *> (curthread);
inline int pset = curcpu->cpu_pset;
inline int chip = curcpu->cpu_chip;
inline int lgrp = curcpu->cpu_lgrp;

inline char PR_MODEL_UNKNOWN = 0;
inline char PR_MODEL_ILP32 = 1;
inline char PR_MODEL_LP64 = 2;

inline int PR_STOPPED = 0x00000001;
inline int PR_ISTOP = 0x00000002;
inline int PR_DSTOP = 0x00000004;
inline int PR_ASLEEP = 0x00000010;
inline int PR_ISSYS = 0x00001000;
inline int PR_MSACCT = 0x02000000;

inline char SSLEEP = 1;
inline char SRUN = 2;
inline char SZOMB = 3;
inline char SSTOP = 4;
inline char SIDL = 5;
inline char SONPROC = 6;
inline char SWAIT = 7;
