/*
 * ASSERTION: With a process to trace %A takes plain addresses of it; one without a name shows as a number.
 * @@args: -c /bin/true
 */
#pragma D option quiet

BEGIN
{
	printf("%A|%10A|\n", 16, (void *)32);
	exit(0);
}
