/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pid: pidN:OBJECT:FUNCTION:entry of process N of the guest. As DTrace does, its probes are made when a
 * description names the process; a guest's processes have millions.
 *
 * OBJECT is a file that the process has mapped as code, FUNCTION one of its symbols. The site is the
 * function's first instruction behind a mark of targets of indirect calls (endbr64). Its bytes are those of
 * the file: an engine compares them with what it finds in the process.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "vmm-probe/arch/arch.h"
#include "vmm-probe/guest/budget.h"
#include "vmm-probe/guest/guest.h"
#include "vmm-probe/provider/pid_process.h"
#include "vmm-probe/provider/providers.h"

#define PAGE_SIZE   4096u
#define ENTRY_BYTES (2 * VP_INSN_MAX) /* a mark, and the instruction behind it */

/* What is remembered of a probe. The registry's memory. */
struct own {
	struct vp_batch_process process;
	bool of_program; /* its module is a.out too */
	uint32_t nsites;
	struct vp_batch_site site;
};

/* The probes that a description asks for, while they are made. */
struct making {
	struct vp_probes *probes;
	const struct dif_probedesc *desc;
	const struct vp_code_ops *code;
	struct vp_pid_processes *processes;
	struct vp_pid_process *process;
	struct vp_pid_object *object;
	const char *module; /* the registry's copy of the object's name */
	uint64_t last;      /* address of the last function made */
	uint32_t made;
};

static bool is_pattern(const char *field)
{
	return !field || !*field || dif_glob_is_pattern(field);
}

static bool matches(const char *pattern, const char *text)
{
	return !pattern || !*pattern || dif_glob_match(pattern, text);
}

/* --- sites -------------------------------------------------------------------------------------------- */

/* Fill *ret for the instruction at @p at of @p len bytes of the function, which begins at @p gva. False: it
 * is none. */
static bool make_site(const struct making *m, uint64_t gva, const uint8_t *bytes, uint64_t len, uint32_t at,
		      struct vp_batch_site *ret)
{
	uint64_t left = len - at, in_page = PAGE_SIZE - (gva + at) % PAGE_SIZE;
	uint8_t length = m->code->length(bytes + at, left);

	if (!length)
		return false;
	/* What follows helps to tell it from others, as far as it is in one page. */
	left = left < sizeof(ret->bytes) ? left : sizeof(ret->bytes);
	left = left < in_page ? left : in_page;
	*ret = (struct vp_batch_site){
		.gva = gva + at,
		.offset = at,
		.length = length,
		.room = (uint8_t)(left > length ? left : length),
	};
	memcpy(ret->bytes, bytes + at, ret->room);
	return true;
}

/* Copy the function's first bytes, at most @p len: those in its first page where the next one is missing.
 * Returns how many; 0: the first is missing. */
static uint64_t read_entry(const struct making *m, const struct vp_elf_symbol *sym, uint64_t gva,
			   uint8_t *bytes, uint64_t len)
{
	uint64_t in_page = PAGE_SIZE - gva % PAGE_SIZE;

	if (vp_pid_object_text(m->object, sym->addr, bytes, len))
		return len;
	return in_page < len && vp_pid_object_text(m->object, sym->addr, bytes, in_page) ? in_page : 0;
}

/* The reason why there is no site; NULL: it is in own->site. */
static const char *find_entry(const struct making *m, const struct vp_elf_symbol *sym, uint64_t gva,
			      uint64_t left, struct own *own)
{
	uint8_t bytes[ENTRY_BYTES];
	uint64_t len = sym->size < sizeof(bytes) ? sym->size : sizeof(bytes);

	if (sym->type == STT_GNU_IFUNC)
		return "it is an indirect function, which the loader calls to choose one: name that one "
		       "(a wildcard lists them)";
	len = read_entry(m, sym, gva, bytes, len < left ? len : left);
	if (!len)
		return "its first page is not in the guest's memory: let the function run once and try again";
	if (!make_site(m, gva, bytes, len, m->code->entry(bytes, len), &own->site))
		return "it does not begin with an instruction";
	own->nsites = 1;
	return NULL;
}

/* --- making probes ------------------------------------------------------------------------------------ */

static struct ot_err *add_entry(struct making *m, const struct vp_elf_symbol *sym, uint64_t gva,
				uint64_t left)
{
	struct own *own = vp_probes_alloc(m->probes, sizeof(*own));
	struct vp_probe probe = {
		.kind = VP_PROBE_SITE,
		.args = VP_ARGS_FBT_ENTRY,
		.provider = m->process->provider,
		.module = m->module,
		.function = vp_elf_symbol_name(&m->object->symbols, sym),
		.name = "entry",
		.own = own,
	};

	if (!own)
		return ot_err_nomem();
	own->process = m->process->id;
	own->of_program = m->object->is_program;
	probe.refused = find_entry(m, sym, gva, left, own);
	m->made++;
	return vp_probes_add(m->probes, &vp_provider_pid, &probe);
}

/* Functions, which have a size. Of several names at one address a pattern takes the first, else it would
 * count each call more than once. */
static struct ot_err *make_function(struct making *m, const struct vp_elf_symbol *sym)
{
	uint64_t left, gva;

	if ((sym->type != STT_FUNC && sym->type != STT_GNU_IFUNC) || !sym->size ||
	    (m->last == sym->addr && is_pattern(m->desc->function)) ||
	    !matches(m->desc->function, vp_elf_symbol_name(&m->object->symbols, sym)))
		return NULL;
	gva = vp_pid_object_gva(m->process, m->object, sym->addr, &left);
	if (!gva)
		return NULL;
	m->last = sym->addr;
	return matches(m->desc->name, "entry") ? add_entry(m, sym, gva, left) : NULL;
}

static struct ot_err *make_of_object(struct making *m)
{
	const struct vp_elf_symbols *symbols = &m->object->symbols;

	OT_TRY(vp_pid_object_read(m->processes, m->process, m->object));
	m->module = vp_probes_strdup(m->probes, m->object->name);
	if (!m->module)
		return ot_err_nomem();
	m->last = UINT64_MAX;
	for (size_t i = 0; m->object->has_elf && i < symbols->count; i++)
		OT_TRY(make_function(m, &symbols->items[i]));
	if (m->object->pages)
		vp_elf_pages_forget(m->object->pages);
	return vp_budget_check();
}

/* Names that could not be read may be those that were meant. */
static struct ot_err *explain_none(const struct making *m)
{
	for (size_t i = 0; i < m->process->nobjects; i++) {
		const struct vp_pid_object *o = &m->process->objects[i];

		if (*o->missing && vp_pid_object_is(o->name, o->is_program, m->desc->module))
			return ot_err_new(
			    OT_ERR_NOT_FOUND,
			    "D_PROC_FUNC: no function matches, but not all names of %s are in the guest's "
			    "memory (%s): read the file in the guest (`cat FILE >/dev/null`) and try again",
			    o->name, o->missing);
	}
	return NULL;
}

static struct ot_err *make_all(struct making *m)
{
	for (size_t i = 0; i < m->process->nobjects; i++) {
		m->object = &m->process->objects[i];
		if (vp_pid_object_is(m->object->name, m->object->is_program, m->desc->module))
			OT_TRY(make_of_object(m));
	}
	return m->made ? NULL : explain_none(m);
}

static struct ot_err *find_process(struct making *m)
{
	const char *number = m->desc->provider + strlen(vp_provider_pid.name);
	uint64_t pid = strlen(number) > 10 ? 0 : strtoull(number, NULL, 10);
	struct ot_err *err;

	if (!pid || pid > INT32_MAX)
		return ot_err_new(OT_ERR_NOT_FOUND, "D_PROC_BADPID: %s contains an invalid pid",
				  m->desc->provider);
	err = vp_pid_process_find(m->processes, pid, &m->process);
	if (err)
		return ot_err_prefix(err, "D_PROC_GRAB: failed to grab process %" PRIu64, pid);
	if (!m->process->provider)
		m->process->provider = vp_probes_strdup(m->probes, m->desc->provider);
	return m->process->provider ? NULL : ot_err_nomem();
}

/* --- the provider ------------------------------------------------------------------------------------- */

static struct ot_err *make(struct making *m)
{
	struct vp_pid_processes **processes = vp_probes_processes(m->probes);

	if (!*processes)
		OT_TRY(ot_err_prefix(vp_pid_processes_create(vp_probes_guest(m->probes), processes),
				     "D_PROC_CREATEFAIL: no process can be probed"));
	m->processes = *processes;
	OT_TRY(find_process(m));
	return make_all(m);
}

/* What DTrace says of fields that no probe can have. */
static struct ot_err *check_fields(const struct dif_probedesc *desc)
{
	if (desc->function && !strcmp(desc->function, "-"))
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "D_PROC_OFF: probes by an address of the file are not made here: "
				  "name a function");
	if (!is_pattern(desc->name) && strcmp(desc->name, "entry") != 0)
		return ot_err_new(OT_ERR_SYNTAX, "D_PROC_NAME: invalid probe name: %s (there is entry)",
				  desc->name);
	return NULL;
}

/* Each description once: it means what the process had mapped then. */
static struct ot_err *provide(struct vp_probes *probes, const struct vp_provider *self,
			      const struct dif_probedesc *desc)
{
	ot_auto(ot_buf_deinit) struct ot_buf text = { 0 };
	struct making m = { .probes = probes, .desc = desc };
	const char *refused = vp_probes_no_processes(probes);
	struct vp_pid_processes *before = *vp_probes_processes(probes);
	struct vp_budget budget;

	(void)self;
	if (refused)
		return ot_err_new(OT_ERR_UNSUPPORTED, "D_PROC_NODEV: %s", refused);
	OT_TRY(check_fields(desc));
	OT_TRY(vp_arch_code(&vp_arch_native, &m.code));
	ot_buf_printf(&text, "%s:%s:%s:%s", desc->provider, desc->module ? desc->module : "",
		      desc->function ? desc->function : "", desc->name ? desc->name : "");
	if (text.failed)
		return ot_err_nomem();
	if (before && ot_map_gets(&before->done, ot_buf_str(&text)))
		return NULL;
	vp_guest_budget_begin(vp_probes_guest(probes), &budget, &vp_readings[VP_READ_FUNCTIONS]);
	struct ot_err *err = make(&m);
	vp_budget_end(&budget);
	OT_TRY(err);
	return ot_map_puts(&m.processes->done, ot_buf_str(&text), m.processes) ? NULL : ot_err_nomem();
}

/* Probes are made for a description with the number only. */
static bool is_named(const struct vp_probes *probes, const char *pattern)
{
	size_t n = strlen(vp_provider_pid.name);

	(void)probes;
	return !strncmp(pattern, vp_provider_pid.name, n) && pattern[n] &&
	       pattern[n + strspn(pattern + n, "0123456789")] == '\0';
}

static struct ot_err *publish(struct vp_probes *probes, const struct vp_provider *self)
{
	(void)probes;
	(void)self;
	return NULL;
}

static bool is_module(const struct vp_probe *probe, const char *pattern)
{
	const struct own *own = probe->own;

	return vp_pid_object_is(probe->module, own->of_program, pattern);
}

static struct ot_err *sites(struct vp_probes *probes, const struct vp_probe *probe,
			    struct vp_batch_site **ret, uint32_t *ret_count)
{
	const struct own *own = probe->own;

	(void)probes;
	*ret = malloc((own->nsites + 1) * sizeof(**ret));
	if (!*ret)
		return ot_err_nomem();
	if (own->nsites)
		**ret = own->site;
	*ret_count = own->nsites;
	return NULL;
}

static void fill(const struct vp_probe *probe, struct vp_batch_probe *bp)
{
	const struct own *own = probe->own;

	bp->process = own->process;
}

const struct vp_provider vp_provider_pid = {
	.name = "pid",
	.needs_guest = true,
	.is_named = is_named,
	.publish = publish,
	.provide = provide,
	.is_module = is_module,
	.sites = sites,
	.fill = fill,
};
