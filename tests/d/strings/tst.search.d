/* SPDX-License-Identifier: GPL-2.0-or-later
 * ASSERTION: index, rindex, strchr, strrchr and strstr.
 */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d\n", index("foobarfoo", "foo"), index("foobar", "x"), index("foobarfoo", "foo", 1));
	printf("%d %d\n", rindex("foobarfoo", "foo"), rindex("foobar", "x"));
	printf("%s %s %s\n", strchr("hello", 'l'), strrchr("hello", 'l'), strstr("foobar", "oba"));
	printf("%d %d\n", strstr("foobar", "x") == NULL, strchr("hello", 'z') == NULL);
	exit(0);
}
