/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: strtok() goes on at the delimiter that ended the last token, which is not one any more if the delimiters have
 * changed.
 */
#pragma D option quiet

BEGIN
{
	printf("%s ", strtok("abcdef", "defghi"));
	printf("%s ", strtok(NULL, "fF"));
	printf("%d\n", strtok(NULL, "fF") == NULL);
	printf("%s ", strtok("ab", "b"));
	printf("%s\n", strtok(NULL, "x"));
	exit(0);
}
