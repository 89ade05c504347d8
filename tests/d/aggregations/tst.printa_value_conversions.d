/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: %@ takes every conversion of 64-bit integers, dates too, with flags before or after the width.
 */
#pragma D option quiet

BEGIN
{
	@when = max(1000000000000000000);
	printa("%@Y\n", @when);
	printa("%@T\n", @when);
	printa("%@p %@x %@X\n", @when);
	@n = sum(-255);
	printa("%@d %@i %@lld %@u %@o\n", @n);
	printa("[%6@d] [%@-6d] [%-6@d] [%@06d] [%@+d]\n", @n);
	@c = count();
	printa("%@d %@u %@#x %%@d %@d\n", @c);
	exit(0);
}
