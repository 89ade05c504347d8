/*
 * ASSERTION: Strings are cut at strsize when they are stored or made keys, and compared up to strsize; strjoin(), which
 * needs a NUL, finds no room for as many.
 */
#pragma D option quiet
#pragma D option strsize=8

BEGIN { printf("%d\n", "abcdefghijk" == "abcdefghxyz"); x = "abcdefghijk"; printf("[%s] %d\n", x, strlen(x)); }
BEGIN { self->z = "123456789"; a["abcdefghi"] = 1; printf("[%s] %d\n", self->z, a["abcdefghz"]); }
BEGIN { printf("[%s]\n", strjoin("abc", "defg")); }
BEGIN { printf("[%s]\n", strjoin("abcd", "efgh")); }
ERROR { printf("fault %d\n", arg4); }
BEGIN { exit(0); }
