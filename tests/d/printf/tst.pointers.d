/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: %p prints hexadecimal without a prefix.
 */
#pragma D option quiet

BEGIN
{
	printf("%p %p\n", (void *)0x1234, 0xffff);
	printf("[%?x]\n", 0x12);
	exit(0);
}
