/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: a statement of an aggregation that is not defined names nothing.
 */
BEGIN
{
	@nothing;
}
