/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: agghist draws counts and sums as bars, of either sign; aggzoom scales to the longest bar.
 */
#pragma D option quiet
#pragma D option agghist

BEGIN
{
	@mixed["up"] = sum(30);
	@mixed["down"] = sum(-12);
	@small[(char)1, (short)2, 3] = count();
	@small[(char)1, (short)2, 4] = count();
	@small[(char)1, (short)2, 4] = count();
	@debts["rent"] = sum(-700);
	@debts["milk"] = sum(-3);
	@avg = avg(5);
	printa(@mixed);
	printa(@small);
	printa(@debts);
	printa(@avg);
	setopt("aggzoom");
	printa(@mixed);
	printa(@small);
	printa(@debts);
	normalize(@debts, 10);
	printa(@debts);
	exit(0);
}
