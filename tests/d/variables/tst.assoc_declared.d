/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A declared associative array, with string values too.
 */
#pragma D option quiet

int count[string];
string name[int, int];

BEGIN
{
	count["x"]++;
	count["x"]++;
	name[1, 2] = "one-two";
	printf("%d %d %s\n", count["x"], count["y"], name[1, 2]);
	exit(0);
}
