/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Integer keys print by their size and sort as unsigned.
 */
#pragma D option quiet

int n;

BEGIN
{
	n = -1;
	@[n] = count();
	n = 1;
	@[n] = count();
	@b[1LL, (char)3] = count();
	exit(0);
}
