/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * proc(4)'s structs of the current thread, the only one that is known where no kernel's types are: from the
 * built-in variables.
 */
#pragma D depends_on library procfs.d
#pragma D depends_on module nobtf

translator psinfo_t < kthread_t *T > {
	pr_pid = pid;
	pr_ppid = ppid;
	pr_uid = uid;
	pr_euid = uid;
	pr_gid = gid;
	pr_egid = gid;
	pr_addr = (uintptr_t)T;
	pr_psargs = execname;
	pr_fname = execname;
	pr_dmodel = PR_MODEL_LP64;
};

translator lwpsinfo_t < kthread_t *T > {
	pr_flag = 0;
	pr_lwpid = tid;
	pr_addr = (uintptr_t)T;
	pr_state = SONPROC;
	pr_sname = 'O';
	pr_onpro = cpu;
	pr_bindpset = -1;
	pr_name = execname;
};

translator cpuinfo_t < kthread_t *T > {
	cpu_id = cpu;
	cpu_pset = -1;
};

inline psinfo_t *curpsinfo = xlate <psinfo_t *> (curthread);
inline lwpsinfo_t *curlwpsinfo = xlate <lwpsinfo_t *> (curthread);
inline cpuinfo_t *curcpu = xlate <cpuinfo_t *> (curthread);
