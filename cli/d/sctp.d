/* SPDX-License-Identifier: GPL-2.0-or-later */
/* SCTP packets and associations, as the sctp provider's arguments: net_sctp.d defines the members. */
typedef struct sctpinfo {
	uint16_t sctp_sport;
	uint16_t sctp_dport;
	uint32_t sctp_verify;
	uint32_t sctp_checksum;
	uintptr_t sctp_hdr;
} sctpinfo_t;

typedef struct sctpsinfo {
	uintptr_t sctps_addr;
	int sctps_num_raddrs;
	uintptr_t sctps_raddrs;
	int sctps_num_laddrs;
	uintptr_t sctps_laddrs;
	uint16_t sctps_lport;
	uint16_t sctps_rport;
	string sctps_laddr;
	string sctps_raddr;
	int32_t sctps_state;
} sctpsinfo_t;

/* the state that an association leaves */
typedef struct sctplsinfo {
	int32_t sctps_state;
} sctplsinfo_t;

translator sctplsinfo_t < int state > {
	sctps_state = state;
};

/* sctps_state, with Linux's values */
inline int32_t SCTP_STATE_CLOSED = 0;
inline int32_t SCTP_STATE_COOKIE_WAIT = 1;
inline int32_t SCTP_STATE_COOKIE_ECHOED = 2;
inline int32_t SCTP_STATE_ESTABLISHED = 3;
inline int32_t SCTP_STATE_SHUTDOWN_PENDING = 4;
inline int32_t SCTP_STATE_SHUTDOWN_SENT = 5;
inline int32_t SCTP_STATE_SHUTDOWN_RECEIVED = 6;
inline int32_t SCTP_STATE_SHUTDOWN_ACK_SENT = 7;
/* as FreeBSD calls it */
inline int32_t SCTP_STATE_OPEN = SCTP_STATE_ESTABLISHED;

inline string sctp_state_string[int32_t state] =
	state == 0 ? "state-closed" :
	state == 1 ? "state-cookie-wait" :
	state == 2 ? "state-cookie-echoed" :
	state == 3 ? "state-established" :
	state == 4 ? "state-shutdown-pending" :
	state == 5 ? "state-shutdown-sent" :
	state == 6 ? "state-shutdown-received" :
	state == 7 ? "state-shutdown-ack-sent" : "<unknown>";
