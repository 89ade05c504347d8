/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a hostile client sends an engine as FRAMES, and what a process has in its memory, where an
 * interpreter's frames are looked for: stacks are taken by it, also after the client has written to what it
 * has sent. The invariant is that each stack is of the process, and its texts end in their room; a byte
 * behind a message is never read.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/fuzz/frames_input.h"
#include "tests/fuzz/seed.h"

#if defined(__SANITIZE_ADDRESS__)
#define POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define POISON 1
#endif
#endif
#ifdef POISON
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(at, size)   ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

#define PAGE VP_FAKE_PAGE

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	struct frames_head head;
	const uint8_t *words, *changes;
	const uint8_t *messages[FRAMES_MESSAGES];
};

struct sent {
	uint64_t *mem; /* NULL: it was refused, or not sent */
	size_t size, mapped;
};

static struct ep world; /* its session is opened again for each input */
static uint8_t memory[FRAMES_MEMORY];
static bool reached;

bool fuzz_seed_reached(void)
{
	return reached;
}

/* --- the input ------------------------------------------------------------------------------------------- */

static const uint8_t *take(const uint8_t **data, size_t *size, size_t n)
{
	const uint8_t *at = *data;

	if (n > *size)
		return NULL;
	*data += n;
	*size -= n;
	return at;
}

static bool parse(const uint8_t *data, size_t size, struct input *in)
{
	const uint8_t *head = take(&data, &size, sizeof(in->head));

	if (!head)
		return false;
	memcpy(&in->head, head, sizeof(in->head));
	if (in->head.nwords > FRAMES_WORDS || in->head.nchanges > FRAMES_WORDS)
		return false;
	in->words = take(&data, &size, in->head.nwords * sizeof(struct frames_word));
	in->changes = take(&data, &size, in->head.nchanges * sizeof(struct frames_word));
	for (unsigned i = 0; i < FRAMES_MESSAGES; i++) {
		in->messages[i] = take(&data, &size, in->head.sizes[i]);
		if (!in->messages[i] || in->head.sizes[i] > FRAMES_SIZE)
			return false;
	}
	return in->words && in->changes;
}

static struct frames_word word(const uint8_t *words, unsigned i)
{
	struct frames_word w;

	memcpy(&w, words + i * sizeof(w), sizeof(w));
	return w;
}

/* --- the process ------------------------------------------------------------------------------------------ */

static void write_memory(const struct input *in)
{
	struct ef *f = world.f;

	for (uint64_t at = 0; at < FRAMES_MEMORY; at += PAGE)
		vp_fake_write(f->fake, f->user_root, EF_USER + at, memory + at, PAGE);
	for (unsigned i = 0; i < in->head.nwords; i++) {
		struct frames_word w = word(in->words, i);

		ep_put(&world, EF_USER + w.at * 8ull % FRAMES_MEMORY, w.value);
	}
}

/* An interpreter's frames in two runs, as honest memory has them. */
static void create(void)
{
	world = ep_trace_in(ROOM);
	ep_two_runs(&world);
	ef_close(world.f);
	frames_read_memory(&world, memory);
}

/* jstack() at FUNCTION(0), as ep_trace_in() has it. */
static void open_session(void)
{
	struct vp_batch_site s = { .gva = FUNCTION(0), .length = 1, .room = 1, .bytes = { 0x90 } };
	struct ef *f = world.f;

	f->next_epid = 1;
	ef_open(f);
	uint32_t probe = ef_probe(f, VP_PROBE_SITE, VP_ARGS_NONE, "main", "here");
	struct vp_batch_probe *p = (struct vp_batch_probe *)(void *)f->probes.data + probe;

	ot_buf_append(&f->sites, &s, sizeof(s));
	p->first_site = f->nsites++;
	p->nsites = 1;
	p->process = (struct vp_batch_process){
		.root = f->user_root & ~0x1fffull, .mm = 1, .since_ns = 77, .pid = 90
	};
	ef_ecb(f, probe, 0);
	ef_enable(f);
	ef_start(f);
}

/* --- messages ----------------------------------------------------------------------------------------------- */

/* What is behind the message, up to the end of its page, is poisoned. */
static struct sent send(const uint8_t *message, size_t size)
{
	struct sent s = { NULL, size, (size + PAGE) / PAGE * PAGE };

	if (!size)
		return s;
	s.mem = mmap(NULL, s.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s.mem == MAP_FAILED)
		abort();
	memcpy(s.mem, message, size);
	ASAN_POISON_MEMORY_REGION((uint8_t *)s.mem + size, s.mapped - size);
	struct ot_err *err = vp_engine_session_frames(world.f->es, s.mem, size);

	if (err) {
		ASAN_UNPOISON_MEMORY_REGION(s.mem, s.mapped);
		munmap(s.mem, s.mapped);
		s.mem = NULL;
	}
	ot_err_destroy(err);
	return s;
}

/* The session unmaps what it was sent; the next mapping there is another one's. */
static void close_session(struct sent *sent)
{
	for (unsigned i = 0; i < FRAMES_MESSAGES; i++)
		if (sent[i].mem)
			ASAN_UNPOISON_MEMORY_REGION(sent[i].mem, sent[i].mapped);
	ef_close(world.f);
}

static void change(struct sent *sent, struct frames_word w)
{
	struct sent *s = &sent[w.at % FRAMES_MESSAGES];
	size_t words = s->size / 8;

	if (s->mem && words)
		__atomic_store_n(&s->mem[w.at / FRAMES_MESSAGES % words], w.value, __ATOMIC_RELAXED);
}

/* --- stacks --------------------------------------------------------------------------------------------------- */

static void check_stack(void)
{
	const char *texts, *end;
	struct ef_record r[2];
	unsigned frames = 0;

	if (!vp_fake_hit(world.f->fake, 0, FUNCTION(0)))
		abort();
	ef_switch(world.f);
	if (ef_records(world.f, 0, r, 2) != 1 || ef_u64(r[0].data + 16) != 90)
		abort();
	while (frames < FRAMES && ef_u64(r[0].data + 24 + 8 * frames))
		frames++;
	if (!frames || ef_u64(r[0].data + 24) != FUNCTION(0))
		abort();
	texts = (const char *)r[0].data + 24 + 8 * FRAMES;
	end = texts + ROOM;
	for (unsigned i = 0; i < frames && texts < end; i++) {
		const char *nul = memchr(texts, 0, (size_t)(end - texts));

		if (!nul)
			abort();
		reached |= nul > texts;
		texts = nul + 1;
	}
	reached |= frames > 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct sent sent[FRAMES_MESSAGES] = { 0 };
	struct input in;

	if (!world.f)
		create();
	reached = false;
	if (!parse(data, size, &in))
		return 0;
	write_memory(&in);
	open_session();
	for (unsigned i = 0; i < FRAMES_MESSAGES; i++)
		sent[i] = send(in.messages[i], in.head.sizes[i]);
	check_stack();
	for (unsigned i = 0; i < in.head.nchanges; i++) {
		change(sent, word(in.changes, i));
		check_stack();
	}
	close_session(sent);
	return 0;
}
