/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Small integers are not made larger by arithmetic; the larger operand decides.
 */
#pragma D option quiet


BEGIN
{
	printf("%d %d\n", (uint8_t)255 + (uint8_t)1, (uint8_t)255 + 1);
	printf("%d %d\n", sizeof((char)1 + (char)1), sizeof((char)1 + (short)1));
	printf("%d %d\n", sizeof((int)1 + 1L), sizeof((short)1 << 3L));
	printf("%d\n", (unsigned int)1 > -1);
	exit(0);
}
