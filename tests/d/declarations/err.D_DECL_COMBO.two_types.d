/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A variable is of one type.
 */
int float x;

BEGIN
{
	exit(0);
}
