/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: -x strsize changes the size of strings.
 * @@args: -x strsize=512
 */
#pragma D option quiet

BEGIN
{
	printf("%d\n", sizeof(string));
	exit(0);
}
