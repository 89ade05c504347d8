/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: $1 is an integer if its text is one, $$1 is always a string.
 * @@args: 5 7 hello
 */
#pragma D option quiet

BEGIN
{
	printf("%d %d %s %s\n", $1, $2 + 1, $$2, $$3);
	exit(0);
}
