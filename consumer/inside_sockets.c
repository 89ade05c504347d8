/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Texts that list sockets: ss(8) with its columns, /proc/net/tcp, tcp6, udp and udp6. */
#include <arpa/inet.h>
#include <string.h>

#include "consumer/inside_internal.h"
#include "vmm-probe/guest/socket_name.h"

/* Bits of con_inside.sockets. */
#define BIT(udp, v6) (1u << ((udp ? 2 : 0) + (v6 ? 1 : 0)))
#define ALL          0xfu

static struct ot_err *add_socket(struct con_text_reader *r, const struct vp_socket_id *id)
{
	char name[VP_SOCKET_NAME];

	vp_socket_name(id, name);
	return con_inside_add(r, 0, name, strlen(name));
}

/* --- ss ----------------------------------------------------------------------------------------------- */

static bool is_netid(const struct con_word *w)
{
	static const char *const ids[] = { "tcp",  "udp",   "raw",   "icmp6", "mptcp", "sctp",
					   "dccp", "u_str", "u_dgr", "u_seq", "p_raw", "p_dgr",
					   "nl",   "v_str", "v_dgr", "ti_st", "xdp",   "???" };

	for (size_t i = 0; i < OT_ARRAY_SIZE(ids); i++)
		if (con_word_is(w, ids[i]))
			return true;
	return false;
}

static bool is_ss(const struct con_line *first)
{
	uint64_t queue;

	return con_word_is(&first->words[0], "Netid") ||
	       (first->n >= 5 && is_netid(&first->words[0]) &&
		con_word_number(&first->words[2], 10, UINT64_MAX, &queue));
}

/* "State Recv-Q …": ss omits the column of the protocol. */
static bool is_ss_of_one(const struct con_line *first)
{
	return first->n >= 4 && con_word_is(&first->words[0], "State") &&
	       con_word_is(&first->words[1], "Recv-Q");
}

static struct ot_err *one_line(struct con_text_reader *r, const struct con_line *line)
{
	(void)line;
	return ot_err_new(OT_ERR_UNSUPPORTED,
			  "%s is of one protocol, which ss does not name then: `ss -tuan` lists all",
			  r->name);
}

/* "10.0.0.2:22", "127.0.0.53%lo:53", "[::1]:25", "*:22". */
static bool read_end(const struct con_word *w, bool *ret_v6, uint8_t address[16], uint16_t *ret_port)
{
	const char *colon = memrchr(w->at, ':', w->len), *device;
	char text[INET6_ADDRSTRLEN];
	uint64_t port = 0;

	if (!colon)
		return false;
	struct con_word last = { colon + 1, (size_t)(w->at + w->len - colon - 1) };
	struct con_word first = { w->at, (size_t)(colon - w->at) };

	if (!con_word_is(&last, "*") && !con_word_number(&last, 10, UINT16_MAX, &port))
		return false;
	*ret_port = (uint16_t)port;
	memset(address, 0, 16);
	device = memchr(first.at, '%', first.len);
	if (device)
		first.len = (size_t)(device - first.at);
	*ret_v6 = con_word_is(&first, "*"); /* of either family */
	if (*ret_v6)
		return true;
	if (first.len > 1 && *first.at == '[') {
		bool closed = first.at[first.len - 1] == ']';

		first = (struct con_word){ first.at + 1, first.len - 1 - closed };
	}
	if (!first.len || first.len >= sizeof(text))
		return false;
	memcpy(text, first.at, first.len);
	text[first.len] = '\0';
	*ret_v6 = strchr(text, ':');
	return inet_pton(*ret_v6 ? AF_INET6 : AF_INET, text, address) == 1;
}

/* As is_compared() of vmm-probe/guest/census_sockets.c. */
static bool is_state_compared(const struct con_word *state)
{
	return con_word_is(state, "LISTEN") || con_word_is(state, "ESTAB") ||
	       con_word_is(state, "SYN-SENT") || con_word_is(state, "CLOSE-WAIT");
}

static struct ot_err *bad_end(const struct con_text_reader *r, const struct con_word *end)
{
	return ot_err_new(
	    OT_ERR_BAD_DATA, "%s:%llu: \"%.*s\" is no address and port in numbers: `ss -tuan` has these",
	    r->name, (unsigned long long)r->line, (int)(end->len < 80 ? end->len : 80), end->at);
}

static struct ot_err *ss_line(struct con_text_reader *r, const struct con_line *line)
{
	struct vp_socket_id id = { 0 };
	bool peer_v6;

	r->in->sockets = ALL;
	if (con_word_is(&line->words[0], "Netid"))
		return NULL;
	if (line->n < 6 || !is_netid(&line->words[0]))
		return con_inside_bad(r);
	id.is_udp = con_word_is(&line->words[0], "udp");
	if (!id.is_udp && (!con_word_is(&line->words[0], "tcp") || !is_state_compared(&line->words[1])))
		return NULL;
	id.is_listening = con_word_is(&line->words[1], "LISTEN");
	if (!read_end(&line->words[4], &id.is_v6, id.local, &id.local_port))
		return bad_end(r, &line->words[4]);
	if (!read_end(&line->words[5], &peer_v6, id.peer, &id.peer_port))
		return bad_end(r, &line->words[5]);
	return add_socket(r, &id);
}

/* --- /proc/net ------------------------------------------------------------------------------------------ */

static bool is_proc_net(const struct con_line *first)
{
	return first->n > 8 && con_word_is(&first->words[0], "sl") &&
	       con_word_is(&first->words[1], "local_address");
}

/* Each table has a heading: "remote_address" is IPv6's, the column "drops" UDP's. */
static struct ot_err *proc_net_heading(struct con_text_reader *r, const struct con_line *line)
{
	r->is_v6 = con_word_is(&line->words[2], "remote_address");
	r->is_udp = con_word_is(&line->words[line->n - 1], "drops");
	r->in->sockets |= BIT(r->is_udp, r->is_v6);
	return NULL;
}

/* An address is written as numbers of 32 bits, each in this processor's byte order: the lowest byte first. */
static bool read_hex_end(const struct con_word *w, bool is_v6, uint8_t address[16], uint16_t *ret_port)
{
	size_t words = is_v6 ? 4 : 1;
	uint64_t value;

	if (w->len != words * 8 + 5 || w->at[words * 8] != ':' ||
	    !con_word_number(&(struct con_word){ w->at + words * 8 + 1, 4 }, 16, UINT16_MAX, &value))
		return false;
	*ret_port = (uint16_t)value;
	for (size_t i = 0; i < words; i++) {
		if (!con_word_number(&(struct con_word){ w->at + 8 * i, 8 }, 16, UINT32_MAX, &value))
			return false;
		for (size_t byte = 0; byte < 4; byte++)
			address[4 * i + byte] = (uint8_t)(value >> 8 * byte);
	}
	return true;
}

static struct ot_err *proc_net_line(struct con_text_reader *r, const struct con_line *line)
{
	struct vp_socket_id id = { 0 };
	uint64_t state;

	if (is_proc_net(line))
		return proc_net_heading(r, line);
	id.is_udp = r->is_udp;
	id.is_v6 = r->is_v6;
	if (line->n < 4 || !read_hex_end(&line->words[1], r->is_v6, id.local, &id.local_port) ||
	    !read_hex_end(&line->words[2], r->is_v6, id.peer, &id.peer_port) ||
	    !con_word_number(&line->words[3], 16, UINT8_MAX, &state))
		return con_inside_bad(r);
	id.is_listening = !r->is_udp && state == 10;
	if (!r->is_udp && state != 1 && state != 2 && state != 8 && state != 10)
		return NULL;
	return add_socket(r, &id);
}

const struct con_text_shape con_inside_sockets[] = {
	{ "ss", &con_hidden_sockets, is_ss, false, ss_line, NULL },
	{ "ss", &con_hidden_sockets, is_ss_of_one, false, one_line, NULL },
	{ "/proc/net", &con_hidden_sockets, is_proc_net, false, proc_net_line, NULL },
	{ NULL, NULL, NULL, false, NULL, NULL },
};
