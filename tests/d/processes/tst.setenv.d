/*
 * ASSERTION: setenv and unsetenv change what the command finds in its environment.
 * @@args: -x setenv=OT_TEST=set -x setenv=OT_OTHER=too -x unsetenv=LC_ALL -c "printenv OT_TEST OT_OTHER LC_ALL"
 */
#pragma D option quiet


BEGIN
{
	started = timestamp;
}
