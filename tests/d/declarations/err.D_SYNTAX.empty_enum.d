/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An enum has an enumerator.
 */
enum e { };

BEGIN
{
	exit(0);
}
