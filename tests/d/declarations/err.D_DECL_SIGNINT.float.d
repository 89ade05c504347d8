/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A float has no sign to choose.
 */
unsigned float x;

BEGIN
{
	exit(0);
}
