#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tcplife: TCP connections as they end, with their age and bytes
 *
 * Use:
 *   outsight tool tcplife [-g GUEST]
 *
 * Example:
 *       PID PROGRAM          LOCAL                          REMOTE                               SENT   RECEIVED        ms
 *       245 nc               127.0.0.1:44106                127.0.0.1:7777                         11          7       130
 *       241 nc               127.0.0.1:7777                 127.0.0.1:44106                         7         10       119
 *
 * Caveats:
 *   Connections that were established while the tool runs. PID and PROGRAM are those that ran when the connection was
 *   opened or first used: of one that came in, often whichever process was interrupted.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	printf("%7s %-16s %-30s %-30s %10s %10s %9s\n", "PID", "PROGRAM", "LOCAL", "REMOTE", "SENT", "RECEIVED", "ms");
}

/* States: 1 established, 2 SYN sent, 7 closed. */
fbt::tcp_set_state:entry
/arg1 == 2/
{
	by[arg0] = pid;
	name[arg0] = execname;
}

fbt::tcp_set_state:entry
/arg1 == 1/
{
	born[arg0] = timestamp;
}

fbt::inet_csk_accept:return
/arg1/
{
	by[arg1] = pid;
	name[arg1] = execname;
}

fbt::tcp_set_state:entry
/arg1 == 7 && born[arg0]/
{
	this->local = strjoin(xlate <tcpsinfo_t *> ((struct sock *)arg0)->tcps_laddr, strjoin(":", lltostr(xlate <tcpsinfo_t *> ((struct sock *)arg0)->tcps_lport)));
	this->remote = strjoin(xlate <tcpsinfo_t *> ((struct sock *)arg0)->tcps_raddr, strjoin(":", lltostr(xlate <tcpsinfo_t *> ((struct sock *)arg0)->tcps_rport)));
	printf("%7d %-16s %-30s %-30s %10d %10d %9d\n", by[arg0], name[arg0], this->local, this->remote,
	    ((struct tcp_sock *)arg0)->bytes_acked, ((struct tcp_sock *)arg0)->bytes_received,
	    (timestamp - born[arg0]) / 1000000);
}

fbt::tcp_set_state:entry
/arg1 == 7/
{
	born[arg0] = 0;
	by[arg0] = 0;
	name[arg0] = 0;
}
