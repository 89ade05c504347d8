/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Of a ?: with a constant in front only the arm that is taken has to make sense.
 */
#pragma D option quiet


BEGIN
{
	printf("%d %s\n", 1 ? 2 : nobody, sizeof(int) == 8 ? 3 + "x" : "four");
	exit(0);
}
