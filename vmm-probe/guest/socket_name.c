/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names of sockets: one form for sockets in memory and in texts. */
#include "vmm-probe/guest/socket_name.h"

#include <arpa/inet.h>
#include <stdio.h>

static void put_end(bool is_v6, const uint8_t *address, uint16_t port, char *to, size_t size)
{
	char text[INET6_ADDRSTRLEN];

	inet_ntop(is_v6 ? AF_INET6 : AF_INET, address, text, sizeof(text));
	snprintf(to, size, is_v6 ? "[%s]:%u" : "%s:%u", text, port);
}

void vp_socket_name(const struct vp_socket_id *id, char name[VP_SOCKET_NAME])
{
	char local[INET6_ADDRSTRLEN + 8], peer[INET6_ADDRSTRLEN + 8] = "";

	put_end(id->is_v6, id->local, id->local_port, local, sizeof(local));
	if (id->peer_port)
		put_end(id->is_v6, id->peer, id->peer_port, peer, sizeof(peer));
	snprintf(name, VP_SOCKET_NAME, "%s%s %s%s%s%s", id->is_udp ? "udp" : "tcp", id->is_v6 ? "6" : "",
		 local, *peer ? " " : "", peer, id->is_listening ? " listening" : "");
}
