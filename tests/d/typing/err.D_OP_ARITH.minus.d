/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Only numbers have a negative.
 */
BEGIN
{
	trace(-"a");
	exit(0);
}
