/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: trace prints integers by their size; small ones by their raw unsigned value.
 */
BEGIN
{
	trace((char)5);
	trace((short)6);
	trace(7);
	trace(8LL);
}

BEGIN
{
	trace((char)-1);
	trace(-1);
	trace("str");
	exit(0);
}
