/* SPDX-License-Identifier: GPL-2.0-or-later */
/* proc(4)'s structs of any task of a guest. Members that Linux does not have are 0. */
#pragma D depends_on library procfs.d
#pragma D depends_on module vmlinux
#pragma D depends_on module btf

translator psinfo_t < kthread_t *T > {
	pr_nlwp = T->signal->nr_threads;
	pr_pid = T->tgid;
	pr_ppid = T->real_parent->tgid;
	pr_uid = T->cred->uid.val;
	pr_euid = T->cred->euid.val;
	pr_gid = T->cred->gid.val;
	pr_egid = T->cred->egid.val;
	pr_addr = (uintptr_t)T;
	pr_psargs = stringof(T->comm);
	pr_fname = stringof(T->comm);
	pr_dmodel = PR_MODEL_LP64;
	pr_taskid = 0;
	pr_projid = 0;
	pr_poolid = 0;
	pr_zoneid = 0;
	pr_contract = 0;
};

translator lwpsinfo_t < kthread_t *T > {
	pr_flag = 0;
	pr_lwpid = T->pid;
	pr_addr = (uintptr_t)T;
	pr_pri = T->prio;
	pr_onpro = cpu;
	pr_bindpro = -1;
	pr_bindpset = -1;
	pr_name = stringof(T->comm);
};

inline psinfo_t *curpsinfo = xlate <psinfo_t *> (curthread);
inline lwpsinfo_t *curlwpsinfo = xlate <lwpsinfo_t *> (curthread);
