/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An inline array is used with its arguments.
 */
inline int plus[int a, int b] = a + b;

BEGIN
{
	trace(plus);
	exit(0);
}
