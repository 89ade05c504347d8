/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: rawbytes shows strings as bytes.
 */
#pragma D option quiet

#pragma D option rawbytes
#pragma D option strsize=5

BEGIN
{
	trace("abc");
	exit(0);
}
