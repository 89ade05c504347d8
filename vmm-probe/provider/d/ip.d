/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ip: packets that the network stack sends and receives, IPv4 and IPv6, forwarded ones too. */
provider ip;

/* ip_finish_output(net, sk, skb), ip6_finish_output(net, sk, skb): the header is complete, the packet in one piece, and
 * skb->dev is the interface. A forwarded packet has no socket. */
probe send(arg0 struct sk_buff * : pktinfo_t *, arg1 struct sock * : csinfo_t *, arg0 struct sk_buff * : ipinfo_t *,
	   arg0 struct sk_buff * : ifinfo_t *, arg2 struct sk_buff * : ipv4info_t *,
	   arg3 struct sk_buff * : ipv6info_t *) {
	at {
		fbt::ip_finish_output:entry
		{ trace(arg2); trace(arg1); trace(arg2); trace(0); }
		fbt::ip6_finish_output:entry
		{ trace(arg2); trace(arg1); trace(0); trace(arg2); }
	}
	/* a kernel without IPv6 */
	or {
		fbt::ip_finish_output:entry
		{ trace(arg2); trace(arg1); trace(arg2); trace(0); }
	}
}

/* ip_rcv_core() returns the packet when its header is right and it is for this host; it belongs to no socket yet.
 * Where it is inlined: the packet is delivered, or forwarded. */
probe receive(arg0 struct sk_buff * : pktinfo_t *, arg1 struct sock * : csinfo_t *,
	      arg0 struct sk_buff * : ipinfo_t *, arg0 struct sk_buff * : ifinfo_t *,
	      arg2 struct sk_buff * : ipv4info_t *, arg3 struct sk_buff * : ipv6info_t *) {
	at {
		fbt::ip_rcv_core:return / arg1 /
		{ trace(arg1); trace(0); trace(arg1); trace(0); }
		fbt::ip6_rcv_core:return / arg1 /
		{ trace(arg1); trace(0); trace(0); trace(arg1); }
	}
	or {
		fbt::ip_local_deliver:entry, fbt::ip_forward:entry
		{ trace(arg0); trace(0); trace(arg0); trace(0); }
		fbt::ip6_input:entry, fbt::ip6_forward:entry
		{ trace(arg0); trace(0); trace(0); trace(arg0); }
	}
	/* a kernel without IPv6 */
	or {
		fbt::ip_rcv_core:return / arg1 /
		{ trace(arg1); trace(0); trace(arg1); trace(0); }
	}
}
