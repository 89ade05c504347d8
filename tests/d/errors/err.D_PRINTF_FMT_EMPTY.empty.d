/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: The format must not be empty.
 */
BEGIN
{
	printf("");
}
