/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ASSERTION: what arithmetic on a narrow type made is assigned to a wider variable as it is; a cast widens by the
 * narrow type, and assigning to a narrow variable narrows.
 */
#pragma D option quiet

int64_t wide;
int narrow;

BEGIN
{
	bit = 31;
	wide = 1 << bit;
	printf("%d\n", wide);
	wide = -(1 << bit);
	printf("%d\n", wide);
	wide = (int64_t)(1 << bit);
	printf("%d\n", wide);
	narrow = 1 << bit;
	printf("%d\n", narrow);
	exit(0);
}
