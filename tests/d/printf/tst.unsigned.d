/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: %d of an unsigned type prints unsigned, %i signed; %x at the size of the type.
 */
#pragma D option quiet

BEGIN
{
	printf("%d %i\n", (unsigned int)-1, (unsigned int)-1);
	printf("%x %x %x\n", (char)-1, (short)-1, -1);
	printf("%u\n", -1);
	exit(0);
}
