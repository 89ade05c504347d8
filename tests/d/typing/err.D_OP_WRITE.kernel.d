/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: What a built-in pointer leads to is not written.
 */
BEGIN
{
	*curthread = *curthread;
	exit(0);
}
