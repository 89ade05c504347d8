/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An expression is not called.
 */
BEGIN
{
	(pid + 1)(1);
	exit(0);
}
