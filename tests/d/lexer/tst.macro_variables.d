/*
 * ASSERTION: macro variables are integers, and strings with two dollars; the user's and the group's
 * ones are the process's own.
 */
#pragma D option quiet

BEGIN
/$pid == pid && $ppid == ppid && $uid == uid && $gid == gid && $euid == $uid && $egid == $gid/
{
	printf("%d %d %d %d\n", strlen($$pid) > 0, $$pid == lltostr($pid), $pgid > 0, $sid >= 0);
	printf("%d %d %s %d %d\n", sizeof($pid), $target, $$target, $projid, $taskid);
	exit(0);
}
