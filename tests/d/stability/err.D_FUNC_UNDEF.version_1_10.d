/*
 * ASSERTION: json() came with 1.11: before that there is no such function.
 * @@args: -x version=1.10
 */
BEGIN
{
	trace(json("{}", "a"));
	exit(0);
}
