/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An argument that was not given.
 */
BEGIN
{
	trace($1);
}
