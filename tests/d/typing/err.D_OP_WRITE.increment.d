/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Built-in variables are not incremented.
 */
BEGIN
{
	pid++;
	exit(0);
}
