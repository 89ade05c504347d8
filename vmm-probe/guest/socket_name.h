/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The name of a socket for comparing views of a guest: its two ends. */
#ifndef VP_GUEST_SOCKET_NAME_H
#define VP_GUEST_SOCKET_NAME_H

#include <stdbool.h>
#include <stdint.h>

#define VP_SOCKET_NAME 128 /* bytes that hold any such name, with its NUL */

struct vp_socket_id {
	bool is_udp, is_v6;
	bool is_listening;              /* TCP only */
	uint8_t local[16], peer[16];    /* in network order; of IPv4 the first four bytes */
	uint16_t local_port, peer_port; /* in host order */
};

/** "tcp 10.0.0.2:22 10.0.0.1:50000", "tcp6 [::]:22 listening", "udp 0.0.0.0:68". A peer without a port does
 * not count. */
void vp_socket_name(const struct vp_socket_id *id, char name[VP_SOCKET_NAME]);

#endif
