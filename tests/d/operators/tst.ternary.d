/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: ?: groups from the right, takes strings too, and faults in the dead arm do not happen.
 */
#pragma D option quiet

BEGIN
{
	x = 0;
	printf("%d %d\n", 1 ? 2 : 3 ? 4 : 5, 0 ? 2 : 0 ? 4 : 5);
	printf("%s\n", x ? "yes" : "no");
	printf("%d\n", x == 0 ? -1 : 10 / x);
	exit(0);
}
