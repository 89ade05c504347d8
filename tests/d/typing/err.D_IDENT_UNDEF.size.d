/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: sizeof does not define a variable.
 */
BEGIN
{
	trace(sizeof(nobody));
	exit(0);
}
