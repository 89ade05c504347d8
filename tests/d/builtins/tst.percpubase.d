/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Where no guest is, there is no per-CPU area: percpubase is a fault, not 0.
 */
#pragma D option quiet

BEGIN
{
	printf("%x\n", percpubase);
}

ERROR
{
	printf("fault %d\n", arg4);
}

BEGIN
{
	exit(0);
}
