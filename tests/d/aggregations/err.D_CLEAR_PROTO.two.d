/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: clear() takes one argument.
 */
BEGIN
{
	@a = count();
	clear(@a, 1);
}
