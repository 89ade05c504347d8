/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Logical operators give 0 or 1; ^^ is exclusive or.
 */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d\n", 3 && 0, 3 && 4, 0 || 0, 0 || 9);
	printf("%d %d %d\n", 5 ^^ 6, 5 ^^ 0, 0 ^^ 0);
	printf("%d %d %d\n", !5, !0, !!7);
	exit(0);
}
