#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tcptop: bytes over TCP by process and peer
 *
 * Use:
 *   outsight tool tcptop [-g GUEST] [SECONDS [COUNT]]
 *   SECONDS    between two tables; 1 without it
 *   COUNT      tables, then the end; without it until Ctrl-C
 *
 * Example:
 *       PID PROGRAM          REMOTE                         DIR          BYTES
 *       248 nc               127.0.0.1:44118                W                6
 *       254 nc               127.0.0.1:7777                 R                6
 *       248 nc               127.0.0.1:44118                R                9
 *       254 nc               127.0.0.1:7777                 W                9
 *
 * Caveats:
 *   Bytes that programs gave to the kernel or took from it; those that sendfile or splice moved are received ones only.
 *   The 20 largest are printed.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	every = $1 > 0 ? $1 : 1;
	left = every;
	tables = $2 > 0 ? $2 : -1;
}

fbt::tcp_sendmsg:entry
{
	self->sock = (struct sock *)arg0;
}

fbt::tcp_sendmsg:return
/self->sock && (int)arg1 > 0/
{
	@bytes[pid, execname, strjoin(xlate <tcpsinfo_t *> ((struct sock *)self->sock)->tcps_raddr,
	    strjoin(":", lltostr(xlate <tcpsinfo_t *> ((struct sock *)self->sock)->tcps_rport))), "W"] = sum((int)arg1);
}

fbt::tcp_sendmsg:return
{
	self->sock = 0;
}

/* What was taken leaves room for more: arg1 is its size. */
fbt::tcp_cleanup_rbuf:entry
/(int)arg1 > 0/
{
	@bytes[pid, execname, strjoin(xlate <tcpsinfo_t *> ((struct sock *)arg0)->tcps_raddr, strjoin(":", lltostr(xlate <tcpsinfo_t *> ((struct sock *)arg0)->tcps_rport))), "R"] =
	    sum((int)arg1);
}

tick-1s
{
	left--;
}

tick-1s
/left == 0/
{
	printf("\n%Y\n", walltimestamp);
	printf("%7s %-16s %-30s %-3s %14s\n", "PID", "PROGRAM", "REMOTE", "DIR", "BYTES");
	trunc(@bytes, 20);
	printa("%7d %-16s %-30s %-3s %@14d\n", @bytes);
	trunc(@bytes);
	left = every;
	tables--;
}

tick-1s
/tables == 0/
{
	exit(0);
}

END
{
	printf("%7s %-16s %-30s %-3s %14s\n", "PID", "PROGRAM", "REMOTE", "DIR", "BYTES");
	printa("%7d %-16s %-30s %-3s %@14d\n", @bytes);
}
