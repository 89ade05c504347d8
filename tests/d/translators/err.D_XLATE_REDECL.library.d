/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: What the system's D libraries translate is not translated again.
 */
translator lwpsinfo_t < kthread_t *T > { pr_flag = 0; };

BEGIN
{
	exit(0);
}
