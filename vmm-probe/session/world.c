/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The compiler's view of the attached guests: types and symbols of one kernel, probes of all. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "vmm-probe/guest/btf_types.h"
#include "vmm-probe/provider/registry.h"
#include "vmm-probe/provider/world.h"
#include "vmm-probe/session/internal.h"

static struct vp_session *session_of(void *env)
{
	return ((struct vp_session_kernel *)env)->session;
}

/* Types and symbols are those of the kernel's first guest. */
static struct vp_guest_link *first(void *env)
{
	const struct vp_session_kernel *k = env;

	return k->session->links.n ? k->session->links.items[k->first] : NULL;
}

/* Without a guest the types are those of the host's kernel. */
static struct vp_types *types_of(void *env)
{
	struct vp_guest_link *link = first(env);

	return link ? vp_probes_types(link->probes)
		    : vp_host_types_get(&session_of(env)->host.types, "/sys/kernel/btf/vmlinux");
}

static struct dif_type *find_type(void *env, const char *module, enum dif_ckind kind, const char *name)
{
	struct vp_types *types = types_of(env);

	return types ? vp_types_find(types, module, kind, name) : NULL;
}

static bool find_enumerator(void *env, const char *name, struct dif_type **ret_type, int64_t *ret_value)
{
	/* no guest's constants: names of the host's kernel are not names of the program */
	struct vp_types *types = first(env) ? types_of(env) : NULL;

	return types && vp_types_enumerator(types, name, ret_type, ret_value);
}

static bool find_symbol(void *env, const char *module, const char *name, struct dif_symbol *ret)
{
	struct vp_guest_link *link = first(env);
	const struct vp_symtab *tab = link ? vp_link_symtab(link) : NULL;

	return tab && vp_world_symbol(tab, types_of(env), module, name, ret);
}

static void address_used(void *env)
{
	((struct vp_session_kernel *)env)->used_address = true;
}

static bool has_module(void *env, const char *module)
{
	struct vp_guest_link *link = first(env);

	return link && link->guest && vp_symtab_find_module(vp_link_symtab(link), module) >= 0;
}

/* A probe's number in one guest's registry is another's in the next one's: the compiler gets both. */
#define ID_BITS 27u
_Static_assert(VP_GUESTS_MAX <= 1u << (32 - ID_BITS), "guest numbers");

struct match {
	const struct vp_session *session;
	struct vp_probes *probes;
	bool (*each)(void *arg, const struct dif_probe_info *probe);
	void *arg;
	uint32_t registry;
	bool of_guest; /* the description names guests */
	uint64_t count;
};

/* BEGIN, tick etc. exist once for any number of guests, and belong to none. */
static bool match_one(void *arg, const struct vp_probe *probe)
{
	struct match *m = arg;

	if (m->session && !vp_session_fires(m->session, probe))
		return true;
	if ((m->registry > 0 || m->of_guest) &&
	    (probe->kind == VP_PROBE_HOST || probe->kind == VP_PROBE_ERROR))
		return true;
	m->count++;
	if (!m->each)
		return true;
	struct dif_probe_info info = {
		.id = m->registry << ID_BITS | probe->id,
		.provider = probe->provider,
		.module = probe->module,
		.function = probe->function,
		.name = probe->name,
		.nargs = vp_probes_nargs(m->probes, probe),
	};
	return m->each(m->arg, &info);
}

/* The registry of guest @i that a description means, or of no guest. NULL: it does not mean this one. */
static struct vp_probes *asked(struct vp_session *s, const struct dif_probedesc *desc, uint32_t i)
{
	if (!s->links.n)
		return s->host.probes;
	if (desc->guest && *desc->guest && !dif_glob_match(desc->guest, s->links.items[i]->client.guest_name))
		return NULL;
	return s->links.items[i]->probes;
}

static uint32_t nregistries(const struct vp_session *s)
{
	return s->links.n ? s->links.n : 1;
}

/* In the guests that run this kernel, or in the others. */
static struct ot_err *match_in(const struct vp_session_kernel *k, bool own, const struct dif_probedesc *desc,
			       struct match *m)
{
	struct vp_session *s = k->session;

	m->session = s;
	m->of_guest = desc->guest && *desc->guest;
	for (uint32_t i = 0; i < nregistries(s); i++) {
		uint64_t count = 0;

		m->probes = (s->kernels.of[i] == k->number) == own ? asked(s, desc, i) : NULL;
		if (!m->probes)
			continue;
		m->registry = i;
		OT_TRY(vp_probes_match(m->probes, desc, false, match_one, m, &count));
	}
	return NULL;
}

static struct ot_err *match(void *env, const struct dif_probedesc *desc,
			    bool (*each)(void *arg, const struct dif_probe_info *probe), void *arg,
			    uint64_t *ret_count)
{
	struct match m = { .each = each, .arg = arg };
	struct ot_err *err = match_in(env, true, desc, &m);

	/* if other sessions have the program too, they report the error */
	if (err && session_of(env)->config.has_others && ot_err_code(err) != OT_ERR_NO_MEMORY) {
		ot_err_destroy(err);
		err = NULL;
	}
	if (!err)
		*ret_count = m.count;
	return err;
}

/* A description that is an error is also one in the other compilation. */
static bool elsewhere(void *env, const struct dif_probedesc *desc,
		      bool (*each)(void *arg, const struct dif_probe_info *probe), void *arg)
{
	struct match m = { .each = each, .arg = arg };

	ot_err_destroy(match_in(env, false, desc, &m));
	return m.count > 0 || session_of(env)->config.has_others;
}

struct refusals {
	const struct vp_probe *first;
	uint64_t count;
};

static bool see_refused(void *arg, const struct vp_probe *probe)
{
	struct refusals *r = arg;

	if (!probe->refused)
		return true;
	if (!r->count++)
		r->first = probe;
	return true;
}

static bool why_none(void *env, const struct dif_probedesc *desc, struct ot_buf *out)
{
	struct vp_session *s = session_of(env);
	struct refusals r = { 0 };
	uint64_t count;

	for (uint32_t i = 0; i < nregistries(s) && !r.count; i++) {
		struct vp_probes *probes = asked(s, desc, i);
		if (probes)
			ot_err_destroy(vp_probes_match(probes, desc, true, see_refused, &r, &count));
	}
	if (!r.count)
		return false;
	if (r.count == 1)
		ot_buf_printf(out, "%s:%s:%s:%s can't be enabled: %s", r.first->provider, r.first->module,
			      r.first->function, r.first->name, r.first->refused);
	else
		ot_buf_printf(out, "%llu can't be enabled, %s:%s:%s:%s for one: %s",
			      (unsigned long long)r.count, r.first->provider, r.first->module,
			      r.first->function, r.first->name, r.first->refused);
	return true;
}

static bool hint_probe(void *env, const struct dif_probedesc *desc, struct ot_buf *out)
{
	struct vp_session *s = session_of(env);

	for (uint32_t i = 0; i < nregistries(s); i++) {
		struct vp_probes *probes = asked(s, desc, i);
		if (probes && vp_probes_hint(probes, desc, out))
			return true;
	}
	return false;
}

/* If one guest has a probe of that name, that one matches. */
static bool named_here(void *env, const struct dif_probedesc *desc, struct dif_probedesc *ret)
{
	struct vp_session *s = session_of(env);
	bool found = false;

	for (uint32_t i = 0; i < nregistries(s); i++) {
		struct vp_probes *probes = asked(s, desc, i);
		if (!probes)
			continue;
		if (!vp_probes_named_here(probes, desc, ret))
			return false;
		found = true;
	}
	return found;
}

static bool probe_arg(void *env, uint32_t probe_id, unsigned n, struct dif_probe_arg *ret)
{
	struct vp_session *s = session_of(env);
	uint32_t guest = probe_id >> ID_BITS;

	if (guest && guest >= s->links.n)
		return false;
	struct vp_probes *probes = s->links.n ? s->links.items[guest]->probes : s->host.probes;
	const struct vp_probe *probe = vp_probes_get(probes, probe_id & ((1u << ID_BITS) - 1));
	return probe && vp_probes_arg(probes, probe, n, ret);
}

static bool match_guest(void *env, const char *pattern)
{
	struct vp_session *s = session_of(env);

	for (uint32_t i = 0; i < s->links.n; i++)
		if (dif_glob_match(pattern, s->links.items[i]->client.guest_name))
			return true;
	return s->config.has_others;
}

/* #pragma D depends_on: features of this build and this guest. */
static bool has_dependency(void *env, const char *kind, const char *name)
{
	struct vp_guest_link *link = first(env);

	/* not a module of any kernel: whether the types of the guest's kernel are known */
	if (!strcmp(kind, "module") && (!strcmp(name, "btf") || !strcmp(name, "nobtf"))) {
		struct vp_types *types = first(env) ? types_of(env) : NULL;
		return (types && vp_types_btf(types, "vmlinux")) == !strcmp(name, "btf");
	}
	if (!strcmp(kind, "module"))
		return has_module(env, name);
	if (!strcmp(kind, "provider")) {
		struct dif_probedesc desc = {
			.guest = "", .provider = name, .module = "", .function = "", .name = ""
		};
		struct match m = { .probes = link ? link->probes : session_of(env)->host.probes };
		uint64_t count = 0;
		struct ot_err *err = vp_probes_match(m.probes, &desc, false, match_one, &m, &count);
		ot_err_destroy(err);
		return !err && m.count > 0;
	}
	return false;
}

/* Without a guest there is no pid provider, but descriptions of this host's processes are checked; for a
 * guest's, its registry reports the error. */
static bool has_process(void *env, int64_t pid)
{
	(void)env;
	return kill((pid_t)pid, 0) == 0 || errno == EPERM;
}

static bool macro(void *env, const char *name, int64_t *ret)
{
	const struct vp_session *s = session_of(env);
	const struct {
		const char *name;
		int64_t value;
	} values[] = {
		{ "pid", getpid() },
		{ "ppid", getppid() },
		{ "uid", getuid() },
		{ "euid", geteuid() },
		{ "gid", getgid() },
		{ "egid", getegid() },
		{ "pgid", getpgid(0) },
		{ "sid", getsid(0) },
		{ "projid", 0 },
		{ "taskid", 0 },
		{ "target", s->config.target_pid },
		/* of this process, whose memory copyin() reads without a guest: for psinfo's pr_envp */
		{ "envp", (int64_t)(intptr_t)environ },
	};

	for (size_t i = 0; i < OT_ARRAY_SIZE(values); i++) {
		if (strcmp(values[i].name, name) != 0)
			continue;
		*ret = values[i].value;
		return true;
	}
	return false;
}

void vp_world_init(struct vp_session_kernel *k)
{
	k->world = (struct dif_world){
		.env = k,
		.find_type = find_type,
		.find_enumerator = find_enumerator,
		.find_symbol = find_symbol,
		.address_used = address_used,
		.has_module = has_module,
		.match = match,
		.elsewhere = elsewhere,
		.why_none = why_none,
		.hint_probe = hint_probe,
		.named_here = named_here,
		.probe_arg = probe_arg,
		.match_guest = match_guest,
		.has_dependency = has_dependency,
		.has_process = k->session->links.n || k->session->config.has_others ? NULL : has_process,
		.macro = macro,
	};
}
