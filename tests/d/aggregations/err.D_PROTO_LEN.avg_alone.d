/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: avg() takes an argument.
 */
BEGIN
{
	@a = avg();
}
