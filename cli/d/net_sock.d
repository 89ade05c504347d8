/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ip, tcp and udp providers' structs of a socket. Of a connection that is not a whole struct tcp_sock, before it
 * is accepted and after it was closed, only addresses, ports and the state are known; the rest is 0, as all of it
 * is without a socket.
 */
#pragma D depends_on library ip.d
#pragma D depends_on library kernel.d
#pragma D depends_on library tcp.d
#pragma D depends_on library udp.d
#pragma D depends_on module vmlinux
#pragma D depends_on module btf
#pragma D depends_on struct sock
#pragma D depends_on struct tcp_sock

translator pktinfo_t < struct sock *S > {
	pkt_addr = 0;
};

translator csinfo_t < struct sock *S > {
	cs_addr = (uintptr_t)S;
	cs_cid = (uint64_t)S;
	cs_pid = 0;
	cs_zoneid = 0;
};

/* --- addresses, the same in every kind of socket ----------------------------------------------------- */

inline int __sock_state[struct sock *S] = S == NULL ? 0 : S->__sk_common.skc_state;
/* struct tcp_sock in every state but TIME_WAIT and NEW_SYN_RECV */
inline int __is_full[struct sock *S] =
	S != NULL && __sock_state[S] != TCP_STATE_TIME_WAIT && __sock_state[S] != TCP_STATE_NEW_SYN_RECV;
/* A connection gives its port back just before it is closed: it still knows the one that it has sent from. */
inline uint16_t __sock_lport[struct sock *S] =
	S == NULL ? 0 : S->__sk_common.skc_num || !__is_full[S] ? S->__sk_common.skc_num :
	ntohs(((struct inet_sock *)S)->inet_sport);
inline uint16_t __sock_rport[struct sock *S] = S == NULL ? 0 : ntohs(S->__sk_common.skc_dport);
inline int __sock_is_v6[struct sock *S] = S != NULL && S->__sk_common.skc_family == 10;

inline string __sock_laddr[struct sock *S] =
	S == NULL ? "<unknown>" :
	!__sock_is_v6[S] ? inet_ntoa((uint32_t *)&S->__sk_common.skc_rcv_saddr) :
	__has_member(struct sock_common, skc_v6_rcv_saddr) ? inet_ntoa6(&S->__sk_common.skc_v6_rcv_saddr) : "<unknown>";
inline string __sock_raddr[struct sock *S] =
	S == NULL ? "<unknown>" :
	!__sock_is_v6[S] ? inet_ntoa((uint32_t *)&S->__sk_common.skc_daddr) :
	__has_member(struct sock_common, skc_v6_daddr) ? inet_ntoa6(&S->__sk_common.skc_v6_daddr) : "<unknown>";

inline int __sock_is_local[struct sock *S] =
	S == NULL ? 0 :
	!__sock_is_v6[S] ? S->__sk_common.skc_daddr == S->__sk_common.skc_rcv_saddr ||
	(S->__sk_common.skc_daddr & 0xff) == 127 :
	__has_member(struct sock_common, skc_v6_daddr) ? __sock_laddr[S] == __sock_raddr[S] : 0;

/* --- tcp --------------------------------------------------------------------------------------------- */

inline struct tcp_sock *__tcp[struct sock *S] = (struct tcp_sock *)S;
inline struct inet_connection_sock *__icsk[struct sock *S] = (struct inet_connection_sock *)S;

/* By the length of a tick, or, where the kernel does not name it, by the loops and the TSC's cycles in one. A kernel
 * that lists no variables may name none of these: then they are ticks. */
inline uint32_t __ms_of_ticks[uint64_t ticks] = (uint32_t)(
	__has_symbol(`tick_nsec) ? ticks * *(uint64_t *)&`tick_nsec / 1000000 :
	__has_symbol(`tsc_khz) && __has_symbol(`loops_per_jiffy) ?
	(`tsc_khz ? ticks * `loops_per_jiffy / `tsc_khz : ticks) : ticks);

translator tcpsinfo_t < struct sock *S > {
	tcps_addr = (uintptr_t)S;
	tcps_local = __sock_is_local[S];
	tcps_active = 0;
	tcps_lport = __sock_lport[S];
	tcps_rport = __sock_rport[S];
	tcps_laddr = __sock_laddr[S];
	tcps_raddr = __sock_raddr[S];
	tcps_state = __sock_state[S];
	tcps_iss = 0;
	tcps_suna = __is_full[S] ? __tcp[S]->snd_una : 0;
	tcps_smax = __is_full[S] ? __tcp[S]->snd_nxt : 0;
	tcps_snxt = __is_full[S] ? __tcp[S]->snd_nxt : 0;
	tcps_rack = __is_full[S] ? __tcp[S]->rcv_wup : 0;
	tcps_rnxt = __is_full[S] ? __tcp[S]->rcv_nxt : 0;
	tcps_swnd = __is_full[S] ? __tcp[S]->snd_wnd : 0;
	tcps_snd_ws = __is_full[S] ? __tcp[S]->rx_opt.snd_wscale : 0;
	tcps_irs = 0;
	tcps_swl1 = __is_full[S] ? __tcp[S]->snd_wl1 : 0;
	tcps_swl2 = 0;
	tcps_rup = 0;
	tcps_radv = __is_full[S] ? __tcp[S]->rcv_wup + __tcp[S]->rcv_wnd : 0;
	tcps_rwnd = __is_full[S] ? __tcp[S]->rcv_wnd : 0;
	tcps_rcv_ws = __is_full[S] ? __tcp[S]->rx_opt.rcv_wscale : 0;
	tcps_cwnd = __is_full[S] ? __tcp[S]->snd_cwnd * __tcp[S]->mss_cache : 0;
	/* in segments, like the window; "none yet" is all bits but one */
	tcps_cwnd_ssthresh = !__is_full[S] ? 0 : __tcp[S]->snd_ssthresh >= 0x7fffffff ? 0xffffffff :
	    __tcp[S]->snd_ssthresh * __tcp[S]->mss_cache;
	tcps_srecover = __is_full[S] ? __tcp[S]->high_seq : 0;
	tcps_sack_fack = __is_full[S] ? __tcp[S]->snd_una : 0;
	tcps_sack_snxt = __is_full[S] ? __tcp[S]->snd_nxt : 0;
	tcps_rto = __is_full[S] ? __ms_of_ticks[__icsk[S]->icsk_rto] : 0;
	tcps_mss = __is_full[S] ? __tcp[S]->mss_cache : 0;
	tcps_retransmit = __is_full[S] ? __icsk[S]->icsk_retransmits : 0;
	/* microseconds, kept 8 times as large */
	tcps_rtttime = __is_full[S] ? __tcp[S]->srtt_us >> 3 : 0;
	tcps_debug = 0;
	tcps_flags = 0;
	tcps_srtt = __is_full[S] ? __tcp[S]->srtt_us >> 3 : 0;
};

/* --- the segment with which a connection begins, before it is made: what it will have -------------------- */

translator ipinfo_t < struct sock *S > {
	ip_ver = S == NULL ? 0 : __sock_is_v6[S] ? 6 : 4;
	ip_plength = 0;
	ip_saddr = __sock_laddr[S];
	ip_daddr = __sock_raddr[S];
};

translator tcpinfo_t < struct sock *S > {
	tcp_sport = __sock_lport[S];
	tcp_dport = __sock_rport[S];
	tcp_seq = __is_full[S] ? __tcp[S]->write_seq : 0;
	tcp_ack = 0;
	tcp_offset = 0;
	tcp_flags = S == NULL ? 0 : TH_SYN;
	tcp_window = 0;
	tcp_checksum = 0;
	tcp_urgent = 0;
	tcp_hdr = 0;
};

/* --- udp --------------------------------------------------------------------------------------------- */

translator udpsinfo_t < struct sock *S > {
	udps_addr = (uintptr_t)S;
	udps_lport = __sock_lport[S];
	udps_rport = __sock_rport[S];
	udps_laddr = __sock_laddr[S];
	udps_raddr = __sock_raddr[S];
};
