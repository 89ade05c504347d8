/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: The exit status is the low eight bits of what exit() got.
 * @@exit: 5
 */
#pragma D option quiet

BEGIN
{
	exit(256 + 5);
}
