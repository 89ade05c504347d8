/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A global that is never assigned is undefined.
 */
BEGIN
{
	trace(nosuch);
}
