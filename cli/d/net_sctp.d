/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sctp provider's structs of a packet and an association. Without one they are 0, and texts "<unknown>". */
#pragma D depends_on library net_skb.d
#pragma D depends_on library sctp.d
#pragma D depends_on module vmlinux
#pragma D depends_on module btf
#pragma D depends_on struct sk_buff
#pragma D depends_on struct sctp_association

translator sctpinfo_t < struct sk_buff *S > {
	sctp_sport = S == NULL ? 0 : __be16[__tp_header[S]];
	sctp_dport = S == NULL ? 0 : __be16[__tp_header[S] + 2];
	sctp_verify = S == NULL ? 0 : __be32[__tp_header[S] + 4];
	sctp_checksum = S == NULL ? 0 : __be32[__tp_header[S] + 8];
	sctp_hdr = S == NULL ? 0 : (uintptr_t)__tp_header[S];
};

translator csinfo_t < struct sctp_association *A > {
	cs_addr = (uintptr_t)A;
	cs_cid = (uint64_t)A;
	cs_pid = 0;
	cs_zoneid = 0;
};

/* The addresses by which the peer is reached at present. */
inline struct sctp_transport *__sctp_path[struct sctp_association *A] = A == NULL ? NULL : A->peer.primary_path;
inline string __sctp_text[union sctp_addr *U] =
	U->sa.sa_family == 2 ? inet_ntoa((uint32_t *)&U->v4.sin_addr) :
	U->sa.sa_family == 10 ? inet_ntoa6(&U->v6.sin6_addr) : "<unknown>";

/* The local addresses are a list: its elements up to 4. */
inline struct list_head *__sctp_locals[struct sctp_association *A] = &A->base.bind_addr.address_list;
inline int __list_size[struct list_head *L] =
	L->next == L ? 0 : L->next->next == L ? 1 : L->next->next->next == L ? 2 : L->next->next->next->next == L ? 3 : 4;

translator sctpsinfo_t < struct sctp_association *A > {
	sctps_addr = (uintptr_t)A;
	sctps_num_raddrs = A == NULL ? 0 : A->peer.transport_count;
	sctps_raddrs = A == NULL ? 0 : (uintptr_t)&A->peer.transport_addr_list;
	sctps_num_laddrs = A == NULL ? 0 : __list_size[__sctp_locals[A]];
	sctps_laddrs = A == NULL ? 0 : (uintptr_t)__sctp_locals[A];
	sctps_lport = A == NULL ? 0 : A->base.bind_addr.port;
	sctps_rport = A == NULL ? 0 : A->peer.port;
	sctps_laddr = __sctp_path[A] == NULL ? "<unknown>" : __sctp_text[&__sctp_path[A]->saddr];
	sctps_raddr = __sctp_path[A] == NULL ? "<unknown>" : __sctp_text[&__sctp_path[A]->ipaddr];
	sctps_state = A == NULL ? 0 : A->state;
};
