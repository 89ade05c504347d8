/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: D has no static variables.
 */
static int x;

BEGIN
{
	exit(0);
}
