/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The same of any task, where there is a kernel to read it from. */
#pragma D depends_on library procfs.d
#pragma D depends_on module vmlinux
#pragma D depends_on module btf

translator psinfo_t < struct task_struct *T > {
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
	pr_zoneid = 0;
};

translator lwpsinfo_t < struct task_struct *T > {
	pr_flag = 0;
	pr_lwpid = T->pid;
	pr_addr = (uintptr_t)T;
	pr_pri = T->prio;
	pr_name = stringof(T->comm);
};
