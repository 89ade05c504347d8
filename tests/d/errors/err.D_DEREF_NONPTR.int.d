/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Only pointers can be dereferenced.
 */
BEGIN
{
	trace(*1);
}
