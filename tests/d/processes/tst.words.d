/*
 * ASSERTION: A command is split at blanks, by no shell.
 * @@args: -c "printf %s|  a$HOME b"
 */
#pragma D option quiet

BEGIN
{
	started = timestamp;
}
