/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: -e compiles and does not run.
 * @@args: -e
 */
#pragma D option quiet

BEGIN
{
	printf("never\n");
	exit(5);
}
