/* ASSERTION: toupper() and tolower() know ASCII letters only. */
#pragma D option quiet

BEGIN
{
	printf("%s|%s|%s\n", toupper("abc XYZ @[`{ 1"), tolower("abc XYZ @[`{ 1"), toupper(""));
	exit(0);
}
