/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Byte swapping.
 */
#pragma D option quiet

BEGIN
{
	printf("%x %x\n", htons(0x1234), ntohs(0x3412));
	printf("%x %x\n", htonl(0x12345678), ntohl(0x78563412));
	printf("%x\n", htonll(0x0102030405060708));
	exit(0);
}
