/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: The output of a translator is a struct or a union.
 */
translator int < int i > { i = i; };

BEGIN
{
	exit(0);
}
