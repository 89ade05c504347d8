/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A clause that records nothing prints no line.
 */
BEGIN
{
	x = 1;
}

BEGIN
{
	trace(x);
	exit(0);
}

END
{
	x = 2;
}
