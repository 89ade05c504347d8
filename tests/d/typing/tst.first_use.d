/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An operator other than = makes an int64_t of a thread- or clause-local variable that is not known yet.
 */
#pragma D option quiet


BEGIN
{
	printf("%d %d %d\n", !self->unknown, sizeof(self->other), -this->third == this->third);
	self->unknown = 5;
	counted++;
	printf("%d %d\n", self->unknown, counted);
	exit(0);
}
