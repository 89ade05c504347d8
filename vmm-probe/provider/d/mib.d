/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * mib: Solaris's counters of the network stack, RFC 1213's and its successors'. args[0] is the increment. Linux keeps
 * its counters behind pointers, so the probes are at the functions that count, or at what they count.
 */
provider mib;

inline uint8_t *mib_tcp[struct sk_buff *skb] = (uint8_t *)skb->head + skb->transport_header;
inline int mib_flags[struct sk_buff *skb] = mib_tcp[skb][13];
inline int mib_data[struct sk_buff *skb] =
	(int)skb->len - (skb->transport_header - skb->network_header) - (mib_tcp[skb][12] >> 4) * 4;
/* Segments that the interface cuts one packet into. */
inline int mib_pieces[struct sk_buff *skb] =
	((struct skb_shared_info *)(skb->head + skb->end))->gso_segs > 1 ?
	((struct skb_shared_info *)(skb->head + skb->end))->gso_segs : 1;
inline int mib_is_tcp4[struct sk_buff *skb] = *((uint8_t *)skb->head + skb->network_header + 9) == 6;
inline int mib_is_tcp6[struct sk_buff *skb] = *((uint8_t *)skb->head + skb->network_header + 6) == 6;
inline int MIB_FIN = 1;
inline int MIB_SYN = 2;
inline int MIB_RST = 4;
inline int mib_control[struct sk_buff *skb] = mib_flags[skb] & (MIB_FIN | MIB_SYN | MIB_RST);

/*
 * Of tcp_rcv_established(sk, skb) and tcp_rcv_state_process(sk, skb): a segment's data, and how far its first byte is
 * ahead of the next one that the connection waits for. A packet begins with its TCP header there, and has its
 * sequence number in skb->cb. A socket that listens, or waits for the answer to its SYN, waits for no data.
 */
inline int mib_in_data[struct sk_buff *skb] = (int)skb->len - (mib_tcp[skb][12] >> 4) * 4;
inline int mib_ahead[struct sock *sk, struct sk_buff *skb] =
	(int)(((struct tcp_skb_cb *)&skb->cb[0])->seq - ((struct tcp_sock *)sk)->rcv_nxt);
inline int mib_takes_data[struct sock *sk] =
	sk->__sk_common.skc_state != 2 && sk->__sk_common.skc_state != 10;

inline int MIB_OTHERHOST = 3; /* sk_buff.pkt_type: it was not sent to this host */

/* --- IP ------------------------------------------------------------------------------------------------ */

/* ip_rcv_core(skb, net), before its checks */
probe ipInReceives(int) {
	at { fbt::ip_rcv_core:entry / args[0]->pkt_type != MIB_OTHERHOST / { trace(1); } }
	or { fbt::ip_rcv:entry / args[0]->pkt_type != MIB_OTHERHOST / { trace(1); } }
}

probe ipv6IfInReceives(int) {
	at { fbt::ip6_rcv_core:entry / args[0]->pkt_type != MIB_OTHERHOST / { trace(1); } }
	or { fbt::ipv6_rcv:entry / args[0]->pkt_type != MIB_OTHERHOST / { trace(1); } }
}

probe ipInDelivers(int) {
	at { fbt::ip_protocol_deliver_rcu:entry { trace(1); } }
}

/* __ip_local_out(net, sk, skb), ip6_finish_output(net, sk, skb) for a socket: what is forwarded is not counted. */
probe ipOutRequests(int) {
	at { fbt::__ip_local_out:entry { trace(1); } }
}

probe ipv6IfOutRequests(int) {
	at { fbt::ip6_finish_output:entry / arg1 / { trace(1); } }
}

probe ipForwDatagrams(int) {
	at { fbt::ip_forward_finish:entry { trace(1); } }
}

probe ipv6IfOutForwDatagrams(int) {
	at { fbt::ip6_forward_finish:entry { trace(1); } }
}

/* ip_do_fragment(net, sk, skb, output): of how many it makes, nothing is known yet. */
probe ipFragOKs(int) {
	at { fbt::ip_do_fragment:return / arg1 == 0 / { trace(1); } }
}

probe ipFragFails(int) {
	at { fbt::ip_do_fragment:return / (int)arg1 < 0 / { trace(1); } }
}

probe ipReasmReqds(int) {
	at { fbt::ip_defrag:entry { trace(1); } }
}

/* --- ICMP ---------------------------------------------------------------------------------------------- */

probe icmpInMsgs(int) {
	at { fbt::icmp_rcv:entry { trace(1); } }
}

probe icmpInEchos(int) {
	at { fbt::icmp_echo:entry { trace(1); } }
}

/* icmp_out_count(net, type) */
probe icmpOutMsgs(int) {
	at { fbt::icmp_out_count:entry { trace(1); } }
}

probe icmpOutEchoReps(int) {
	at { fbt::icmp_out_count:entry / (uint8_t)arg1 == 0 / { trace(1); } }
}

probe icmpOutDestUnreachs(int) {
	at { fbt::icmp_out_count:entry / (uint8_t)arg1 == 3 / { trace(1); } }
}

probe icmpOutRedirects(int) {
	at { fbt::icmp_out_count:entry / (uint8_t)arg1 == 5 / { trace(1); } }
}

probe icmpOutTimeExcds(int) {
	at { fbt::icmp_out_count:entry / (uint8_t)arg1 == 11 / { trace(1); } }
}

/* --- TCP ----------------------------------------------------------------------------------------------- */

probe tcpActiveOpens(int) {
	at { fbt::tcp_connect:entry { trace(1); } }
}

/* tcp_set_state(sk, state): from SYN_RECV to ESTABLISHED; from ESTABLISHED or CLOSE_WAIT to CLOSE */
probe tcpPassiveOpens(int) {
	at { fbt::tcp_set_state:entry / (int)arg1 == 1 && args[0]->__sk_common.skc_state == 3 / { trace(1); } }
}

probe tcpEstabResets(int) {
	at {
		fbt::tcp_set_state:entry
		/ (int)arg1 == 7 && (args[0]->__sk_common.skc_state == 1 || args[0]->__sk_common.skc_state == 8) /
		{ trace(1); }
	}
}

/* tcp_done(sk) of a socket in SYN_SENT or SYN_RECV */
probe tcpAttemptFails(int) {
	at {
		fbt::tcp_done:entry
		/ args[0]->__sk_common.skc_state == 2 || args[0]->__sk_common.skc_state == 3 / { trace(1); }
	}
}

probe tcpInSegs(int) {
	at {
		fbt::tcp_v4_rcv:entry, fbt::tcp_v6_rcv:entry
		/ args[0]->pkt_type == 0 / { trace(mib_pieces[args[0]]); }
	}
	or { fbt::tcp_v4_rcv:entry / args[0]->pkt_type == 0 / { trace(mib_pieces[args[0]]); } }
}

/* sdt:tcp::tcp_retransmit_skb(sk, skb) */
probe tcpRetransSegs(int) {
	at { sdt:tcp::tcp_retransmit_skb { trace(mib_pieces[args[1]]); } }
}

probe tcpRetransBytes(int) {
	at { sdt:tcp::tcp_retransmit_skb { trace((int)args[1]->len); } }
}

/* What a segment has of data that was received before is no part of what it has in order. */
probe tcpInDataInorderBytes(int) {
	at {
		fbt::tcp_rcv_established:entry, fbt::tcp_rcv_state_process:entry
		/ mib_in_data[args[1]] > 0 && mib_takes_data[args[0]] && mib_ahead[args[0], args[1]] <= 0 &&
		  mib_ahead[args[0], args[1]] + mib_in_data[args[1]] > 0 /
		{ trace(mib_ahead[args[0], args[1]] + mib_in_data[args[1]]); }
	}
}

probe tcpInDataDupBytes(int) {
	at {
		fbt::tcp_rcv_established:entry, fbt::tcp_rcv_state_process:entry
		/ mib_in_data[args[1]] > 0 && mib_takes_data[args[0]] && mib_ahead[args[0], args[1]] + mib_in_data[args[1]] <= 0 /
		{ trace(mib_in_data[args[1]]); }
	}
}

probe tcpInDataUnorderBytes(int) {
	at {
		fbt::tcp_rcv_established:entry, fbt::tcp_rcv_state_process:entry
		/ mib_in_data[args[1]] > 0 && mib_takes_data[args[0]] && mib_ahead[args[0], args[1]] > 0 /
		{ trace(mib_in_data[args[1]]); }
	}
}

/* The places of tcp:::send. Of Linux's counters OutSegs has not what is sent again. */
probe tcpOutSegs(int) {
	at {
		fbt::ip_finish_output:entry
		/ arg1 && mib_is_tcp4[args[2]] / { trace(mib_pieces[args[2]]); }
		fbt::ip6_finish_output:entry
		/ arg1 && mib_is_tcp6[args[2]] / { trace(mib_pieces[args[2]]); }
	}
	or {
		fbt::ip_finish_output:entry
		/ arg1 && mib_is_tcp4[args[2]] / { trace(mib_pieces[args[2]]); }
	}
}

probe tcpOutRsts(int) {
	at {
		fbt::ip_finish_output:entry
		/ arg1 && mib_is_tcp4[args[2]] && (mib_flags[args[2]] & MIB_RST) / { trace(1); }
		fbt::ip6_finish_output:entry
		/ arg1 && mib_is_tcp6[args[2]] && (mib_flags[args[2]] & MIB_RST) / { trace(1); }
	}
	or {
		fbt::ip_finish_output:entry
		/ arg1 && mib_is_tcp4[args[2]] && (mib_flags[args[2]] & MIB_RST) / { trace(1); }
	}
}

probe tcpOutControl(int) {
	at {
		fbt::ip_finish_output:entry
		/ arg1 && mib_is_tcp4[args[2]] && mib_control[args[2]] / { trace(1); }
		fbt::ip6_finish_output:entry
		/ arg1 && mib_is_tcp6[args[2]] && mib_control[args[2]] / { trace(1); }
	}
	or {
		fbt::ip_finish_output:entry
		/ arg1 && mib_is_tcp4[args[2]] && mib_control[args[2]] / { trace(1); }
	}
}

probe tcpOutAck(int) {
	at {
		fbt::ip_finish_output:entry
		/ arg1 && mib_is_tcp4[args[2]] && !mib_control[args[2]] && mib_data[args[2]] <= 0 / { trace(1); }
		fbt::ip6_finish_output:entry
		/ arg1 && mib_is_tcp6[args[2]] && !mib_control[args[2]] && mib_data[args[2]] <= 0 / { trace(1); }
	}
	or {
		fbt::ip_finish_output:entry
		/ arg1 && mib_is_tcp4[args[2]] && !mib_control[args[2]] && mib_data[args[2]] <= 0 / { trace(1); }
	}
}

probe tcpOutDataSegs(int) {
	at {
		fbt::ip_finish_output:entry
		/ arg1 && mib_is_tcp4[args[2]] && mib_data[args[2]] > 0 / { trace(mib_pieces[args[2]]); }
		fbt::ip6_finish_output:entry
		/ arg1 && mib_is_tcp6[args[2]] && mib_data[args[2]] > 0 / { trace(mib_pieces[args[2]]); }
	}
	or {
		fbt::ip_finish_output:entry
		/ arg1 && mib_is_tcp4[args[2]] && mib_data[args[2]] > 0 / { trace(mib_pieces[args[2]]); }
	}
}

probe tcpOutDataBytes(int) {
	at {
		fbt::ip_finish_output:entry
		/ arg1 && mib_is_tcp4[args[2]] && mib_data[args[2]] > 0 / { trace(mib_data[args[2]]); }
		fbt::ip6_finish_output:entry
		/ arg1 && mib_is_tcp6[args[2]] && mib_data[args[2]] > 0 / { trace(mib_data[args[2]]); }
	}
	or {
		fbt::ip_finish_output:entry
		/ arg1 && mib_is_tcp4[args[2]] && mib_data[args[2]] > 0 / { trace(mib_data[args[2]]); }
	}
}

probe tcpTimRetrans(int) {
	at { fbt::tcp_retransmit_timer:entry { trace(1); } }
}

/* --- UDP ----------------------------------------------------------------------------------------------- */

/* A datagram enters its socket's queue. */
probe udpInDatagrams(int) {
	at { fbt::__udp_enqueue_schedule_skb:entry { trace(1); } }
}

probe udpOutDatagrams(int) {
	at { fbt::udp_send_skb:entry, fbt::udp_v6_send_skb:entry { trace(1); } }
	or { fbt::udp_send_skb:entry { trace(1); } }
}

/* … has no room there */
probe udpInOverflows(int) {
	at { fbt::__udp_enqueue_schedule_skb:return / (int)arg1 < 0 / { trace(1); } }
}
