/*
 * ASSERTION: system() runs in its record's place: earlier output has been written, later output waits.
 * @@args: -wq
 */
BEGIN
{
	printf("one\n");
	system("echo two; echo three $((1 + %d)) %s %s", 2, "four", execname);
	printf("five");
	system("printf six");
}

BEGIN
{
	system("exit 3");
	system("echo %5d%%", 100);
	exit(0);
}
