/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A translator may have an input of a type that is never defined, as long as it reads no member.
 */
#pragma D option quiet

struct known { int i; } *k;
struct out { int i; };
translator struct out < struct unknown *u > { i = ((struct known *)k)->i; };

BEGIN
{
	printf("compiled\n");
	exit(0);
}
