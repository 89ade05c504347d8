/* ASSERTION: index() and rindex() take a place to start from, also one outside of the string. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d\n", index("foofoofoo", "foo"), rindex("foofoofoo", "foo"), index("foo", "bar"));
	printf("%d %d %d\n", index("foofoofoo", "foo", 1), index("foofoofoo", "foo", 6), index("foofoofoo", "foo", 7));
	printf("%d %d %d\n", index("foo", "foo", -400), index("foo", "o", 400), index("foo", "", 400));
	printf("%d %d %d\n", rindex("foofoofoo", "foo", 5), rindex("foofoofoo", "foo", 0), rindex("foo", "o", -1));
	printf("%d %d %d\n", rindex("foo", "", 400), rindex("foo", "", -1), rindex("foo", "", 2));
	printf("%d %d %d %d\n", index("", ""), rindex("", ""), index("", "x"), rindex("", "x"));
	exit(0);
}
