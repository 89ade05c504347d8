/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Clause-local variables are no associative arrays.
 */
BEGIN
{
	this->a[1] = 2;
}
