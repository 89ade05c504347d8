/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: No type is long and short.
 */
long short x;

BEGIN
{
	exit(0);
}
