/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An aggregation has no address.
 */
BEGIN
{
	@a = count();
	trace(&@a);
	exit(0);
}
