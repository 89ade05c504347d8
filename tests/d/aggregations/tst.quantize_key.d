/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A keyed quantize prints each distribution under its key.
 */
#pragma D option quiet

BEGIN
{
	@["a"] = quantize(1);
	@["b"] = quantize(4);
	@["b"] = quantize(4);
	exit(0);
}
