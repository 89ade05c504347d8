/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A clause must be closed.
 */
BEGIN
{
	trace(1);
