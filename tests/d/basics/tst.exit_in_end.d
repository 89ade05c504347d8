/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: exit() in END overrides the exit status.
 * @@exit: 4
 */
#pragma D option quiet

BEGIN
{
	exit(1);
}

END
{
	exit(4);
}
