/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: The type of an inline is defined.
 */
struct never;
struct never *p;
inline struct never v = *p;

BEGIN
{
	exit(0);
}
