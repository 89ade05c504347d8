/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: -q leaves the data only.
 * @@args: -q
 */
BEGIN
{
	trace("x\n");
	exit(0);
}
