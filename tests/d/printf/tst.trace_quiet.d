/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: In quiet mode trace prints bare values.
 */
#pragma D option quiet

BEGIN
{
	trace(5);
	trace(" ");
	trace(-7LL);
	trace("str\n");
	exit(0);
}
