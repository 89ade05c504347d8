/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Casts to narrow integers truncate and extend by the sign of the type.
 */
#pragma D option quiet

BEGIN
{
	printf("%d %d\n", (char)300, (unsigned char)-1);
	printf("%d %d\n", (short)70000, (unsigned short)-1);
	printf("%d %u\n", (int)0x1ffffffff, (uint32_t)-1);
	printf("%d\n", (char)200);
	exit(0);
}
