/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Without a translator there is no translation, to an integer neither.
 */
BEGIN
{
	trace(xlate <int> (1));
	exit(0);
}
