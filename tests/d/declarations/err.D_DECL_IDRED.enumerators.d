/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Two enums cannot share an enumerator.
 */
enum e { ONE };
enum f { ONE };

BEGIN
{
	exit(0);
}
