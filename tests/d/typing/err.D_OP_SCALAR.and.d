/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: && takes scalars.
 */
BEGIN
{
	trace("a" && 1);
	exit(0);
}
