/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Linux's address families, for inet_ntop() and struct sockaddr; types of addresses by other systems' names. */
typedef uint32_t ipaddr_t;
typedef uint32_t in_addr_t;

inline int AF_UNSPEC = 0;
inline int AF_UNIX = 1;
inline int AF_LOCAL = 1;
inline int AF_INET = 2;
inline int AF_INET6 = 10;
inline int AF_NETLINK = 16;
inline int AF_PACKET = 17;
inline int AF_VSOCK = 40;
