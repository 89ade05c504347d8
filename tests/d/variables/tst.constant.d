/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: An integer constant is cut to the type of the variable that it is assigned to, as in C, and a value that is no
 * constant is not.
 */
#pragma D option quiet

uint16_t x;
uint32_t y;
int8_t c;
this uint8_t t;
self int32_t s;
uint16_t at[string];

BEGIN
{
	x = 0xbeefcafe;
	y = x;
	c = 0x1ff;
	this->t = 0x1234;
	self->s = 0x123456789;
	at["x"] = 0x12345;
	printf("%x %d %x %x %x\n", y, c, this->t, self->s, at["x"]);
	n = 1;
	n = 0x123456789;
	printf("%x\n", n);
	wide = 0x123456789;
	n = wide;
	printf("%x\n", n + 0L);
	exit(0);
}
