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
	int pr_wstat;
	int pr_argc;
	uintptr_t pr_argv;
	uintptr_t pr_envp;
	char pr_dmodel;
	int pr_taskid;
	int pr_projid;
	int pr_nzomb;
	int pr_poolid;
	int pr_zoneid;
	int pr_contract;
	int pr_jailid;
	unsigned int pr_arglen;
} psinfo_t;

typedef struct lwpsinfo {
	int pr_flag;
	id_t pr_lwpid;
	uintptr_t pr_addr;
	uintptr_t pr_wchan;
	char pr_stype;
	char pr_state;
	char pr_sname;
	char pr_nice;
	short pr_syscall;
	int pr_pri;
	string pr_clname;
	int pr_onpro;
	int pr_bindpro;
	int pr_bindpset;
	string pr_name;
} lwpsinfo_t;

typedef struct processor_info {
	int pi_state;
	string pi_processor_type;
	string pi_fputypes;
	int pi_clock;
} processor_info_t;

typedef struct cpuinfo {
	int cpu_id;
	int cpu_pset;
	int cpu_chip;
	int cpu_lgrp;
	processor_info_t cpu_info;
} cpuinfo_t;

/* a CPU's pi_state */
inline int P_OFFLINE = 1;
inline int P_ONLINE = 2;
inline int P_STATUS = 3;
inline int P_FAULTED = 4;
inline int P_POWEROFF = 5;
inline int P_NOINTR = 6;
inline int P_SPARE = 7;

/* pr_ttydev of a process that has no terminal */
inline uint64_t PRNODEV = 0xffffffffffffffff;

inline char PR_MODEL_UNKNOWN = 0;
inline char PR_MODEL_ILP32 = 1;
inline char PR_MODEL_LP64 = 2;

inline int PR_STOPPED = 0x00000001;
inline int PR_ISTOP = 0x00000002;
inline int PR_DSTOP = 0x00000004;
inline int PR_STEP = 0x00000008;
inline int PR_ASLEEP = 0x00000010;
inline int PR_PCINVAL = 0x00000020;
inline int PR_ASLWP = 0x00000040;
inline int PR_AGENT = 0x00000080;
inline int PR_DETACH = 0x00000100;
inline int PR_DAEMON = 0x00000200;
inline int PR_ISSYS = 0x00001000;
inline int PR_VFORKP = 0x00002000;
inline int PR_ORPHAN = 0x00004000;
inline int PR_NOSIGCHLD = 0x00008000;
inline int PR_WAITPID = 0x00010000;
inline int PR_FORK = 0x00100000;
inline int PR_RLC = 0x00200000;
inline int PR_KLC = 0x00400000;
inline int PR_ASYNC = 0x00800000;
inline int PR_BPTADJ = 0x01000000;
inline int PR_MSACCT = 0x02000000;
inline int PR_PTRACE = 0x04000000;
inline int PR_MSFORK = 0x08000000;
inline int PR_IDLE = 0x10000000;

inline char SSLEEP = 1;
inline char SRUN = 2;
inline char SZOMB = 3;
inline char SSTOP = 4;
inline char SIDL = 5;
inline char SONPROC = 6;
inline char SWAIT = 7;

/* pr_stype of other systems; Linux does not keep what a task sleeps on */
inline char SOBJ_NONE = 0;
inline char SOBJ_MUTEX = 1;
inline char SOBJ_RWLOCK = 2;
inline char SOBJ_CV = 3;
inline char SOBJ_SEMA = 4;
inline char SOBJ_USER = 5;
inline char SOBJ_USER_PI = 6;
inline char SOBJ_SHUTTLE = 7;
