/* The kernel's own names for itself, read from its memory. */
#pragma D option quiet

BEGIN
{
	printf("%s %s\n", stringof(`init_uts_ns.name.sysname), stringof(`init_uts_ns.name.release));
	printf("%s\n", stringof(`saved_command_line));
	exit(0);
}
