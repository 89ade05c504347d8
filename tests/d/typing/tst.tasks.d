/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A task is translated to psinfo_t and lwpsinfo_t, also by an inline of one's own; what kernel there is
 * does not matter as long as no member of struct task_struct is read.
 */
#pragma D option quiet

kthread_t *nobody;
inline lwpsinfo_t *mine = xlate <lwpsinfo_t *> (curthread);

BEGIN
{
	printf("%d %d\n", xlate <psinfo_t> (nobody).pr_addr, mine->pr_flag);
	printf("%d\n", sizeof(curthread));
	exit(0);
}
