/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: an aggregation is no key.
 */
BEGIN
{
	@a = count();
	@b[@a] = count();
}
