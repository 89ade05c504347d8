/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An inline int is no string.
 */
inline int i = "a string";

BEGIN
{
	exit(0);
}
