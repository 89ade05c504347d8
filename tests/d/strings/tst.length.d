/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: strlen, strjoin, toupper and tolower.
 */
#pragma D option quiet

BEGIN
{
	printf("%d %d\n", strlen("hello"), strlen(""));
	printf("%s %s|\n", strjoin("ab", "cd"), strjoin("", ""));
	printf("%s %s\n", toupper("MiXed 9"), tolower("MiXed 9"));
	exit(0);
}
