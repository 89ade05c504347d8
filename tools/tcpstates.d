#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tcpstates: changes of state of TCP connections, with the time in the state that ends
 *
 * Use:
 *   outsight tool tcpstates [-g GUEST]
 *
 * Example:
 *   LOCAL                          REMOTE                         OLD                  NEW                         us
 *   :::7777                        :::0                           state-closed         state-listen                 0
 *   127.0.0.1:0                    127.0.0.1:7777                 state-closed         state-syn-sent               0
 *   ...
 *   127.0.0.1:0                    127.0.0.1:7777                 state-closing        state-closed              4950
 *   127.0.0.1:0                    127.0.0.1:36480                state-closing        state-closed              7965
 *
 * Caveats:
 *   TIME-WAIT is no state of a socket in Linux, but a structure of its own: the socket is closed before it.
 *   The time is 0 where the state began before the tool. A new connection's socket comes to be in state-syn-received.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

uint64_t since[uint64_t];

BEGIN
{
	printf("%-30s %-30s %-20s %-20s %9s\n", "LOCAL", "REMOTE", "OLD", "NEW", "us");
}

fbt::inet_sk_set_state:entry, fbt::inet_sk_state_store:entry
/((struct sock *)arg0)->sk_protocol == 6/
{
	this->local = strjoin(xlate <tcpsinfo_t *> ((struct sock *)arg0)->tcps_laddr, strjoin(":", lltostr(xlate <tcpsinfo_t *> ((struct sock *)arg0)->tcps_lport)));
	this->remote = strjoin(xlate <tcpsinfo_t *> ((struct sock *)arg0)->tcps_raddr, strjoin(":", lltostr(xlate <tcpsinfo_t *> ((struct sock *)arg0)->tcps_rport)));
	printf("%-30s %-30s %-20s %-20s %9d\n", this->local, this->remote,
	    tcp_state_string[((struct sock *)arg0)->__sk_common.skc_state], tcp_state_string[(int)arg1],
	    since[arg0] ? (timestamp - since[arg0]) / 1000 : 0);
}

fbt::inet_sk_set_state:entry, fbt::inet_sk_state_store:entry
{
	since[arg0] = arg1 == 7 ? 0 : timestamp;
}
