/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: There is no void inline.
 */
inline void v = 1;

BEGIN
{
	exit(0);
}
