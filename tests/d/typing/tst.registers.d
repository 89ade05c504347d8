/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Registers have names.
 */
#pragma D option quiet


BEGIN
{
	printf("%d %d %d\n", R_PC == R_RIP, R_SP == R_RSP, R_R0);
	exit(0);
}
