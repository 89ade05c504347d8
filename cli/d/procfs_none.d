/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc(4)'s structs without a kernel's types: for the current thread only. Members that Linux does not have,
 * or that are unknown, are 0.
 */
#pragma D depends_on library procfs.d
#pragma D depends_on module nobtf

translator psinfo_t < kthread_t *T > {
	pr_nlwp = 1;
	pr_pid = pid;
	pr_ppid = ppid;
	pr_pgid = $pgid;
	pr_sid = $sid;
	pr_uid = uid;
	pr_euid = $euid;
	pr_gid = gid;
	pr_egid = $egid;
	pr_addr = (uintptr_t)T;
	pr_ttydev = 0;
	pr_fname = execname;
	pr_psargs = execname;
	pr_wstat = 0;
	pr_argc = 0;
	pr_argv = 0;
	pr_envp = $envp;
	pr_dmodel = PR_MODEL_LP64;
	pr_taskid = $taskid;
	pr_projid = $projid;
	pr_nzomb = 0;
	pr_poolid = 0;
	pr_zoneid = 0;
	pr_contract = 0;
	pr_jailid = 0;
	pr_arglen = 0;
};

translator lwpsinfo_t < kthread_t *T > {
	pr_flag = 0;
	pr_lwpid = tid;
	pr_addr = (uintptr_t)T;
	pr_wchan = 0;
	pr_stype = 0;
	pr_state = SONPROC;
	pr_sname = 'O';
	pr_nice = 0;
	pr_syscall = 0;
	pr_pri = 0;
	pr_clname = "";
	pr_onpro = cpu;
	pr_bindpro = -1;
	pr_bindpset = -1;
	pr_name = execname;
};

translator processor_info_t < int id > {
	pi_state = P_ONLINE;
	pi_processor_type = "";
	pi_fputypes = "";
	pi_clock = 0;
};

translator cpuinfo_t < int id > {
	cpu_id = id;
	cpu_pset = -1;
	cpu_chip = 0;
	cpu_lgrp = 0;
	cpu_info = xlate <processor_info_t> (id);
};

translator cpuinfo_t < kthread_t *T > {
	cpu_id = cpu;
	cpu_pset = -1;
	cpu_chip = 0;
	cpu_lgrp = 0;
	cpu_info = xlate <processor_info_t> (0);
};

inline psinfo_t *curpsinfo = xlate <psinfo_t *> (curthread);
inline lwpsinfo_t *curlwpsinfo = xlate <lwpsinfo_t *> (curthread);
inline cpuinfo_t *curcpu = xlate <cpuinfo_t *> ((int)cpu);
inline int pset = curcpu->cpu_pset;
inline int chip = curcpu->cpu_chip;
inline int lgrp = curcpu->cpu_lgrp;
