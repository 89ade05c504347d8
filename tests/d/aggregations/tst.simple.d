/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Aggregations print at the end, in order of definition, without keys as a value alone.
 */
#pragma D option quiet

BEGIN
{
	@c = count();
	@c = count();
	@s = sum(10);
	@s = sum(-3);
	@a = avg(1);
	@a = avg(2);
	@a = avg(4);
	@mi = min(5);
	@mi = min(-2);
	@ma = max(5);
	@ma = max(-2);
	exit(0);
}
