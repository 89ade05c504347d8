/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A size is a number.
 */
BEGIN
{
	printm("is a string", memref(0, 8));
}
