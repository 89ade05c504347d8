#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tcpaccept: TCP connections that programs of this guest accept
 *
 * Use:
 *   outsight tool tcpaccept [-g GUEST] [PROGRAM]
 *   PROGRAM    only processes of this name; all without it
 *
 * Example:
 *       PID PROGRAM          LOCAL                          REMOTE
 *       234 nc               127.0.0.1:7777                 127.0.0.1:44096
 *
 * Caveats:
 *   When the program accepts it; the connection may have been established earlier.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	printf("%7s %-16s %-30s %s\n", "PID", "PROGRAM", "LOCAL", "REMOTE");
}

fbt::inet_csk_accept:return
/arg1 && ($$1 == "" || execname == $$1)/
{
	this->local = strjoin(xlate <tcpsinfo_t *> ((struct sock *)arg1)->tcps_laddr, strjoin(":", lltostr(xlate <tcpsinfo_t *> ((struct sock *)arg1)->tcps_lport)));
	printf("%7d %-16s %-30s %s:%d\n", pid, execname, this->local, xlate <tcpsinfo_t *> ((struct sock *)arg1)->tcps_raddr, xlate <tcpsinfo_t *> ((struct sock *)arg1)->tcps_rport);
}
