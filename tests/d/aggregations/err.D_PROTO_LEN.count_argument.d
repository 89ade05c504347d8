/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: count() takes no argument.
 */
BEGIN
{
	@a = count(1);
}
