/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: -Z allows a description that matches nothing.
 * @@args: -Z
 */
#pragma D option quiet

dtrace:::NOSUCH
{
	trace(1);
}

BEGIN
{
	printf("here\n");
	exit(0);
}
