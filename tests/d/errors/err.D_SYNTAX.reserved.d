/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Reserved words are no statements.
 */
BEGIN
{
	while (1)
		trace(1);
}
