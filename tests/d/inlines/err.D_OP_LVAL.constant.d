/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An inline constant cannot be assigned to.
 */
inline int i = 1;

BEGIN
{
	i = 2;
	exit(0);
}
