/*
 * ASSERTION: system() runs where its record stands: what was printed before it is out, what comes after waits.
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
