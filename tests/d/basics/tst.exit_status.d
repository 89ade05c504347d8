/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: exit() gives the exit status.
 * @@exit: 42
 */
#pragma D option quiet

BEGIN
{
	exit(42);
}
