/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An enum has one enumerator of a name.
 */
enum e { A, A };

BEGIN
{
	exit(0);
}
