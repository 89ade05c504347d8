/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An enumerator is an integer constant.
 */
enum e { A = "x" };

BEGIN
{
	exit(0);
}
