/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An inline of the name of a built-in variable.
 */
inline int pid = 1;

BEGIN
{
	exit(0);
}
