/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Built-in variables are not added to.
 */
BEGIN
{
	pid += 1;
	exit(0);
}
