/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sockets among the open files of processes, which are found by their numbers (process/). Descriptors open
 * and close while they are read, and a table may be replaced by a larger one: an object that is no longer a
 * socket when it is read is left out, and the rounds of a comparison show whether it was one.
 */
#include <string.h>

#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/census_sockets.h"
#include "vmm-probe/guest/guest_internal.h"

#define FILES_MAX (1u << 20) /* of a process: the kernel's own default limit, fs.nr_open */
#define CHUNK     64u
enum { STREAM = 1, DATAGRAM = 2 }; /* enum sock_type */
enum { PROTOCOL_TCP = 6, PROTOCOL_UDP = 17 };

bool vp_sockets_find_files(struct vp_sockets *s, const struct vp_btf *btf)
{
	struct vp_files_layout *f = &s->files;
	const struct vp_member members[] = {
		{ "task_struct", "files", &f->task_files },
		{ "files_struct", "fdt", &f->files_fdt },
		{ "fdtable", "max_fds", &f->fdt_max },
		{ "fdtable", "fd", &f->fdt_fd },
		{ "file", "f_op", &f->file_op },
		{ "file", "private_data", &f->file_private },
		{ "socket", "sk", &f->socket_sk },
		{ "sock", "sk_protocol", &f->sk_protocol },
		{ "sock", "sk_type", &f->sk_type },
	};
	uint32_t protocol, type, bits = 0, more_bits = 0;

	return vp_census_members(btf, members, OT_ARRAY_SIZE(members)) &&
	       vp_btf_member_offset(btf, "sock", "sk_protocol", &protocol, &bits) &&
	       vp_btf_member_offset(btf, "sock", "sk_type", &type, &more_bits) && !bits && !more_bits;
}

static struct ot_err *add_file(struct vp_sockets *s, uint64_t file, uint64_t pid)
{
	const struct vp_files_layout *f = &s->files;
	uint64_t op, socket, sk, back;
	uint16_t protocol, type;

	OT_TRY(vp_guest_read_u64(s->guest, vp_gva(file + f->file_op), &op));
	if (op != s->socket_file_ops)
		return NULL;
	OT_TRY(vp_guest_read_u64(s->guest, vp_gva(file + f->file_private), &socket));
	OT_TRY(vp_guest_read_u64(s->guest, vp_gva(socket + f->socket_sk), &sk));
	if (!sk)
		return NULL;
	OT_TRY(vp_guest_read_u64(s->guest, vp_gva(sk + s->l.sk_socket), &back));
	OT_TRY(vp_guest_read(s->guest, vp_gva(sk + f->sk_protocol), &protocol, sizeof(protocol)));
	OT_TRY(vp_guest_read(s->guest, vp_gva(sk + f->sk_type), &type, sizeof(type)));
	bool is_tcp = type == STREAM && protocol == PROTOCOL_TCP;

	if (back != socket || (!is_tcp && (type != DATAGRAM || protocol != PROTOCOL_UDP)))
		return NULL;
	return vp_sockets_add(s, sk, !is_tcp, VP_SOCKET_FILES, pid);
}

/* The pointers of a closed file may lead anywhere. */
static struct ot_err *try_file(struct vp_sockets *s, uint64_t file, uint64_t pid)
{
	struct ot_err *err = add_file(s, file, pid);

	if (!err || ot_err_code(err) != OT_ERR_FAULT || vp_budget_is_over())
		return err;
	ot_err_destroy(err);
	return NULL;
}

static struct ot_err *walk_files(struct vp_sockets *s, const struct vp_guest_process *p)
{
	const struct vp_files_layout *f = &s->files;
	uint64_t files, fdt, fd, chunk[CHUNK];
	uint32_t max, n;

	OT_TRY(vp_guest_read_u64(s->guest, vp_gva(p->task + f->task_files), &files));
	if (!files) /* it is ending, or one of the kernel's */
		return NULL;
	OT_TRY(vp_guest_read_u64(s->guest, vp_gva(files + f->files_fdt), &fdt));
	OT_TRY(vp_guest_read_u32(s->guest, vp_gva(fdt + f->fdt_max), &max));
	OT_TRY(vp_guest_read_u64(s->guest, vp_gva(fdt + f->fdt_fd), &fd));
	if (max > FILES_MAX)
		return vp_census_endless();
	for (uint32_t i = 0; i < max; i += n) {
		n = max - i < CHUNK ? max - i : CHUNK;
		OT_TRY(vp_budget_check());
		OT_TRY(vp_guest_read(s->guest, vp_gva(fd + 8ull * i), chunk, n * sizeof(*chunk)));
		for (uint32_t k = 0; k < n; k++)
			if (chunk[k])
				OT_TRY(try_file(s, chunk[k], p->pid));
	}
	return NULL;
}

/* A process that ends while it is read has no sockets any more. */
static struct ot_err *walk_process(struct vp_sockets *s, const struct vp_guest_process *p)
{
	struct ot_err *err = walk_files(s, p);

	if (!err || ot_err_code(err) != OT_ERR_FAULT || vp_budget_is_over() || vp_guest_process_is(s->ps, p))
		return err;
	ot_err_destroy(err);
	return NULL;
}

struct ot_err *vp_sockets_walk_files(void *ctx, struct vp_census *census)
{
	struct vp_sockets *s = ctx;
	struct vp_guest_process p = { 0 };

	s->census = census;
	s->seen = 0;
	for (;;) {
		bool more = false;
		struct ot_err *err = vp_guest_process_next(s->ps, p.pid, &p, &more);

		if (err && ot_err_code(err) == OT_ERR_BUSY && !vp_budget_is_over()) {
			ot_err_destroy(err); /* it changed each time: continue with the next number */
			continue;
		}
		OT_TRY(err);
		if (!more)
			return NULL;
		OT_TRY(walk_process(s, &p));
	}
}
