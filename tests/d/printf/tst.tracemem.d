/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: tracemem prints a hex dump.
 */
#pragma D option quiet

BEGIN
{
	this->p = (char *)alloca(18);
	bcopy("0123456789abcdeXAB", this->p, 18);
	tracemem(this->p, 18);
	exit(0);
}
