/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A string is no integer.
 */
BEGIN
{
	trace((int)"a");
	exit(0);
}
