/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: The data of one clause stands on one line, in the order of its statements.
 */
BEGIN
{
	trace(7);
	trace("x");
	trace(8LL);
	exit(0);
}
