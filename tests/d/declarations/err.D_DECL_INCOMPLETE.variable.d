/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A variable has a defined type.
 */
struct never_defined x;

BEGIN
{
	exit(0);
}
