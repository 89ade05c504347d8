/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An inline is undefined in its own expression.
 */
inline int i = i + 1;

BEGIN
{
	exit(0);
}
