/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A built-in variable cannot be written.
 */
BEGIN
{
	timestamp = 1;
}
