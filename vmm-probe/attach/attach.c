/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attaching a guest: connect to its engine, read its kernel from outside, list its probes. Nothing in
 * the guest changes by this.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "vmm-probe/guest/btf_types.h"
#include "vmm-probe/guest/facts.h"
#include "vmm-probe/guest/orc.h"
#include "vmm-probe/hosts/locate.h"
#include "vmm-probe/provider/registry.h"
#include "vmm-probe/session/internal.h"

#define TRIES    5
#define AGAIN_NS 200000000

#define VP_DUMP_PREFIX    "dump:"
#define VP_PEEK_PREFIX    "peek:"
#define VP_DUMP_REGISTERS ".regs"
#define VP_GDB_PREFIX     "gdb:"

void vp_link_destroy(struct vp_guest_link *link)
{
	if (!link)
		return;
	vp_peek_close(link->peek); /* it reads by what comes next */
	vp_probes_destroy(link->probes);
	vp_guest_destroy(link->guest);
	vp_phys_destroy(link->phys);
	vp_dump_close(link->dump);
	vp_client_close(&link->client);
	vp_gdb_close(link->gdb); /* reads for the others, and serves the client */
	if (link->orc_fd >= 0)
		close(link->orc_fd);
	free(link->unread);
	free(link->fell_back);
	free(link->no_engine);
	free(link);
}

static void cleanup_link(struct vp_guest_link **link)
{
	vp_link_destroy(*link);
}

void vp_session_progress(struct vp_session *s, const char *what)
{
	if (s->config.progress)
		s->config.progress(s->config.arg, what);
}

static void guest_progress(void *arg, const char *what)
{
	vp_session_progress(arg, what);
}

/* Find and read the kernel, given RAM and what registers there are. */
static struct ot_err *read_kernel(struct vp_session *s, struct vp_guest_link *link,
				  const struct vp_phys *phys, const struct vp_regs *regs, uint32_t nregs)
{
	struct vp_guest_opts opts = {
		.phys = phys,
		.regs = regs,
		.nregs = nregs,
		.vmlinux = s->config.vmlinux,
		.symbols = s->config.symbols,
		.use_cache = !s->config.no_cache,
		.patient = link->gdb || link->dump,
		.progress = guest_progress,
		.progress_ctx = s,
		.ret_file_fault = &link->file_fault,
	};
	OT_TRY(vp_guest_open(&opts, &link->guest));

	link->facts.size = sizeof(link->facts);
	link->facts.guest_id = link->client.guest_id;
	memcpy(link->facts.guest_name, link->client.guest_name, sizeof(link->facts.guest_name));
	struct ot_err *err = vp_facts_read(link->guest, regs, nregs, &link->facts);
	if (err && ot_err_code(err) != OT_ERR_UNSUPPORTED)
		return err;
	ot_err_destroy(err); /* no BTF: what needs types says so when it is used */
	return NULL;
}

struct ot_err *vp_link_read(struct vp_session *s, struct vp_guest_link *link, const struct vp_phys *phys)
{
	ot_auto_free struct vp_regs *regs = calloc(link->client.nvcpus, sizeof(*regs));
	uint32_t nregs = 0;

	if (!regs)
		return ot_err_nomem();
	vp_session_progress(s, "reading the vCPUs' registers");
	OT_TRY(vp_client_snapshot(&link->client, regs, link->client.nvcpus, &nregs));
	return read_kernel(s, link, phys, regs, nregs);
}

/* The unwind table, in a memfd for the engine. A kernel without one is unwound by frame pointers. */
struct ot_err *vp_link_unwind_table(struct vp_guest_link *link)
{
	struct ot_buf table;
	ot_auto_close int fd = -1;

	ot_buf_init(&table);
	struct ot_err *err = vp_orc_table(link->guest, &table);
	if (!err)
		err = ot_memfd_create("outsight-unwind", table.len, &fd);
	if (!err)
		err = ot_write_all(fd, table.data, table.len);
	ot_buf_deinit(&table);
	if (!err) {
		link->orc_fd = ot_move_fd(fd);
		return NULL;
	}
	if (ot_err_code(err) != OT_ERR_NOT_FOUND && ot_err_code(err) != OT_ERR_BAD_DATA)
		return err;
	ot_err_destroy(err);
	return NULL;
}

/* One program has one set of types and offsets, so its guests must run one kernel. Where KASLR put it
 * may differ: see vp_session_enable(). */
static struct ot_err *check_same_kernel(const struct vp_session *s, const struct vp_guest_link *link)
{
	if (!s->nlinks || !s->links[0]->guest || !link->guest)
		return NULL;
	const struct vp_kernel *a = vp_guest_kernel(s->links[0]->guest), *b = vp_guest_kernel(link->guest);
	if (a->build_id_len == b->build_id_len && !memcmp(a->build_id, b->build_id, a->build_id_len))
		return NULL;
	return ot_err_new(OT_ERR_UNSUPPORTED,
			  "%s runs %s and %s runs %s: trace them in sessions of their own",
			  s->links[0]->client.guest_name, a->release, link->client.guest_name, b->release);
}

struct ot_err *vp_check_once(const struct vp_session *s, pid_t pid)
{
	for (uint32_t i = 0; i < s->nlinks; i++)
		if (!s->links[i]->gdb && !s->links[i]->dump && s->links[i]->client.pid == (uint32_t)pid)
			return ot_err_new(OT_ERR_BUSY,
					  "guest %s (PID %d) is named twice: each -g takes another guest",
					  s->links[i]->client.guest_name, (int)pid);
	return NULL;
}

struct ot_err *vp_link_attach_engine(struct vp_session *s, struct vp_guest_link *link, const char *path)
{
	OT_TRY(vp_client_connect(&link->client, path));
	OT_TRY(vp_check_once(s, (pid_t)link->client.pid));
	vp_link_note_states(link);
	OT_TRY(vp_client_map_ram(&link->client, &link->phys));
	OT_TRY(vp_link_read(s, link, link->phys));
	return vp_link_unwind_table(link);
}

/* While its machine changes, as firmware has it do, an engine is unmade and made anew. */
static struct ot_err *attach_engine(struct vp_session *s, struct vp_guest_link *link, const char *path)
{
	static const struct timespec pause = { .tv_nsec = AGAIN_NS };
	struct ot_err *err = vp_link_attach_engine(s, link, path);

	for (unsigned tries = 0; err && ot_err_code(err) == OT_ERR_GUEST_GONE && tries < TRIES &&
				 !s->config.from_boot && !vp_vmm_has_ended(link, 0);
	     tries++) {
		ot_err_destroy(err);
		vp_beside_close(link);
		nanosleep(&pause, NULL);
		err = vp_link_attach_engine(s, link, path);
	}
	return err;
}

static struct ot_err *attach_running(struct vp_session *s, struct vp_guest_link *link, const char *name)
{
	char path[sizeof(link->client.path)];
	struct ot_err *err = vp_locate(name, path, sizeof(path));

	if (!err)
		return attach_engine(s, link, path);
	if (!name || ot_err_code(err) != OT_ERR_NOT_FOUND)
		return err;
	bool unknown = false;
	struct ot_err *absent = err;
	err = vp_absent_attach(s, link, name, &unknown);
	ot_err_destroy(unknown ? err : absent);
	return unknown ? absent : err;
}

/* Its engine runs here; from its socket on it is as any other. */
static struct ot_err *attach_gdb(struct vp_session *s, struct vp_guest_link *link, const char *where)
{
	vp_session_progress(s, "talking to the gdb stub");
	OT_TRY(vp_gdb_open(where, &link->gdb));
	OT_TRY(vp_client_connect(&link->client, vp_gdb_socket(link->gdb)));
	vp_session_progress(s, "reading the guest through its gdb stub");
	OT_TRY(vp_link_read(s, link, vp_gdb_phys(link->gdb)));
	return vp_link_unwind_table(link);
}

/* A dead guest. Registers that a raw image does not have may stand in a file beside it. */
static struct ot_err *attach_dump(struct vp_session *s, struct vp_guest_link *link, const char *path)
{
	char registers[PATH_MAX];
	struct vp_dump_opts opts = { .path = path };
	const char *base = strrchr(path, '/');
	size_t nregs = 0;

	snprintf(registers, sizeof(registers), "%s" VP_DUMP_REGISTERS, path);
	if (access(registers, R_OK) == 0)
		opts.registers = registers;
	snprintf(link->client.guest_name, sizeof(link->client.guest_name), "%s", base ? base + 1 : path);
	OT_TRY(vp_dump_open(&opts, &link->dump));
	const struct vp_regs *regs = vp_dump_regs(link->dump, &nregs);
	return read_kernel(s, link, vp_dump_phys(link->dump), regs, (uint32_t)nregs);
}

static struct ot_err *attach_none(struct vp_session *s)
{
	if (s->nlinks)
		return ot_err_new(OT_ERR_UNSUPPORTED, "-g none goes with no other guest");
	return s->host_probes ? NULL : vp_probes_create(NULL, &s->host_probes);
}

/* -x trap; a word that is none was refused when the option was set. */
static enum vp_trap_wish trap_wish(const struct vp_session *s)
{
	const char *word = ot_map_gets(&s->options->set, "trap");
	enum vp_trap_wish wish = VP_WISH_AUTO;

	if (word && !vp_trap_wish_parse(word, &wish))
		return VP_WISH_AUTO;
	return wish;
}

static struct ot_err *add_vm_probes(struct vp_guest_link *link)
{
	char names[VP_VM_STATS_MAX][VP_VM_STAT_NAME];
	uint32_t n = 0;

	if (!link->client.has_vm) {
		snprintf(names[0], sizeof(names[0]), "the %s backend has no exits", link->client.backend);
		return vp_probes_add_vm(link->probes, NULL, 0, names[0]);
	}
	OT_TRY(vp_client_stats(&link->client, names, &n));
	return vp_probes_add_vm(link->probes, names, n, NULL);
}

static struct ot_err *patches_of(void *arg, struct vp_patches *ret)
{
	struct vp_guest_link *link = arg;

	return vp_client_patches(&link->client, ret);
}

struct ot_err *vp_link_list_probes(struct vp_session *s, struct vp_guest_link *link)
{
	uint32_t traps = link->client.traps;

	OT_TRY(vp_probes_create(link->guest, &link->probes));
	if (link->dump)
		return NULL;
	OT_TRY(add_vm_probes(link));
	OT_TRY(vp_planner_check(traps, trap_wish(s)));
	if (!traps)
		return NULL;
	const struct vp_text_undo undo = { patches_of, link };
	return vp_probes_plan(link->probes, traps, trap_wish(s), &undo);
}

/* A kernel that is still starting patches its own text, and who runs on which CPU can't be told yet: what
 * was not known now would stay unknown for the session. A kernel without these names is taken as it is. */
static struct ot_err *check_started(const struct vp_guest_link *link, bool from_boot)
{
	struct vp_types *types = vp_probes_types(link->probes);
	struct dif_type *type;
	struct vp_gva at;
	int64_t running;
	uint32_t state;

	if (!link->guest || !types || !vp_types_enumerator(types, "SYSTEM_RUNNING", &type, &running))
		return NULL;
	struct ot_err *err = vp_guest_symbol(link->guest, "system_state", &at);
	if (err) {
		ot_err_destroy(err);
		return NULL;
	}
	OT_TRY(vp_guest_read_u32(link->guest, at, &state));
	/* past SYSTEM_BOOTING the alternatives are in and per-CPU areas are there: the least that will do */
	if (state >= (from_boot ? 1 : (uint64_t)running))
		return NULL;
	return ot_err_new(OT_ERR_BUSY, "the guest's kernel is still starting: try again in a second");
}

struct ot_err *vp_session_attach(struct vp_session *s, const char *name)
{
	ot_auto(cleanup_link) struct vp_guest_link *link = NULL;

	if (name && !strcmp(name, "none"))
		return attach_none(s);
	if (s->nlinks == VP_GUESTS_MAX)
		return ot_err_new(OT_ERR_LIMIT, "at most %d guests in one session", VP_GUESTS_MAX);
	if (s->host_probes)
		return ot_err_new(OT_ERR_UNSUPPORTED, "-g none goes with no other guest");

	link = calloc(1, sizeof(*link));
	if (!link)
		return ot_err_nomem();
	link->client.sock = -1;
	link->orc_fd = -1;
	if (name && !strncmp(name, VP_DUMP_PREFIX, strlen(VP_DUMP_PREFIX)))
		OT_TRY(attach_dump(s, link, name + strlen(VP_DUMP_PREFIX)));
	else if (name && !strncmp(name, VP_GDB_PREFIX, strlen(VP_GDB_PREFIX)))
		OT_TRY(attach_gdb(s, link, name + strlen(VP_GDB_PREFIX)));
	else if (name && !strncmp(name, VP_PEEK_PREFIX, strlen(VP_PEEK_PREFIX)))
		OT_TRY(vp_beside_attach(s, link, name + strlen(VP_PEEK_PREFIX)));
	else
		OT_TRY(attach_running(s, link, name));
	OT_TRY(check_same_kernel(s, link));
	vp_session_progress(s, "listing the guest's functions");
	OT_TRY(vp_link_list_probes(s, link));
	if (!link->dump)
		OT_TRY(check_started(link, s->config.from_boot));
	s->links[s->nlinks++] = ot_move(link);
	return NULL;
}

bool vp_session_paused(const struct vp_session *s, uint32_t guest, uint32_t *ret_pid)
{
	if (guest >= s->nlinks || !s->links[guest]->client.paused)
		return false;
	*ret_pid = s->links[guest]->client.pid;
	return true;
}

bool vp_session_gdb_cost(const struct vp_session *s, uint32_t guest, uint64_t *ret_request_ns,
			 uint64_t *ret_hit_ns)
{
	if (guest >= s->nlinks || !s->links[guest]->gdb)
		return false;
	vp_gdb_cost(s->links[guest]->gdb, ret_request_ns, ret_hit_ns);
	return true;
}
