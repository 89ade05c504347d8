/* SPDX-License-Identifier: GPL-2.0-or-later */
/* udp: datagrams that this host's sockets send and receive, over IPv4 and IPv6. */
provider udp;

inline int udp_over_v4[struct sk_buff *skb] = *((uint8_t *)skb->head + skb->network_header + 9) == 17;
inline int udp_over_v6[struct sk_buff *skb] = *((uint8_t *)skb->head + skb->network_header + 6) == 17;

/* The places of ip:::send, where both headers are complete; a forwarded datagram has no socket. */
probe send(arg0 struct sk_buff * : pktinfo_t *, arg1 struct sock * : csinfo_t *, arg0 struct sk_buff * : ipinfo_t *,
	   arg1 struct sock * : udpsinfo_t *, arg0 struct sk_buff * : udpinfo_t *) {
	at {
		fbt::ip_finish_output:entry / arg1 && udp_over_v4[args[2]] / { trace(arg2); trace(arg1); }
		fbt::ip6_finish_output:entry / arg1 && udp_over_v6[args[2]] / { trace(arg2); trace(arg1); }
	}
	or { fbt::ip_finish_output:entry / arg1 && udp_over_v4[args[2]] / { trace(arg2); trace(arg1); } }
}

/* __udp_enqueue_schedule_skb(sk, skb), of both IP versions: a datagram enters its socket's queue. */
probe receive(arg0 struct sk_buff * : pktinfo_t *, arg1 struct sock * : csinfo_t *,
	      arg0 struct sk_buff * : ipinfo_t *, arg1 struct sock * : udpsinfo_t *,
	      arg0 struct sk_buff * : udpinfo_t *) {
	at { fbt::__udp_enqueue_schedule_skb:entry { trace(arg1); trace(arg0); } }
	or {
		fbt::udp_queue_rcv_one_skb:entry, fbt::udpv6_queue_rcv_one_skb:entry
		{ trace(arg1); trace(arg0); }
	}
}
