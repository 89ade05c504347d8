/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * tcp: segments that this host's connections send and receive, over IPv4 and IPv6, and how connections begin and
 * end. A segment is a packet as the network stack has it: one that the interface will cut into several is one.
 */
provider tcp;

inline uint8_t *tcp_at[struct sk_buff *skb] = (uint8_t *)skb->head + skb->transport_header;
inline int tcp_flags_of[struct sk_buff *skb] = tcp_at[skb][13];
inline int tcp_ports_of[struct sk_buff *skb] = *(int *)tcp_at[skb];
inline int tcp_over_v4[struct sk_buff *skb] = *((uint8_t *)skb->head + skb->network_header + 9) == 6;
inline int tcp_over_v6[struct sk_buff *skb] = *((uint8_t *)skb->head + skb->network_header + 6) == 6;

/*
 * The connection that a segment is sent for. It is not always the socket that sends: a socket that listens sends the
 * SYN-ACK of a connection that is none yet. What answers for no connection, or for one in TIME-WAIT, is sent by a raw
 * socket of the kernel's own, which is closed.
 */
inline uint64_t tcp_connection[struct sock *sk] =
	sk == NULL || (sk->__sk_common.skc_state == 7 && sk->sk_type != 1) ? 0 : (uint64_t)sk;

/* The places of ip:::send, where both headers are complete; a forwarded segment has no socket. */
probe send(arg0 struct sk_buff * : pktinfo_t *, arg1 struct sock * : csinfo_t *, arg0 struct sk_buff * : ipinfo_t *,
	   arg1 struct sock * : tcpsinfo_t *, arg0 struct sk_buff * : tcpinfo_t *) {
	at {
		fbt::ip_finish_output:entry / arg1 && tcp_over_v4[args[2]] /
		{ trace(arg2); trace(tcp_connection[args[2]->sk]); }
		fbt::ip6_finish_output:entry / arg1 && tcp_over_v6[args[2]] /
		{ trace(arg2); trace(tcp_connection[args[2]->sk]); }
	}
	or {
		fbt::ip_finish_output:entry / arg1 && tcp_over_v4[args[2]] /
		{ trace(arg2); trace(tcp_connection[args[2]->sk]); }
	}
}

/* A listening socket's segments are SYNs; others are for connections that are not accepted yet. */
inline int tcp_takes[struct sock *sk, struct sk_buff *skb] =
	sk->sk_protocol == 6 && sk->sk_type == 1 &&
	(sk->__sk_common.skc_state != 10 || (tcp_flags_of[skb] & 2) != 0);

/*
 * Where a segment has met its connection, one place for each: sk_filter_trim_cap(sk, skb) for one that has a socket;
 * tcp_check_req(sk, skb, req, fastopen) for one that is being accepted, or by its cookie cookie_v4_check(sk, skb);
 * tcp_timewait_state_process(tw, skb), unless it takes the segment (3) for a new connection's, which then meets a
 * socket; and tcp_v4_send_reset(NULL, skb) for one of no connection.
 */
probe receive(arg0 struct sk_buff * : pktinfo_t *, arg1 struct sock * : csinfo_t *,
	      arg0 struct sk_buff * : ipinfo_t *, arg1 struct sock * : tcpsinfo_t *,
	      arg0 struct sk_buff * : tcpinfo_t *) {
	at {
		fbt::sk_filter_trim_cap:entry / tcp_takes[args[0], args[1]] / { trace(arg1); trace(arg0); }
		fbt::tcp_check_req:entry / !(arg3 & 0xff) && !(tcp_flags_of[args[1]] & 2) / { trace(arg1); trace(arg2); }
		fbt::cookie_v4_check:entry, fbt::cookie_v6_check:entry { trace(arg1); trace(arg0); }
		fbt::tcp_timewait_state_process:return / this->waited && (int)arg1 != 3 /
		{ trace(this->waited); trace(this->waits); }
		fbt::tcp_v4_send_reset:entry, fbt::tcp_v6_send_reset:entry / !arg0 / { trace(arg1); trace(0); }
	}
	with { fbt::tcp_timewait_state_process:entry { this->waited = arg1; this->waits = arg0; } }
	after { fbt::tcp_timewait_state_process:return { this->waited = 0; } }
	/* a kernel without SYN cookies */
	or {
		fbt::sk_filter_trim_cap:entry / tcp_takes[args[0], args[1]] / { trace(arg1); trace(arg0); }
		fbt::tcp_check_req:entry / !(arg3 & 0xff) && !(tcp_flags_of[args[1]] & 2) / { trace(arg1); trace(arg2); }
		fbt::tcp_timewait_state_process:return / this->waited && (int)arg1 != 3 /
		{ trace(this->waited); trace(this->waits); }
		fbt::tcp_v4_send_reset:entry, fbt::tcp_v6_send_reset:entry / !arg0 / { trace(arg1); trace(0); }
	}
	with { fbt::tcp_timewait_state_process:entry { this->waited = arg1; this->waits = arg0; } }
	after { fbt::tcp_timewait_state_process:return { this->waited = 0; } }
	/* the connection is not known yet */
	or { fbt::tcp_v4_rcv:entry, fbt::tcp_v6_rcv:entry { trace(arg0); trace((uint64_t)args[0]->sk); } }
	or { fbt::tcp_v4_rcv:entry { trace(arg0); trace((uint64_t)args[0]->sk); } }
}

/* tcp_connect(sk): the first SYN will be made of what the socket has. */
probe connect-request(arg0 struct sock * : pktinfo_t *, arg0 struct sock * : csinfo_t *,
		      arg0 struct sock * : ipinfo_t *, arg0 struct sock * : tcpsinfo_t *,
		      arg0 struct sock * : tcpinfo_t *) {
	at { fbt::tcp_connect:entry { trace(arg0); } }
}

/* tcp_init_transfer(sk, bpf_op, skb): the connection is established by this segment. */
probe connect-established(arg0 struct sk_buff * : pktinfo_t *, arg1 struct sock * : csinfo_t *,
			  arg0 struct sk_buff * : ipinfo_t *, arg1 struct sock * : tcpsinfo_t *,
			  arg0 struct sk_buff * : tcpinfo_t *) {
	at {
		fbt::tcp_init_transfer:entry / (int)arg1 == BPF_SOCK_OPS_ACTIVE_ESTABLISHED_CB /
		{ trace((uint64_t)args[2]); trace(arg0); }
	}
	or { fbt::tcp_finish_connect:entry { trace(arg1); trace(arg0); } }
}

probe accept-established(arg0 struct sk_buff * : pktinfo_t *, arg1 struct sock * : csinfo_t *,
			 arg0 struct sk_buff * : ipinfo_t *, arg1 struct sock * : tcpsinfo_t *,
			 arg0 struct sk_buff * : tcpinfo_t *) {
	at {
		fbt::tcp_init_transfer:entry / (int)arg1 == BPF_SOCK_OPS_PASSIVE_ESTABLISHED_CB /
		{ trace((uint64_t)args[2]); trace(arg0); }
	}
	/* tcp_set_state(sk, ESTABLISHED) of a socket in SYN_RECV */
	or {
		fbt::tcp_set_state:entry / (int)arg1 == 1 && args[0]->__sk_common.skc_state == 3 /
		{ trace(this->accepting == arg0 ? this->accepted : 0); trace(arg0); }
	}
	with { fbt::tcp_rcv_state_process:entry { this->accepting = arg0; this->accepted = arg1; } }
}

/* tcp_reset(sk, skb) of a socket in SYN_SENT: the answer to its SYN is a reset. Before 5.12 without the segment. */
probe connect-refused(arg0 struct sk_buff * : pktinfo_t *, arg1 struct sock * : csinfo_t *,
		      arg0 struct sk_buff * : ipinfo_t *, arg1 struct sock * : tcpsinfo_t *,
		      arg0 struct sk_buff * : tcpinfo_t *) {
	at {
		fbt::tcp_reset:entry / args[0]->__sk_common.skc_state == 2 /
		{ trace((uint64_t)args[1]); trace(arg0); }
	}
	or {
		fbt::tcp_reset:entry / args[0]->__sk_common.skc_state == 2 /
		{ trace(this->connecting == arg0 ? this->refusal : 0); trace(arg0); }
	}
	with { fbt::tcp_rcv_state_process:entry { this->connecting = arg0; this->refusal = arg1; } }
}

/* The reset that tcp_v4_send_reset(sk, skb) and tcp_v6_send_reset() send for a SYN without a socket: it goes back
 * between the SYN's ports. */
probe accept-refused(arg0 struct sk_buff * : pktinfo_t *, arg1 struct sock * : csinfo_t *,
		     arg0 struct sk_buff * : ipinfo_t *, arg1 struct sock * : tcpsinfo_t *,
		     arg0 struct sk_buff * : tcpinfo_t *) {
	at {
		fbt::ip_finish_output:entry
		/ this->refused && tcp_over_v4[args[2]] && (tcp_flags_of[args[2]] & 4) &&
		  tcp_ports_of[args[2]] == this->reply_ports / { trace(arg2); trace(0); }
		fbt::ip6_finish_output:entry
		/ this->refused && tcp_over_v6[args[2]] && (tcp_flags_of[args[2]] & 4) &&
		  tcp_ports_of[args[2]] == this->reply_ports / { trace(arg2); trace(0); }
	}
	with {
		fbt::tcp_v4_send_reset:entry, fbt::tcp_v6_send_reset:entry
		{
			this->syn_ports = (uint32_t)tcp_ports_of[args[1]];
			this->reply_ports = (int)(this->syn_ports << 16 | this->syn_ports >> 16);
			this->refused = !arg0 && (tcp_flags_of[args[1]] & 2);
		}
	}
	after {
		fbt::ip_finish_output:entry, fbt::ip6_finish_output:entry / this->refused /
		{ this->refused = 0; }
	}
}

/* inet_sk_set_state(sk, state), inet_sk_state_store(sk, state), when the state is stored. A connection in TIME-WAIT is
 * no socket any more: its last change is the one to CLOSED before that. */
probe state-change(void, arg1 struct sock * : csinfo_t *, void, arg1 struct sock * : tcpsinfo_t *, void,
		   arg2 int : tcplsinfo_t *) {
	at {
		fbt::inet_sk_set_state:return, fbt::inet_sk_state_store:return
		/ this->changed && ((struct sock *)this->changed)->__sk_common.skc_state == this->state /
		{ trace(0); trace(this->changed); trace(this->left); }
	}
	with {
		fbt::inet_sk_set_state:entry, fbt::inet_sk_state_store:entry
		{
			this->changed = args[0]->sk_protocol == 6 ? arg0 : 0;
			this->left = (int)args[0]->__sk_common.skc_state;
			this->state = (int)arg1;
		}
	}
	after {
		fbt::inet_sk_set_state:return, fbt::inet_sk_state_store:return { this->changed = 0; }
	}
}
