/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: what is aggregated has 64 bits though the type of an expression of constants is int.
 */
#pragma D option quiet

BEGIN
{
	@shift = sum(1 << 40);
	@product = sum(1000000 * 1000000);
	@last = max((1 << 63) - 1);
	@first = min(1 << 63);
	this->kept = 3 << 33;
	@kept = sum(this->kept);
	exit(0);
}
