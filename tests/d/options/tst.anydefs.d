/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: With anydefs a clause needs one of its descriptions only, whichever it is.
 */
#pragma D option quiet
#pragma D option anydefs

dtrace:::NOSUCH, dtrace:::BEGIN
{
	printf("first\n");
}

dtrace:::BEGIN, dtrace:::NOSUCH, dtrace:::NEITHER
{
	printf("last\n");
	exit(0);
}
