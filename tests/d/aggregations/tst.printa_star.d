/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: a width or precision of * is an integer key in printa(), before a key or before a value.
 */
#pragma D option quiet

BEGIN
{
	@a[8, 42] = sum(1);
	@a[-8, 43] = sum(2);
	printa("[%*d]\n", @a);
	printa("[%-*d]\n", @a);
	@b[6, 4] = sum(77);
	printa("[%*@d] [%*@x]\n", @b);
	printa("[%@*d]\n", @b);
	printa("[%*.*@d]\n", @b);
	printa("[%*d] %@d %@d\n", @b);
	exit(0);
}
