/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: stddev is the integer root of mean square less square mean.
 */
#pragma D option quiet

BEGIN
{
	@ = stddev(2);
	@ = stddev(4);
	@ = stddev(4);
	@ = stddev(4);
	@ = stddev(5);
	@ = stddev(5);
	@ = stddev(7);
	@ = stddev(9);
	exit(0);
}
