/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: squares add up in 128 bits, so that a deviation of large numbers is exact.
 */
#pragma D option quiet

BEGIN
{
	@large = stddev(4000000000000000000);
	@large = stddev(4000000000000000006);
	@signs = stddev(-4000000000000000000);
	@signs = stddev(4000000000000000000);
	@least = stddev(1 << 63);
	@one = stddev(-5);
	@normal = stddev(10000);
	@normal = stddev(20000);
	normalize(@normal, 10);
	printa("%@d %@u %@x\n", @large);
	exit(0);
}
