/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Integer and character constants.
 */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d %d\n", 0x10, 010, 10u, 5L);
	printf("%d %x\n", 0xffffffff, 0xFFFFFFFFFFFFFFFF);
	printf("%d %d %d %d\n", 'a', '\n', '\x41', '\101');
	printf("%x\n", 'ab');
	exit(0);
}
