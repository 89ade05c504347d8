/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An inline array takes as many arguments as it has parameters.
 */
inline int plus[int a, int b] = a + b;

BEGIN
{
	trace(plus[1]);
	exit(0);
}
