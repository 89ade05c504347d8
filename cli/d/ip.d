/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Packets and their IP headers, as the ip provider's arguments: net_skb.d defines the members. */
typedef struct pktinfo {
	uintptr_t pkt_addr;
} pktinfo_t;

typedef struct csinfo {
	uintptr_t cs_addr;
	uint64_t cs_cid;
	pid_t cs_pid;
	int cs_zoneid;
} csinfo_t;

typedef struct ipinfo {
	uint8_t ip_ver;
	uint32_t ip_plength;
	string ip_saddr;
	string ip_daddr;
} ipinfo_t;

typedef struct ifinfo {
	string if_name;
	int8_t if_local;
	int if_ipstack;
	uintptr_t if_addr;
} ifinfo_t;

typedef struct ipv4info {
	uint8_t ipv4_ver;
	uint8_t ipv4_ihl;
	uint8_t ipv4_tos;
	uint16_t ipv4_length;
	uint16_t ipv4_ident;
	uint8_t ipv4_flags;
	uint16_t ipv4_offset;
	uint8_t ipv4_ttl;
	uint8_t ipv4_protocol;
	string ipv4_protostr;
	uint16_t ipv4_checksum;
	uint32_t ipv4_src;
	uint32_t ipv4_dst;
	string ipv4_saddr;
	string ipv4_daddr;
	uintptr_t ipv4_hdr;
} ipv4info_t;

typedef struct ipv6info {
	uint8_t ipv6_ver;
	uint8_t ipv6_tclass;
	uint32_t ipv6_flow;
	uint16_t ipv6_plen;
	uint8_t ipv6_nexthdr;
	string ipv6_nextstr;
	uint8_t ipv6_hlim;
	uintptr_t ipv6_src;
	uintptr_t ipv6_dst;
	string ipv6_saddr;
	string ipv6_daddr;
	uintptr_t ipv6_hdr;
} ipv6info_t;

/* ipv4_flags */
inline int IPH_RF = 0x8;
inline int IPH_DF = 0x4;
inline int IPH_MF = 0x2;

inline short IPPROTO_IP = 0;
inline short IPPROTO_ICMP = 1;
inline short IPPROTO_IGMP = 2;
inline short IPPROTO_IPIP = 4;
inline short IPPROTO_TCP = 6;
inline short IPPROTO_EGP = 8;
inline short IPPROTO_PUP = 12;
inline short IPPROTO_UDP = 17;
inline short IPPROTO_IDP = 22;
inline short IPPROTO_TP = 29;
inline short IPPROTO_DCCP = 33;
inline short IPPROTO_IPV6 = 41;
inline short IPPROTO_RSVP = 46;
inline short IPPROTO_GRE = 47;
inline short IPPROTO_ESP = 50;
inline short IPPROTO_AH = 51;
inline short IPPROTO_MTP = 92;
inline short IPPROTO_BEETPH = 94;
inline short IPPROTO_ENCAP = 98;
inline short IPPROTO_PIM = 103;
inline short IPPROTO_COMP = 108;
inline short IPPROTO_SCTP = 132;
inline short IPPROTO_UDPLITE = 136;
inline short IPPROTO_MPLS = 137;
inline short IPPROTO_RAW = 255;
inline short IPPROTO_HOPOPTS = 0;
inline short IPPROTO_ROUTING = 43;
inline short IPPROTO_FRAGMENT = 44;
inline short IPPROTO_ICMPV6 = 58;
inline short IPPROTO_NONE = 59;
inline short IPPROTO_DSTOPTS = 60;

/* as ipv4_protostr and ipv6_nextstr have them */
inline string __protocol_name[int number] =
	number == 1 ? "ICMP" : number == 2 ? "IGMP" : number == 4 ? "IP" : number == 6 ? "TCP" : number == 17 ? "UDP" :
	number == 41 ? "IPV6" : number == 43 ? "ROUTING" : number == 44 ? "FRAGMENT" : number == 46 ? "RSVP" :
	number == 47 ? "GRE" : number == 50 ? "ESP" : number == 51 ? "AH" : number == 58 ? "ICMPV6" :
	number == 59 ? "NONE" : number == 60 ? "DSTOPTS" : number == 89 ? "OSPF" : number == 103 ? "PIM" :
	number == 132 ? "SCTP" : lltostr(number);
