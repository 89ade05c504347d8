/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A declared associative array, with string values too.
 */
#pragma D option quiet

int hits[string];
string name[int, int];

BEGIN
{
	hits["x"]++;
	hits["x"]++;
	name[1, 2] = "one-two";
	printf("%d %d %s\n", hits["x"], hits["y"], name[1, 2]);
	exit(0);
}
