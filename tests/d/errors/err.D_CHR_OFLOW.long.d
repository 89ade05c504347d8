/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A character constant of more than eight bytes.
 */
BEGIN
{
	trace('123456789');
}
