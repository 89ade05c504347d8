/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An integer constant that does not fit.
 */
BEGIN
{
	trace(0x1ffffffffffffffff);
}
