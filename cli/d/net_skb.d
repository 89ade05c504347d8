/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ip, tcp and udp providers' structs of a packet, whose headers are where the struct sk_buff says. Numbers
 * are in the host's order. Without a packet they are 0, and texts "<unknown>".
 */
#pragma D depends_on library ip.d
#pragma D depends_on library tcp.d
#pragma D depends_on library udp.d
#pragma D depends_on module vmlinux
#pragma D depends_on module btf
#pragma D depends_on struct sk_buff
#pragma D depends_on struct iphdr
#pragma D depends_on struct tcphdr
#pragma D depends_on struct udphdr

translator pktinfo_t < struct sk_buff *S > {
	pkt_addr = (uintptr_t)S;
};

translator csinfo_t < struct sk_buff *S > {
	cs_addr = S == NULL ? 0 : (uintptr_t)S->sk;
	cs_cid = S == NULL ? 0 : (uint64_t)S->sk;
	cs_pid = 0;
	cs_zoneid = 0;
};

/* --- where headers are ------------------------------------------------------------------------------ */

inline uint8_t *__ip_header[struct sk_buff *S] = (uint8_t *)(S->head + S->network_header);
inline uint8_t *__tp_header[struct sk_buff *S] = (uint8_t *)(S->head + S->transport_header);
inline int __ip_version[struct sk_buff *S] = S == NULL ? 0 : *__ip_header[S] >> 4;
inline uint32_t __ip_header_size[struct sk_buff *S] = __ip_version[S] == 4 ? (*__ip_header[S] & 0xf) * 4 : 40;

/* From the IP header to the end of the packet. Headers themselves are not complete everywhere: the length is
 * written behind the sites of tcp:::send, and is 0 in packets above 64 KiB. */
inline uint32_t __ip_size[struct sk_buff *S] =
	S->len + (uint32_t)((uint64_t)S->data - (uint64_t)__ip_header[S]);

/* the most significant byte first; D's shifts keep the type of their left side */
inline uint16_t __be16[uint8_t *p] = (uint16_t)*p << 8 | *(p + 1);
inline uint32_t __be32[uint8_t *p] = (uint32_t)__be16[p] << 16 | __be16[p + 2];

inline string __ip_text[struct sk_buff *S, int at4, int at6] =
	__ip_version[S] == 4 ? inet_ntoa((uint32_t *)(__ip_header[S] + at4)) :
	__ip_version[S] == 6 ? inet_ntoa6((struct in6_addr *)(__ip_header[S] + at6)) : "<unknown>";

translator ipinfo_t < struct sk_buff *S > {
	ip_ver = __ip_version[S];
	ip_plength = S == NULL ? 0 : __ip_size[S] - __ip_header_size[S];
	ip_saddr = __ip_text[S, 12, 8];
	ip_daddr = __ip_text[S, 16, 24];
};

/* --- headers ---------------------------------------------------------------------------------------- */

inline int __is_v4[struct sk_buff *S] = __ip_version[S] == 4;
inline int __is_v6[struct sk_buff *S] = __ip_version[S] == 6;

translator ipv4info_t < struct sk_buff *S > {
	ipv4_ver = __is_v4[S] ? 4 : 0;
	ipv4_ihl = __is_v4[S] ? (*__ip_header[S] & 0xf) * 4 : 0;
	ipv4_tos = __is_v4[S] ? *(__ip_header[S] + 1) : 0;
	ipv4_length = __is_v4[S] ? __ip_size[S] : 0;
	ipv4_ident = __is_v4[S] ? __be16[__ip_header[S] + 4] : 0;
	ipv4_flags = __is_v4[S] ? __be16[__ip_header[S] + 6] >> 12 & 0xe : 0;
	ipv4_offset = __is_v4[S] ? __be16[__ip_header[S] + 6] & 0x1fff : 0;
	ipv4_ttl = __is_v4[S] ? *(__ip_header[S] + 8) : 0;
	ipv4_protocol = __is_v4[S] ? *(__ip_header[S] + 9) : 0;
	ipv4_protostr = __is_v4[S] ? __protocol_name[*(__ip_header[S] + 9)] : "<unknown>";
	ipv4_checksum = __is_v4[S] ? __be16[__ip_header[S] + 10] : 0;
	ipv4_src = __is_v4[S] ? __be32[__ip_header[S] + 12] : 0;
	ipv4_dst = __is_v4[S] ? __be32[__ip_header[S] + 16] : 0;
	ipv4_saddr = __is_v4[S] ? __ip_text[S, 12, 8] : "<unknown>";
	ipv4_daddr = __is_v4[S] ? __ip_text[S, 16, 24] : "<unknown>";
	ipv4_hdr = __is_v4[S] ? (uintptr_t)__ip_header[S] : 0;
};

translator ipv6info_t < struct sk_buff *S > {
	ipv6_ver = __is_v6[S] ? 6 : 0;
	ipv6_tclass = __is_v6[S] ? __be16[__ip_header[S]] >> 4 & 0xff : 0;
	ipv6_flow = __is_v6[S] ? __be32[__ip_header[S]] & 0xfffff : 0;
	ipv6_plen = __is_v6[S] ? __ip_size[S] - 40 : 0;
	ipv6_nexthdr = __is_v6[S] ? *(__ip_header[S] + 6) : 0;
	ipv6_nextstr = __is_v6[S] ? __protocol_name[*(__ip_header[S] + 6)] : "<unknown>";
	ipv6_hlim = __is_v6[S] ? *(__ip_header[S] + 7) : 0;
	ipv6_src = __is_v6[S] ? (uintptr_t)__ip_header[S] + 8 : 0;
	ipv6_dst = __is_v6[S] ? (uintptr_t)__ip_header[S] + 24 : 0;
	ipv6_saddr = __is_v6[S] ? __ip_text[S, 12, 8] : "<unknown>";
	ipv6_daddr = __is_v6[S] ? __ip_text[S, 16, 24] : "<unknown>";
	ipv6_hdr = __is_v6[S] ? (uintptr_t)__ip_header[S] : 0;
};

translator tcpinfo_t < struct sk_buff *S > {
	tcp_sport = S == NULL ? 0 : __be16[__tp_header[S]];
	tcp_dport = S == NULL ? 0 : __be16[__tp_header[S] + 2];
	tcp_seq = S == NULL ? 0 : __be32[__tp_header[S] + 4];
	tcp_ack = S == NULL ? 0 : __be32[__tp_header[S] + 8];
	tcp_offset = S == NULL ? 0 : (*(__tp_header[S] + 12) >> 4) * 4;
	tcp_flags = S == NULL ? 0 : *(__tp_header[S] + 13);
	tcp_window = S == NULL ? 0 : __be16[__tp_header[S] + 14];
	tcp_checksum = S == NULL ? 0 : __be16[__tp_header[S] + 16];
	tcp_urgent = S == NULL ? 0 : __be16[__tp_header[S] + 18];
	tcp_hdr = S == NULL ? 0 : (uintptr_t)__tp_header[S];
};

translator udpinfo_t < struct sk_buff *S > {
	udp_sport = S == NULL ? 0 : __be16[__tp_header[S]];
	udp_dport = S == NULL ? 0 : __be16[__tp_header[S] + 2];
	udp_length = S == NULL ? 0 : __be16[__tp_header[S] + 4];
	udp_checksum = S == NULL ? 0 : __be16[__tp_header[S] + 6];
	udp_hdr = S == NULL ? 0 : (uintptr_t)__tp_header[S];
};

/* --- interfaces ------------------------------------------------------------------------------------- */

translator ifinfo_t < struct net_device *D > {
	if_name = D == NULL ? "<null>" : stringof(D->name);
	/* IFF_LOOPBACK */
	if_local = D != NULL && (D->flags & 8) != 0;
	if_ipstack = 0;
	if_addr = (uintptr_t)D;
};

inline struct net_device *__skb_device[struct sk_buff *S] = S == NULL ? NULL : S->dev;

translator ifinfo_t < struct sk_buff *S > {
	if_name = xlate <ifinfo_t> (__skb_device[S]).if_name;
	if_local = xlate <ifinfo_t> (__skb_device[S]).if_local;
	if_ipstack = 0;
	if_addr = (uintptr_t)__skb_device[S];
};
