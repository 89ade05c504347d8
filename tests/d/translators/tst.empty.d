/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A translator need not define a single member.
 */
#pragma D option quiet

struct out { int i; };
translator struct out < int x > { };

BEGIN
{
	printf("compiled\n");
	exit(0);
}
