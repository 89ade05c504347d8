/*
 * ASSERTION: under pspec a word is a description even where it names a type.
 * @@args: -x zdefs -x pspec -q
 */
id_t
{
	printf("never\n");
}

BEGIN
{
	printf("once\n");
	exit(0);
}
