#!/usr/bin/outsight -s
/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * udpsnoop: UDP datagrams that programs send and receive
 *
 * Use:
 *   outsight tool udpsnoop [-g GUEST] [PROGRAM]
 *   PROGRAM    only processes of this name; all without it
 *
 * Example:
 *       PID PROGRAM          DIR    LPORT REMOTE                       BYTES
 *       272 nslookup         W      44928 127.0.0.1:53                    24
 *       272 nslookup         W      44928 127.0.0.1:53                    24
 *
 * Caveats:
 *   As programs send and receive; a datagram that is dropped on the way is not marked. REMOTE is - where the socket is
 *   not connected and the program did not ask for the address.
 */
#pragma D option quiet
#pragma D option defaultargs
#pragma D option anydefs

BEGIN
{
	printf("%7s %-16s %-3s %8s %-26s %7s\n", "PID", "PROGRAM", "DIR", "LPORT", "REMOTE", "BYTES");
}

fbt::udp_sendmsg:entry, fbt::udpv6_sendmsg:entry, fbt::udp_recvmsg:entry, fbt::udpv6_recvmsg:entry
/!self->sock && ($$1 == "" || execname == $$1)/
{
	self->sock = (struct sock *)arg0;
	self->msg = (struct msghdr *)arg1;
}

/* The message names the peer, 2: in a sockaddr_in, or the socket is connected to it. */
fbt::udp_sendmsg:return, fbt::udpv6_sendmsg:return, fbt::udp_recvmsg:return, fbt::udpv6_recvmsg:return
/self->sock && (int)arg1 >= 0/
{
	this->to = (struct sockaddr_in *)self->msg->msg_name;
	this->family = this->to != NULL ? this->to->sin_family : 0;
	this->address = self->sock->__sk_common.skc_dport ?
	    xlate <udpsinfo_t *> (self->sock)->udps_raddr :
	    this->family == 2 ? inet_ntoa((ipaddr_t *)&this->to->sin_addr) :
	    this->family == 10 ? inet_ntoa6(&((struct sockaddr_in6 *)this->to)->sin6_addr) : "-";
	this->port = self->sock->__sk_common.skc_dport ? ntohs(self->sock->__sk_common.skc_dport) :
	    this->family ? ntohs(this->to->sin_port) : 0;
	printf("%7d %-16s %-3s %8d %-26s %7d\n", pid, execname, strstr(probefunc, "send") != 0 ? "W" : "R",
	    self->sock->__sk_common.skc_num, strjoin(this->address, strjoin(":", lltostr(this->port))), (int)arg1);
}

fbt::udp_sendmsg:return, fbt::udpv6_sendmsg:return, fbt::udp_recvmsg:return, fbt::udpv6_recvmsg:return
{
	self->sock = 0;
	self->msg = 0;
}
