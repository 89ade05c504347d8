/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: trace() does not take an aggregation.
 */
BEGIN
{
	@a = count();
	trace(@a);
}
