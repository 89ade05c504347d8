/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: without an encoding, aggpack is ASCII on a dumb terminal.
 */
#pragma D option quiet
#pragma D option aggpack

BEGIN
{
	@a = quantize(1);
	exit(0);
}
