/* SPDX-License-Identifier: GPL-2.0-or-later */
/* TCP segments and connections, as the tcp provider's arguments: net_skb.d and net_sock.d define the members. */
typedef struct tcpinfo {
	uint16_t tcp_sport;
	uint16_t tcp_dport;
	uint32_t tcp_seq;
	uint32_t tcp_ack;
	uint8_t tcp_offset;
	uint8_t tcp_flags;
	uint16_t tcp_window;
	uint16_t tcp_checksum;
	uint16_t tcp_urgent;
	uintptr_t tcp_hdr;
} tcpinfo_t;

typedef struct tcpsinfo {
	uintptr_t tcps_addr;
	int tcps_local;
	int tcps_active;
	uint16_t tcps_lport;
	uint16_t tcps_rport;
	string tcps_laddr;
	string tcps_raddr;
	int32_t tcps_state;
	uint32_t tcps_iss;
	uint32_t tcps_suna;
	uint32_t tcps_smax;
	uint32_t tcps_snxt;
	uint32_t tcps_rack;
	uint32_t tcps_rnxt;
	uint32_t tcps_swnd;
	int32_t tcps_snd_ws;
	uint32_t tcps_irs;
	uint32_t tcps_swl1;
	uint32_t tcps_swl2;
	uint32_t tcps_rup;
	uint32_t tcps_radv;
	uint32_t tcps_rwnd;
	int32_t tcps_rcv_ws;
	uint32_t tcps_cwnd;
	uint32_t tcps_cwnd_ssthresh;
	uint32_t tcps_srecover;
	uint32_t tcps_sack_fack;
	uint32_t tcps_sack_snxt;
	uint32_t tcps_rto;
	uint32_t tcps_mss;
	int tcps_retransmit;
	int tcps_rtttime;
	int tcps_debug;
	int32_t tcps_flags;
	uint32_t tcps_srtt;
} tcpsinfo_t;

/* the state that a connection leaves */
typedef struct tcplsinfo {
	int32_t tcps_state;
} tcplsinfo_t;

translator tcplsinfo_t < int state > {
	tcps_state = state;
};

/* tcp_flags */
inline uint8_t TH_FIN = 0x01;
inline uint8_t TH_SYN = 0x02;
inline uint8_t TH_RST = 0x04;
inline uint8_t TH_PUSH = 0x08;
inline uint8_t TH_ACK = 0x10;
inline uint8_t TH_URG = 0x20;
inline uint8_t TH_ECE = 0x40;
inline uint8_t TH_CWR = 0x80;

/* tcps_state: the names of other systems, with Linux's values; it has no idle and bound ones */
inline int32_t TCP_STATE_ESTABLISHED = 1;
inline int32_t TCP_STATE_SYN_SENT = 2;
inline int32_t TCP_STATE_SYN_RECEIVED = 3;
inline int32_t TCP_STATE_FIN_WAIT_1 = 4;
inline int32_t TCP_STATE_FIN_WAIT_2 = 5;
inline int32_t TCP_STATE_TIME_WAIT = 6;
inline int32_t TCP_STATE_CLOSED = 7;
inline int32_t TCP_STATE_CLOSE_WAIT = 8;
inline int32_t TCP_STATE_LAST_ACK = 9;
inline int32_t TCP_STATE_LISTEN = 10;
inline int32_t TCP_STATE_CLOSING = 11;
inline int32_t TCP_STATE_NEW_SYN_RECV = 12;
inline int32_t TCP_STATE_IDLE = -5;
inline int32_t TCP_STATE_BOUND = -4;

/* the same as FreeBSD calls them */
inline int32_t TCPS_CLOSED = TCP_STATE_CLOSED;
inline int32_t TCPS_LISTEN = TCP_STATE_LISTEN;
inline int32_t TCPS_SYN_SENT = TCP_STATE_SYN_SENT;
inline int32_t TCPS_SYN_RECEIVED = TCP_STATE_SYN_RECEIVED;
inline int32_t TCPS_ESTABLISHED = TCP_STATE_ESTABLISHED;
inline int32_t TCPS_CLOSE_WAIT = TCP_STATE_CLOSE_WAIT;
inline int32_t TCPS_FIN_WAIT_1 = TCP_STATE_FIN_WAIT_1;
inline int32_t TCPS_CLOSING = TCP_STATE_CLOSING;
inline int32_t TCPS_LAST_ACK = TCP_STATE_LAST_ACK;
inline int32_t TCPS_FIN_WAIT_2 = TCP_STATE_FIN_WAIT_2;
inline int32_t TCPS_TIME_WAIT = TCP_STATE_TIME_WAIT;

inline string tcp_state_string[int32_t state] =
	state == 1 ? "state-established" :
	state == 2 ? "state-syn-sent" :
	state == 3 ? "state-syn-received" :
	state == 4 ? "state-fin-wait-1" :
	state == 5 ? "state-fin-wait-2" :
	state == 6 ? "state-time-wait" :
	state == 7 ? "state-closed" :
	state == 8 ? "state-close-wait" :
	state == 9 ? "state-last-ack" :
	state == 10 ? "state-listen" :
	state == 11 ? "state-closing" :
	state == 12 ? "state-syn-received" :
	state == TCP_STATE_IDLE ? "state-idle" :
	state == TCP_STATE_BOUND ? "state-bound" : "<unknown>";
