/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Integer conversions, widths and flags.
 */
#pragma D option quiet

BEGIN
{
	printf("%d %i %u %o %x %X\n", -5, -5, 7, 64, 255, 255);
	printf("[%5d] [%-5d] [%05d] [%+d] [% d]\n", 42, 42, 42, 42, 42);
	printf("[%#x] [%#o] [%8x] [%-8x]\n", 255, 8, 0xbeef, 0xbeef);
	printf("%lld %llx %ld %hd\n", 1LL << 40, 1LL << 40, 5L, (short)-3);
	exit(0);
}
