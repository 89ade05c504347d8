#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tcpretrans: TCP segments that are sent again
 *
 * Use:
 *   outsight tool tcpretrans [-g GUEST]
 *
 * Example:
 *   TIME                  LOCAL                          REMOTE                         STATE
 *
 * Caveats:
 *   A SYN that is sent again is in state-syn-sent. SYN-ACKs that are repeated have no socket yet and are not seen.
 *   Its test shows only that the probe is placed: loopback loses no segment, hence the example has no row.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	printf("%-21s %-30s %-30s %s\n", "TIME", "LOCAL", "REMOTE", "STATE");
}

fbt::tcp_retransmit_skb:entry
{
	this->local = strjoin(xlate <tcpsinfo_t *> ((struct sock *)arg0)->tcps_laddr, strjoin(":", lltostr(xlate <tcpsinfo_t *> ((struct sock *)arg0)->tcps_lport)));
	this->remote = strjoin(xlate <tcpsinfo_t *> ((struct sock *)arg0)->tcps_raddr, strjoin(":", lltostr(xlate <tcpsinfo_t *> ((struct sock *)arg0)->tcps_rport)));
	printf("%Y  %-30s %-30s %s\n", walltimestamp, this->local, this->remote,
	    tcp_state_string[((struct sock *)arg0)->__sk_common.skc_state]);
}
