/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An integer constant that is too large.
 */
BEGIN
{
	trace(0x1ffffffffffffffff);
}
