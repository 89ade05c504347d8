/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: The translator for the very type of the input is preferred; else one that the input could be
 * assigned to is taken, a null pointer included.
 */
#pragma D option quiet

struct a { int x; };
struct out { int which; };
translator struct out < int i > { which = 1; };
translator struct out < struct a *p > { which = 2; };
translator struct out < int64_t l > { which = 3; };

BEGIN
{
	this->p = (struct a *)NULL;
	this->l = (int64_t)1;
	this->c = (char)1;
	printf("%d %d %d %d\n", xlate <struct out> (1).which, xlate <struct out> (this->p).which,
	    xlate <struct out> (this->l).which, xlate <struct out> (this->c).which > 0);
	exit(0);
}
