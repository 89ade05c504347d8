/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: BEGIN and END print a line each with CPU, ID and name, below one header.
 */
BEGIN
{
	trace(1);
	exit(0);
}

END
{
	trace("end");
}
