/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Strings are cut at strsize bytes; no terminator takes one of them.
 */
#pragma D option quiet

#pragma D option strsize=8

BEGIN
{
	s = "0123456789";
	printf("%s %d %d\n", s, strlen(s), sizeof(string));
	exit(0);
}
