/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Enumerators of D enums are integer constants; typedefs name types.
 */
#pragma D option quiet

enum color {
	RED,
	GREEN = 5,
	BLUE
};
typedef unsigned char byte_t;
byte_t b;

BEGIN
{
	b = 257;
	printf("%d %d %d %d\n", RED, GREEN, BLUE, b);
	exit(0);
}
