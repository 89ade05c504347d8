/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An operator whose host is hostile: messages of any kind, in any order and of any bytes, from HELLO on. Each
 * ends, nothing is handed on that is none of the host's program, and what the host has this side keep stays
 * within its room.
 */
#include <errno.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "consumer/aggregate.h"
#include "fleet/operator/internal.h"
#include "tests/fuzz/operator_program.h"
#include "tests/fuzz/seed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROOM (4u << 20)

/* Messages of the input, each as a packet. */
struct input {
	struct fl_carrier base;
	const uint8_t *at, *end;
	uint64_t number;
	struct ot_buf packet;
	int fd;
	bool is_ready, is_started; /* between the two a host says nothing */
};

/* What the consumer would keep. */
struct keeping {
	struct con_aggs aggs;
	struct con_printer printer;
	uint64_t bytes, others;
};

static struct lx lx;
static struct con_texts texts;
static bool is_whole;

bool fuzz_seed_reached(void)
{
	return is_whole;
}

/* --- the carrier ------------------------------------------------------------------------------------------ */

static struct ot_err *op_send(struct fl_carrier *c, const void *packet, size_t len)
{
	(void)c;
	(void)packet;
	if (len > FL_PACKET_MAX)
		abort();
	return NULL;
}

static struct ot_err *op_receive(struct fl_carrier *c, const void **ret, size_t *ret_len)
{
	struct input *in = (struct input *)c;
	struct ot_buf body = { 0 };

	*ret_len = 0;
	if (in->is_ready && !in->is_started)
		return NULL;
	if (in->end - in->at < 3)
		return ot_err_os(EPIPE, "closed");
	const uint8_t kind = in->at[0];
	size_t len = in->at[1] | (size_t)in->at[2] << 8, left = (size_t)(in->end - in->at) - 3;

	len = len < left ? len : left;
	fl_put_u32(&body, kind);
	fl_put_bytes(&body, in->at + 3, len);
	in->at += 3 + len;
	in->number++;
	in->is_ready |= kind == FL_READY;
	ot_buf_clear(&in->packet);
	/* as fleet/link/packet.h has it */
	fl_put_u32(&in->packet, 0x316c464fu);
	fl_put_u32(&in->packet, 0);
	fl_put_u64(&in->packet, in->number);
	fl_put_u64(&in->packet, in->number);
	fl_put_u64(&in->packet, 0);
	fl_put_u64(&in->packet, 0);
	ot_buf_append(&in->packet, body.data, body.len);
	ot_buf_deinit(&body);
	if (in->packet.failed)
		abort();
	*ret = in->packet.data;
	*ret_len = in->packet.len;
	return NULL;
}

static int op_fd(struct fl_carrier *c, bool *ret_out)
{
	*ret_out = false;
	return ((struct input *)c)->fd;
}

static void op_destroy(struct fl_carrier *c)
{
	ot_buf_deinit(&((struct input *)c)->packet);
}

/* --- the sink --------------------------------------------------------------------------------------------- */

/* Each byte is read. */
static void read_all(struct keeping *k, const uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		k->bytes += data[i];
}

static struct ot_err *on_record(void *arg, const struct vp_record *r)
{
	if (r->size < r->ecb->layout->size || r->cpu >= VP_VCPUS_MAX)
		abort();
	read_all(arg, r->data, r->size);
	return NULL;
}

static struct ot_err *on_aggregate(void *arg, const struct vp_aggregate *delta)
{
	struct keeping *k = arg;

	read_all(k, delta->tuple, delta->layout->tuple_size);
	return con_aggs_add(&k->aggs, &k->printer, delta);
}

static struct ot_err *on_fault(void *arg, const struct vp_fault_info *fault)
{
	if (fault->action > fault->ecb->clause->nactions)
		abort();
	((struct keeping *)arg)->others++;
	return NULL;
}

static struct ot_err *on_drop(void *arg, enum vp_drop_kind kind, uint32_t cpu, uint64_t count)
{
	if (kind > VP_DROP_MODULES || cpu >= VP_VCPUS_MAX || !count)
		abort();
	((struct keeping *)arg)->others++;
	return NULL;
}

static struct ot_err *on_overload(void *arg, const struct vp_overload_info *overload)
{
	((struct keeping *)arg)->others += overload->ecb != NULL;
	return NULL;
}

static void on_guest(void *arg, const struct vp_guest_news *news)
{
	if (!news->name || news->guest < FL_GUEST_BASE)
		abort();
	((struct keeping *)arg)->others++;
}

static void on_say(void *arg, const char *text, const char *hint)
{
	(void)arg;
	(void)hint;
	if (strchr(text, '\n') || strchr(text, '\033')) /* it goes to a terminal */
		abort();
}

/* --- a session -------------------------------------------------------------------------------------------- */

static void compile_once(void)
{
	static struct con_program program = { .spec = DIF_SPEC_NAME, .arg = OPERATOR_PROGRAM };
	static const char *arg0 = "outsight";
	static struct con_strings args;
	static struct ot_arena arena;

	if (texts.count)
		return;
	lx_init(&lx);
	lx.opts.strsize = OPERATOR_STRSIZE;
	if (!lx_compile(&lx, OPERATOR_PROGRAM))
		abort();
	ot_arena_init(&arena);
	args = (struct con_strings){ &arg0, 1, 1 };
	texts = (struct con_texts){
		.opts = &lx.opts, .items = &program, .count = 1, .args = &args, .arena = &arena
	};
}

/* Up to READY, as fl_fleet_prepare() does it, without waiting. */
static bool prepare(struct fl_fleet *fleet, const struct input *in)
{
	struct fl_host *h = fleet->hosts[0];
	struct ot_err *err = NULL;

	fleet->may_act = fl_trust_of(&texts);
	while (!err && !in->is_ready)
		err = fl_host_pump_strictly(h);
	const bool is_ready = !err && h->state == FL_HOST_READY;

	ot_err_destroy(err);
	return is_ready;
}

/* From START to the end of the input. */
static void trace(struct fl_fleet *fleet, struct keeping *k)
{
	struct vp_sink sink = { k, on_record, on_aggregate, on_fault, on_drop, on_overload, NULL, on_guest };
	struct fl_host *h = fleet->hosts[0];
	struct ot_buf report = { 0 };
	struct ot_err *err = fl_fleet_bind(fleet, &lx.prog, &sink, 0);
	bool exited;
	int status;

	if (!err)
		err = fl_host_send(h, FL_START, NULL);
	h->state = FL_HOST_STARTING;
	fleet->is_started = true;
	while (!err && h->channel && !fl_host_is_over(h))
		err = fl_host_pump(h);
	if (!err)
		err = fl_fleet_take(fleet, &exited, &status);
	is_whole = !err && h->state == FL_HOST_ENDED;
	if (fleet->keys.bytes > ROOM || fleet->meanings.bytes > ROOM)
		abort();
	(void)fl_fleet_report(fleet, &report);
	ot_buf_deinit(&report);
	ot_err_destroy(err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fl_carrier_ops ops = { .name = "fuzz",
						   .is_reliable = true,
						   .send = op_send,
						   .receive = op_receive,
						   .fd = op_fd,
						   .destroy = op_destroy };
	static struct input in;
	struct keeping k = { 0 };
	struct fl_fleet *fleet;

	is_whole = false;
	compile_once();
	const struct fl_fleet_config config = { .texts = &texts, .opts = &lx.opts, .say = on_say };

	in =
	    (struct input){ .base.ops = &ops, .at = data, .end = data + size, .fd = eventfd(0, EFD_CLOEXEC) };
	if (in.fd < 0 || con_aggs_init(&k.aggs, &lx.prog) || fl_fleet_create(&config, &fleet) ||
	    fl_fleet_add_carrier(fleet, &in.base, "h1", "web*"))
		abort();
	fleet->keys.most = fleet->meanings.most = ROOM; /* in place of fl_room_find() */
	k.printer.opts = &lx.opts;
	k.printer.symbols.nguests = 1;
	fl_fleet_names(fleet, &k.printer.symbols);
	if (prepare(fleet, &in)) {
		in.is_started = true;
		trace(fleet, &k);
	}
	con_aggs_deinit(&k.aggs);
	fl_fleet_destroy(fleet);
	close(in.fd);
	return 0;
}
