/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Arguments of an inline array fit its parameters.
 */
inline int plus[int a, int b] = a + b;

BEGIN
{
	trace(plus[1, "x"]);
	exit(0);
}
