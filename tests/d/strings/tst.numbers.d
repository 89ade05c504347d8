/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: lltostr and strtoll, with bases.
 */
#pragma D option quiet

BEGIN
{
	printf("%s %s %s %s\n", lltostr(123), lltostr(-5), lltostr(255, 16), lltostr(8, 8));
	printf("%d %d %d %d\n", strtoll("77"), strtoll("-12x"), strtoll("ff", 16), strtoll("0x1f", 16));
	exit(0);
}
