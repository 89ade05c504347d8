/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: The keys of an array keep their types.
 */
BEGIN
{
	a["x"] = 1;
	trace(a[1]);
}
