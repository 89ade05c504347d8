/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: String and character conversions.
 */
#pragma D option quiet

BEGIN
{
	printf("[%s] [%8s] [%-8s] [%.3s]\n", "abc", "abc", "abc", "abcdef");
	printf("%c%c %%\n", 'o', 'k');
	printf("%S\n", "tab\there");
	printf("[%*d] [%-*s]\n", 5, 42, 6, "ab");
	exit(0);
}
