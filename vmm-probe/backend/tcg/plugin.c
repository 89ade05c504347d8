/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The plugin as QEMU loads it: arguments, callbacks of the whole plugin, its end.
 *
 *   -plugin /usr/lib/…/liboutsight-tcg.so[,name=GUEST][,socket=PATH|,libvirt=on]
 *
 * The first vCPU that starts creates the engine: guest RAM does not exist before.
 */
#include "vmm-probe/backend/tcg/tcg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/guarded.h"
#include "vmm-probe/engine/backend.h"
#include "vmm-probe/engine/wire/socket_path.h"

#define DRAIN_MS 2000

struct vp_tcg vp_tcg = {
	.setup = PTHREAD_MUTEX_INITIALIZER,
	.lock = PTHREAD_MUTEX_INITIALIZER,
};

/* --- the engine --------------------------------------------------------------------------- */

static uint64_t op_reg(void *backend, void *ctx, enum vp_reg reg)
{
	(void)backend;
	return vp_tcg_reg(ctx, reg);
}

static void *op_gpa_to_host(void *backend, uint64_t gpa, uint64_t *ret_len)
{
	const struct vp_tcg_layout *layout = atomic_load_explicit(&vp_tcg.layout, memory_order_acquire);

	(void)backend;
	return ot_likely(layout) ? vp_tcg_layout_host(layout, gpa, ret_len)
				 : vp_tcg_ram_host(&vp_tcg.ram, gpa, ret_len);
}

static uint32_t op_nvcpus(void *backend)
{
	(void)backend;
	return vp_tcg.nvcpus;
}

static uint32_t op_thread(void *backend, uint32_t vcpu)
{
	const struct vp_tcg_vcpu *v = vp_tcg_vcpu_get(vcpu);

	(void)backend;
	return v ? (uint32_t)v->tid : 0;
}

/* Calling a callback from translated code: 20 to 40 ns where it was measured. Inline counters are a few
 * instructions in translated code. */
static uint32_t op_hit_cost_ns(void *backend, const struct vp_site *site)
{
	(void)backend;
	(void)site;
	return 40;
}

static const struct vp_backend_counters tcg_counters = {
	.slots = vp_tcg_counter_slots,
	.read = vp_tcg_counter_read,
};

/* In a QEMU that does not export the functions for exclusive() and `ram`, without these. */
static struct vp_backend_ops tcg_ops = {
	.name = "tcg",
	.reg = op_reg,
	.gpa_to_host = op_gpa_to_host,
	.install = vp_tcg_install,
	.hit_cost_ns = op_hit_cost_ns,
	.request_sample = vp_tcg_request_sample,
	.request_visit = vp_tcg_request_visit,
	.snapshot = vp_tcg_snapshot,
	.nvcpus = op_nvcpus,
	.thread = op_thread,
	.has_modules = true,
	.has_processes = true,
	.paused = vp_tcg_paused,
	.counters = &tcg_counters,
};

/* Unless a path was given. Not before the first vCPU: -daemonize changes the PID. */
static struct ot_err *default_socket(void)
{
	if (*vp_tcg.socket)
		return NULL;
	return ot_err_prefix(vp_socket_path(getpid(), vp_tcg.socket, sizeof(vp_tcg.socket)),
			     "no socket (socket=PATH gives one)");
}

/* A QEMU that can report its guest's RAM is asked when a client connects: its machine is not complete yet. */
static struct ot_err *find_ram(void)
{
	struct vp_qemu_machine machine;

	vp_tcg.ram.fd = VP_TCG_NO_FD;
	if (vp_tcg_layout_can_find()) {
		tcg_ops.ram = &vp_tcg_layouts;
		return NULL;
	}
	vp_qemu_machine_read(&machine);
	if (machine.several_memories)
		return ot_err_new(
		    OT_ERR_UNSUPPORTED,
		    "its RAM is in several memory backends (-numa with memdev=, or memory devices), "
		    "and this QEMU, which was built without modules, can't be asked where they are");
	return vp_tcg_ram_find(&machine, &vp_tcg.ram);
}

static struct ot_err *start_engine(void)
{
	struct vp_engine *engine;
	struct ot_err *err;

	OT_TRY(default_socket());
	if (vp_tcg_can_exclude())
		tcg_ops.exclusive = vp_tcg_exclusive;
	OT_TRY(find_ram());
	OT_TRY(vp_engine_create(&(struct vp_engine_config){ .ops = &tcg_ops,
							    .backend = &vp_tcg,
							    .guest_name = vp_tcg.name,
							    .ram = vp_tcg.ram.ranges,
							    .nram = vp_tcg.ram.nranges,
							    .ram_fds = &vp_tcg.ram.fd,
							    .nram_fds = vp_tcg.ram.fd != VP_TCG_NO_FD },
				&engine));
	/* Before it serves: then hits may come. */
	atomic_store(&vp_tcg.engine, engine);
	err = vp_engine_serve(engine, vp_tcg.socket);
	if (err) {
		atomic_store(&vp_tcg.engine, NULL);
		vp_engine_destroy(engine);
	}
	return err;
}

/* --- callbacks ---------------------------------------------------------------------------- */

static void give_up(struct ot_err *err)
{
	/* The guest comes first: it runs on, untraced. */
	fprintf(stderr, "outsight: guest %s can't be traced: %s\n", vp_tcg.name, ot_err_message(err));
	vp_tcg.broken = true;
	ot_err_destroy(err);
}

/* No hit, sample or change from now on. Sessions have @drain_ms to fetch their data. */
static void stop_engine(int drain_ms)
{
	struct vp_engine *engine = atomic_exchange(&vp_tcg.engine, NULL);

	pthread_mutex_lock(&vp_tcg.lock);
	vp_tcg.exiting = true;
	pthread_cond_broadcast(&vp_tcg.changed);
	pthread_mutex_unlock(&vp_tcg.lock);
	atomic_store(&vp_tcg.index, NULL);
	vp_tcg_wait_left();
	if (!engine)
		return;
	if (drain_ms) {
		vp_engine_guest_ended(engine, VP_GUEST_STOPPED);
		vp_engine_wait_drained(engine, drain_ms);
	}
	vp_engine_destroy(engine);
}

/*
 * With several vCPUs on one thread (-accel tcg,thread=single, or -icount) QEMU 10 takes the number of the
 * vCPU that translates for that of the one that runs: callbacks get the wrong number, and a scoreboard
 * operation's change of that number's constant leaks into the guest's own code, which then crashes. So such a
 * QEMU is not instrumented. In this mode the first block follows every vCPU's start.
 */
static bool shares_thread(void)
{
	pid_t tid = gettid();
	bool shares = vp_tcg.started_vcpus && vp_tcg.vcpu_tid == tid;

	vp_tcg.vcpu_tid = tid;
	vp_tcg.started_vcpus++;
	return shares;
}

void vp_tcg_on_init(unsigned int vcpu)
{
	struct ot_err *err = NULL;

	ot_guarded_this_thread(); /* QEMU starts it with the signal blocked */
	pthread_mutex_lock(&vp_tcg.setup);
	if (shares_thread() && !vp_tcg.broken) {
		atomic_store(&vp_tcg.hands_off, true);
		stop_engine(0);
		give_up(ot_err_new(OT_ERR_UNSUPPORTED,
				   "QEMU runs its vCPUs on one thread; use -accel tcg,thread=multi "
				   "and no -icount"));
	}
	vp_tcg_vcpu_add(vcpu);
	/* The mode is known at the second vCPU's start. */
	if (!atomic_load(&vp_tcg.engine) && !vp_tcg.broken && vp_tcg.started_vcpus >= vp_tcg.wait_vcpus)
		err = start_engine();
	if (err)
		give_up(err);
	pthread_mutex_unlock(&vp_tcg.setup);
}

void vp_tcg_on_exit(void)
{
	pthread_mutex_lock(&vp_tcg.setup);
	vp_tcg.broken = true;
	/* vCPUs may run on while exit() goes through its handlers. */
	stop_engine(DRAIN_MS);
	pthread_mutex_unlock(&vp_tcg.setup);
}

/* --- loading ------------------------------------------------------------------------------ */

static struct ot_err *copy_argument(const char *what, const char *value, char *to, size_t size)
{
	if (!*value)
		return ot_err_new(OT_ERR_SYNTAX, "%s= needs a value", what);
	if (strlen(value) >= size)
		return ot_err_new(OT_ERR_LIMIT, "%s= is longer than %zu characters", what, size - 1);
	memcpy(to, value, strlen(value) + 1);
	return NULL;
}

static struct ot_err *parse_arguments(int argc, char **argv)
{
	for (int i = 0; i < argc; i++) {
		if (strncmp(argv[i], "name=", 5) == 0)
			OT_TRY(copy_argument("name", argv[i] + 5, vp_tcg.name, sizeof(vp_tcg.name)));
		else if (strncmp(argv[i], "socket=", 7) == 0)
			OT_TRY(copy_argument("socket", argv[i] + 7, vp_tcg.socket, sizeof(vp_tcg.socket)));
		else if (strcmp(argv[i], "libvirt=on") == 0)
			OT_TRY(vp_socket_path_libvirt(getenv("XDG_CACHE_HOME"), vp_tcg.socket,
						      sizeof(vp_tcg.socket)));
		else
			return ot_err_new(OT_ERR_SYNTAX,
					  "unknown argument \"%s\": there are name=, socket= and libvirt=on",
					  argv[i]);
	}
	return NULL;
}

static void default_name(void)
{
	struct vp_qemu_machine machine;

	vp_qemu_machine_read(&machine);
	if (*machine.name)
		memcpy(vp_tcg.name, machine.name, sizeof(vp_tcg.name));
	else
		snprintf(vp_tcg.name, sizeof(vp_tcg.name), "qemu-%d", (int)getpid());
}

static struct ot_err *check_qemu(const struct qemu_info *info)
{
	if (info->version.cur < VP_QEMU_API_MIN || !qemu_plugin_read_register)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "this QEMU is too old (plugin API %d): QEMU 10 or later is needed",
				  info->version.cur);
	/* Else QEMU and the library would disagree about arguments. */
	if ((qemu_plugin_version >= VP_QEMU_API_USERDATA) != (info->version.cur >= VP_QEMU_API_USERDATA) ||
	    !g_array_get_element_size)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "this QEMU speaks version %d of the plugin API, which does not fit "
				  "its release",
				  info->version.cur);
	if (!info->system_emulation || strcmp(info->target_name, "x86_64") != 0)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "only qemu-system-x86_64 guests can be traced, this is %s",
				  info->target_name);
	if (info->system.max_vcpus > VP_VCPUS_MAX)
		return ot_err_new(OT_ERR_LIMIT, "at most %d vCPUs can be traced, this guest may have %d",
				  VP_VCPUS_MAX, info->system.max_vcpus);
	return NULL;
}

static struct ot_err *load(const struct qemu_info *info, int argc, char **argv)
{
	char dir[sizeof(vp_tcg.socket)];
	pthread_condattr_t attr;

	OT_TRY(check_qemu(info));
	OT_TRY(parse_arguments(argc, argv));
	if (!*vp_tcg.name)
		default_name();
	if (!*vp_tcg.socket)
		/* Reported now, rather than while the guest runs. */
		OT_TRY(
		    ot_err_prefix(vp_socket_dir_make(dir, sizeof(dir)), "no socket (socket=PATH gives one)"));
	vp_tcg.nvcpus = info->system.max_vcpus > info->system.smp_vcpus ? (uint32_t)info->system.max_vcpus
									: (uint32_t)info->system.smp_vcpus;
	vp_tcg.wait_vcpus = info->system.smp_vcpus > 1 ? 2 : 1;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&vp_tcg.changed, &attr);
	pthread_condattr_destroy(&attr);
	vp_tcg.poll.score = qemu_plugin_scoreboard_new(sizeof(uint64_t));
	vp_tcg.sample.score = qemu_plugin_scoreboard_new(sizeof(uint64_t));
	return NULL;
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
	struct ot_err *err;

	vp_tcg.id = id;
	err = load(info, argc, argv);
	if (err) {
		fprintf(stderr, "outsight: %s\n", ot_err_message(err));
		ot_err_destroy(err);
		return 1;
	}
	vp_tcg_register_callbacks();
	return 0;
}
