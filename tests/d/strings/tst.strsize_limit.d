/*
 * ASSERTION: Strings are cut at strsize - 1 when they are stored or made keys, compared up to strsize, and strjoin()
 * finds no room for more.
 */
#pragma D option quiet
#pragma D option strsize=8

BEGIN { printf("%d\n", "abcdefghijk" == "abcdefghxyz"); x = "abcdefghijk"; printf("[%s] %d\n", x, strlen(x)); }
BEGIN { self->z = "123456789"; a["abcdefghi"] = 1; printf("[%s] %d\n", self->z, a["abcdefghz"]); }
BEGIN { printf("[%s]\n", strjoin("abc", "defg")); }
BEGIN { printf("[%s]\n", strjoin("abcd", "efgh")); }
ERROR { printf("fault %d\n", arg4); }
BEGIN { exit(0); }
