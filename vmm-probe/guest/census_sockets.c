/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sockets in two ways: the tables in which the kernel looks up a packet's receiver (census_sockets_tables.c),
 * and the open files of processes (census_sockets_files.c). This is their common part: the sockets that are
 * compared, and their names.
 */
#include "vmm-probe/guest/census_sockets.h"

#include <string.h>

#include "vmm-probe/guest/guest_internal.h"
#include "vmm-probe/guest/socket_name.h"

/* include/net/tcp_states.h; ss(8) and /proc/net/tcp print them, so they stay. */
enum { ESTABLISHED = 1, SYN_SENT = 2, CLOSE_WAIT = 8, LISTEN = 10 };
enum { FAMILY_INET = 2, FAMILY_INET6 = 10 };

static bool find_layout(const struct vp_btf *btf, struct vp_sock_layout *l)
{
	const struct vp_member common[] = {
		{ "sock_common", "skc_family", &l->family },
		{ "sock_common", "skc_state", &l->state },
		{ "sock_common", "skc_num", &l->num },
		{ "sock_common", "skc_dport", &l->dport },
		{ "sock_common", "skc_daddr", &l->daddr },
		{ "sock_common", "skc_rcv_saddr", &l->rcv_saddr },
		{ "sock_common", "skc_net.net", &l->net },
		{ "sock_common", "skc_nulls_node", &l->nulls_node },
		{ "sock_common", "skc_node", &l->node },
		{ "sock", "sk_socket", &l->sk_socket },
		{ "socket", "file", &l->socket_file },
	};
	const struct vp_member v6[] = {
		{ "sock_common", "skc_v6_daddr", &l->v6_daddr },
		{ "sock_common", "skc_v6_rcv_saddr", &l->v6_rcv_saddr },
	};
	uint64_t size = vp_btf_sizeof(btf, "sock_common");

	l->common_size = (uint32_t)size;
	l->has_v6 = vp_census_members(btf, v6, OT_ARRAY_SIZE(v6)) && l->v6_daddr + 16ull <= size &&
		    l->v6_rcv_saddr + 16ull <= size;
	if (!size || size > VP_SOCK_COMMON_MAX || !vp_census_members(btf, common, OT_ARRAY_SIZE(common)))
		return false;
	for (size_t i = 0; i < OT_ARRAY_SIZE(common) - 2; i++) /* all of them are read at once */
		if (*common[i].offset + 8ull > size)
			return false;
	return true;
}

/* --- a socket ------------------------------------------------------------------------------------------- */

/* A connection that is being closed has no process any more, and one in TIME_WAIT is not a struct sock. */
static bool is_compared(bool is_udp, uint8_t state)
{
	return is_udp || state == ESTABLISHED || state == SYN_SENT || state == CLOSE_WAIT || state == LISTEN;
}

/* The addresses of the socket that begins with @p common; false: it is not compared. */
static bool read_ends(const struct vp_sockets *s, const uint8_t *common, bool is_udp,
		      struct vp_socket_id *ret)
{
	const struct vp_sock_layout *l = &s->l;
	uint8_t state = common[l->state];
	uint16_t family, port;
	uint64_t net;

	memcpy(&net, common + l->net, sizeof(net));
	memcpy(&family, common + l->family, sizeof(family));
	memcpy(&ret->local_port, common + l->num, sizeof(ret->local_port));
	memcpy(&port, common + l->dport, sizeof(port));
	if (net != s->init_net || !ret->local_port || !is_compared(is_udp, state))
		return false;
	ret->is_udp = is_udp;
	ret->is_listening = !is_udp && state == LISTEN;
	ret->is_v6 = family == FAMILY_INET6;
	ret->peer_port = ret->is_listening ? 0 : (uint16_t)(port >> 8 | port << 8);
	if (family == FAMILY_INET) {
		memcpy(ret->local, common + l->rcv_saddr, 4);
		memcpy(ret->peer, common + l->daddr, 4);
		return true;
	}
	if (family != FAMILY_INET6 || !l->has_v6)
		return false;
	memcpy(ret->local, common + l->v6_rcv_saddr, 16);
	memcpy(ret->peer, common + l->v6_daddr, 16);
	return true;
}

/* The kernel has sockets of its own, and connections that wait for accept(): no process has these open. */
static struct ot_err *needs_file(struct vp_sockets *s, uint64_t sk, bool *ret)
{
	uint64_t socket, file = 0;

	OT_TRY(vp_guest_read_u64(s->guest, vp_gva(sk + s->l.sk_socket), &socket));
	if (socket)
		OT_TRY(vp_guest_read_u64(s->guest, vp_gva(socket + s->l.socket_file), &file));
	*ret = file;
	return NULL;
}

struct ot_err *vp_sockets_add(struct vp_sockets *s, uint64_t sk, bool is_udp, uint32_t way, uint64_t owner)
{
	uint8_t common[VP_SOCK_COMMON_MAX];
	struct vp_socket_id id = { 0 };
	char name[VP_SOCKET_NAME];
	bool needs = true;

	if (++s->seen > VP_SOCKETS_MAX)
		return vp_census_endless();
	OT_TRY(vp_guest_read(s->guest, vp_gva(sk), common, s->l.common_size));
	if (!read_ends(s, common, is_udp, &id))
		return NULL;
	if (way == VP_SOCKET_TABLES)
		OT_TRY(needs_file(s, sk, &needs));
	if (!needs)
		way |= VP_SOCKET_FILES & s->have;
	vp_socket_name(&id, name);
	OT_TRY(vp_census_add(s->census, 0, 0, way, name, sizeof(name)));
	s->census->items[s->census->count - 1].owner = owner;
	return NULL;
}

/* --- all --------------------------------------------------------------------------------------------- */

static bool open_processes(struct vp_sockets *s)
{
	struct ot_err *err = vp_processes_open(s->guest, &s->ps);

	ot_err_destroy(err);
	return !err;
}

struct ot_err *vp_census_sockets(struct vp_guest *guest, struct vp_census *ret)
{
	static const struct vp_way ways[] = {
		{ VP_SOCKET_TABLES, "tables of sockets", vp_sockets_walk_tables },
		{ VP_SOCKET_FILES, "open files", vp_sockets_walk_files },
	};
	const struct vp_btf *btf = vp_guest_btf(guest);
	const struct vp_symtab *symbols = vp_guest_symtab(guest);
	struct vp_sockets s = {
		.guest = guest,
		.init_net = vp_guest_address(symbols, "init_net"),
		.tcp_hashinfo = vp_guest_address(symbols, "tcp_hashinfo"),
		.udp_table = vp_guest_address(symbols, "udp_table"),
		.socket_file_ops = vp_guest_address(symbols, "socket_file_ops"),
	};

	memset(ret, 0, sizeof(*ret));
	if (btf && s.init_net && find_layout(btf, &s.l)) {
		if (s.tcp_hashinfo && s.udp_table && vp_sockets_find_tables(&s, btf))
			s.have |= VP_SOCKET_TABLES;
		if (s.socket_file_ops && vp_sockets_find_files(&s, btf) && open_processes(&s))
			s.have |= VP_SOCKET_FILES;
	}
	if (!s.have)
		return ot_err_new(OT_ERR_UNSUPPORTED, "the guest's types do not describe its sockets");
	vp_mmu_flush(vp_guest_mmu(guest));
	struct ot_err *err =
	    vp_census_walk(guest, &vp_readings[VP_READ_SOCKETS], ways, OT_ARRAY_SIZE(ways), s.have, &s, ret);

	vp_processes_close(s.ps);
	return err;
}
