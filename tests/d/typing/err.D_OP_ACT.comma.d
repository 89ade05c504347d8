/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An action is no operand.
 */
BEGIN
{
	trace(1), trace(2);
	exit(0);
}
