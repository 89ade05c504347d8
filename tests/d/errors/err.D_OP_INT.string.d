/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Bitwise operators take integers.
 */
BEGIN
{
	trace(1 & "x");
}
