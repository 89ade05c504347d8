/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: strlen() is no aggregating function.
 */
BEGIN
{
	@a = strlen("x");
}
