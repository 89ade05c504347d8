/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Associative arrays: absent is 0, assigning 0 frees, keys are tuples.
 */
#pragma D option quiet

BEGIN
{
	a["one", 1] = 10;
	a["two", 2] = 20;
	a["one", 2] = 30;
	printf("%d %d %d %d\n", a["one", 1], a["two", 2], a["one", 2], a["two", 1]);
	a["one", 1] = 0;
	a["two", 2]++;
	printf("%d %d\n", a["one", 1], a["two", 2]);
	exit(0);
}
