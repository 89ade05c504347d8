/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A size is a number.
 */
BEGIN
{
	tracemem(123, "is a string");
}
