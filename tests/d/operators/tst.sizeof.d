/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: sizeof and offsetof follow the LP64 model.
 */
#pragma D option quiet

struct s {
	int a;
	char b;
	long c;
};

BEGIN
{
	printf("%d %d %d %d\n", sizeof(char), sizeof(short), sizeof(int), sizeof(long));
	printf("%d %d %d\n", sizeof(int *), sizeof(struct s), sizeof(string));
	printf("%d %d %d\n", offsetof(struct s, b), offsetof(struct s, c), sizeof(uint64_t));
	exit(0);
}
