/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: What is current is described by curpsinfo, curlwpsinfo and curcpu too.
 */
#pragma D option quiet


BEGIN
{
	printf("%d %d %d\n", curpsinfo->pr_pid == pid, curpsinfo->pr_ppid == ppid, curpsinfo->pr_uid == uid);
	printf("%s %d %d\n", curpsinfo->pr_fname, curlwpsinfo->pr_lwpid == tid, curcpu->cpu_id);
	this->all = *curpsinfo;
	printf("%d %d\n", this->all.pr_pid == pid, this->all.pr_nlwp);
	printf("%d %d %d %d %c\n", curpsinfo->pr_nlwp, curpsinfo->pr_pgid == $pgid, curpsinfo->pr_sid == $sid,
	    curpsinfo->pr_contract, curlwpsinfo->pr_sname);
	printf("%d %d %d\n", pset, chip, lgrp);
	printf("%d %d %d\n", curpsinfo->pr_wstat, curpsinfo->pr_nzomb, curpsinfo->pr_taskid == $taskid);
	exit(0);
}
