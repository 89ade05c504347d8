/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: The last argument must be used.
 * @@args: 5
 */
BEGIN
{
	trace(1);
}
