/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Too few arguments.
 */
BEGIN
{
	trace(strlen());
}
