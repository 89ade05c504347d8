/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A pointer to void is a string's address, where a function takes a string.
 */
#pragma D option quiet

BEGIN
{
	p = alloca(8);
	bcopy("ab,cd", p, 6);
	printf("%d %s %s %s ", strlen(p), strjoin(p, "!"), strtok(p, ","), substr(p, 3));
	printf("%d %s\n", index(p, ","), strtok("x,b", (const void *)p));
	exit(0);
}
