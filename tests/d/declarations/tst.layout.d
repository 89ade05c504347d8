/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: Members lie where C puts them: padding, anonymous structs, unions, arrays.
 */
#pragma D option quiet


struct mixed {
	char a;
	long b;
	short c;
	union { int e; char f[3]; };
	struct { char g; short h; } i;
	char j[5];
};

BEGIN
{
	printf("%d %d %d %d %d\n", offsetof(struct mixed, b), offsetof(struct mixed, e), offsetof(struct mixed, f),
	    offsetof(struct mixed, i), offsetof(struct mixed, j));
	printf("%d %d\n", sizeof(struct mixed), sizeof(struct { int a; char b; }));
	exit(0);
}
