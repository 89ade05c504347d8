/* ASSERTION: basename() and dirname() of paths of every shape. */
#pragma D option quiet

BEGIN
{
	printf("%s %s\n", basename("/foo/bar/baz"), dirname("/foo/bar/baz"));
	printf("%s %s\n", basename("/foo/bar///baz//"), dirname("/foo/bar///baz//"));
	printf("%s %s\n", basename("f"), dirname("f"));
	printf("%s %s\n", basename("f/"), dirname("f/"));
	printf("%s %s\n", basename("/f"), dirname("/f"));
	printf("%s %s\n", basename("///"), dirname("///"));
	printf("%s %s\n", basename(""), dirname(""));
	printf("%s %s\n", basename("./."), dirname("./."));
	exit(0);
}
