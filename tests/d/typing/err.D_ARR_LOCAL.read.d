/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A clause-local variable is no associative array, not even to read.
 */
BEGIN
{
	trace(this->a[1]);
	exit(0);
}
