#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tcpconnect: TCP connections that this guest opens
 *
 * Use:
 *   outsight tool tcpconnect [-g GUEST] [PROGRAM]
 *   PROGRAM    only processes of this name; all without it
 *
 * Example:
 *       PID PROGRAM          LOCAL                          REMOTE
 *       172 nc               127.0.0.1:35380                127.0.0.1:7777
 *
 * Caveats:
 *   Each attempt, whether or not it is answered. TCP Fast Open and MPTCP subflows are attempts too.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	printf("%7s %-16s %-30s %s\n", "PID", "PROGRAM", "LOCAL", "REMOTE");
}

fbt::tcp_connect:entry
/$$1 == "" || execname == $$1/
{
	this->local = strjoin(xlate <tcpsinfo_t *> ((struct sock *)arg0)->tcps_laddr, strjoin(":", lltostr(xlate <tcpsinfo_t *> ((struct sock *)arg0)->tcps_lport)));
	printf("%7d %-16s %-30s %s:%d\n", pid, execname, this->local, xlate <tcpsinfo_t *> ((struct sock *)arg0)->tcps_raddr, xlate <tcpsinfo_t *> ((struct sock *)arg0)->tcps_rport);
}
