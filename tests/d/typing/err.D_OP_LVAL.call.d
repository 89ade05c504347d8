/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A result is not assigned to.
 */
BEGIN
{
	strlen("a") = 4;
	exit(0);
}
