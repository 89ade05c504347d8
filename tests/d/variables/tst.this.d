/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Clause-local variables are seen by the following clauses of the same firing.
 */
#pragma D option quiet

this int declared;

BEGIN
{
	this->x = 3;
	this->s = "str";
	this->declared = 9;
}

BEGIN
{
	printf("%d %s %d\n", this->x, this->s, this->declared);
	exit(0);
}
