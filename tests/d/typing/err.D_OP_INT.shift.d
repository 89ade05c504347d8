/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Shifts take integers.
 */
BEGIN
{
	trace(1 << "a");
	exit(0);
}
