/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: basename, dirname and cleanpath.
 */
#pragma D option quiet

BEGIN
{
	printf("%s %s %s\n", basename("/a/b/c"), basename("/"), basename(""));
	printf("%s %s %s\n", dirname("/a/b/c"), dirname("/x"), dirname("x"));
	printf("%s %s\n", cleanpath("/a/./b/../c"), cleanpath("/a//b"));
	exit(0);
}
