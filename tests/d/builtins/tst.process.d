/* ASSERTION: Without a guest the built-ins of a process are those of the tracing process. */
#pragma D option quiet

BEGIN
{
	printf("%d %d %d\n", pid == $pid, ppid == $ppid, tid > 0);
	printf("%d %d\n", uid == $uid, gid == $gid);
	printf("%s %s %d %d\n", execname, zonename, cpu, vcpu);
	printf("[%s] [%s] %d %d\n", execargs, jailname, jid, errno);
	printf("%d [%s] %d\n", ipl, guest, guestid);
	printf("%s\n", view);
	exit(0);
}
