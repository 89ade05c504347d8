/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An unknown function.
 */
BEGIN
{
	nosuch(1);
}
