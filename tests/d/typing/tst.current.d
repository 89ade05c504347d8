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
	exit(0);
}
