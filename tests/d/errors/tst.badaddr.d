/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: A load from an address that is not there is a fault with that address.
 */
#pragma D option quiet

BEGIN
{
	trace(*(int *)0x10);
}

BEGIN
{
	exit(0);
}

ERROR
{
	printf("fault %d address %x\n", arg4, arg5);
}
