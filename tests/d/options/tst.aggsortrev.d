/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: aggsortrev turns the order round.
 * @@args: -x aggsortrev
 */
#pragma D option quiet

BEGIN
{
	@["a"] = sum(1);
	@["b"] = sum(2);
	exit(0);
}
