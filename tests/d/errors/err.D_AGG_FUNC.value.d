/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: The right side of an aggregation must aggregate.
 */
BEGIN
{
	@a = 1;
}
