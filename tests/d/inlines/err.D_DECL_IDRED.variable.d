/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An inline of the name of a variable.
 */
int i;
inline int i = 1;

BEGIN
{
	exit(0);
}
