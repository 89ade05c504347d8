/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Writes fuzz_frames' seeds: FRAMES as an honest client sends them, made from their own structs, and the
 * memory of the process that they are of.
 *
 *   frames_seeds DIRECTORY
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/fuzz/frames_input.h"
#include "tests/unit/engine_beam.h"
#include "tests/unit/engine_hotspot.h"

struct seed {
	struct ep w;
	struct ep_message messages[FRAMES_MESSAGES];
	bool sent[FRAMES_MESSAGES];
	struct frames_word changes[16];
	uint16_t nchanges;
};

static void put(FILE *out, const void *data, size_t size)
{
	if (size && fwrite(data, size, 1, out) != 1) {
		perror("frames_seeds");
		exit(1);
	}
}

/* The words of the process's memory that differ from what fuzz_frames begins with. */
static uint16_t words_of(const struct ep *w, const uint8_t *before, struct frames_word *words)
{
	static uint8_t after[FRAMES_MEMORY];
	uint16_t n = 0;

	frames_read_memory(w, after);
	for (uint16_t i = 0; i < FRAMES_MEMORY / 8; i++) {
		if (!memcmp(before + 8 * i, after + 8 * i, 8))
			continue;
		words[n] = (struct frames_word){ .at = i };
		memcpy(&words[n++].value, after + 8 * i, 8);
		assert_true(n < FRAMES_WORDS);
	}
	return n;
}

static void write_seed(const struct seed *s, const uint8_t *before, const char *directory, const char *name)
{
	static struct frames_word words[FRAMES_WORDS];
	struct frames_head head = { .nwords = words_of(&s->w, before, words), .nchanges = s->nchanges };
	char path[4096];

	for (unsigned i = 0; i < FRAMES_MESSAGES; i++)
		head.sizes[i] = s->sent[i] ? sizeof(s->messages[i]) : 0;
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	FILE *out = fopen(path, "we");
	if (!out) {
		perror(path);
		exit(1);
	}
	put(out, &head, sizeof(head));
	put(out, words, head.nwords * sizeof(*words));
	put(out, s->changes, s->nchanges * sizeof(*s->changes));
	for (unsigned i = 0; i < FRAMES_MESSAGES; i++)
		put(out, &s->messages[i], head.sizes[i]);
	if (fclose(out)) {
		perror(path);
		exit(1);
	}
}

/* --- seeds ------------------------------------------------------------------------------------------------ */

/* Two runs of an interpreter's frames. */
static void records(struct seed *s)
{
	s->sent[0] = true;
}

static void shims(struct seed *s)
{
	ep_two_shimmed_runs(&s->w);
	s->messages[0] = *s->w.sent;
	s->sent[0] = true;
}

/* Code that a Java machine has made. */
static void hotspot(struct seed *s)
{
	eh_make(&s->w);
	s->messages[0] = *s->w.sent;
	s->sent[0] = true;
}

/* An Erlang machine. */
static void beam(struct seed *s)
{
	eb_make(&s->w);
	s->messages[0] = *s->w.sent;
	s->sent[0] = true;
}

/* The rows come first, and a process refers to them later; then it has mapped something, and comes again. */
static void in_parts(struct seed *s)
{
	s->messages[1] = s->messages[0];
	s->messages[0].header.nprocesses = 0;
	s->sent[0] = s->sent[1] = true;
}

static void twice(struct seed *s)
{
	s->messages[1] = s->messages[0];
	s->messages[1].map.end -= 0x800;
	s->sent[0] = s->sent[1] = true;
}

/* Each kind of rule, without a runtime. */
static void kinds(struct seed *s)
{
	struct ep_message *m = &s->messages[0];

	m->process.runtime = VP_NO_RUNTIME;
	m->rows[0] = vp_frame_row(0, VP_FRAME_SP, 3, -16);
	m->rows[1] = vp_frame_row(0x10, VP_FRAME_FP, 2, 0);
	m->rows[2] = vp_frame_row(0x20, VP_FRAME_PLT, 11, 0);
	m->rows[3] = vp_frame_row(0x30, VP_FRAME_SIGNAL, 0, 0);
	ep_put(&s->w, STACK + 8, STACK + 0x100); /* the caller's frame pointer */
	ep_put(&s->w, STACK + 16, IN(1));
	ep_put(&s->w, STACK + 0x108, IN(2));
	ep_put(&s->w, STACK + 0x110, IN(3));
	ep_put(&s->w, STACK + 0x118 + 168, FUNCTION(4)); /* what the signal interrupted */
	ep_put(&s->w, STACK + 0x118 + 160, STACK + 0x400);
	s->sent[0] = true;
}

/* The client writes to what it has sent: counts, indices, rules, and where the interpreter is. */
static void changed(struct seed *s)
{
	const size_t at[] = {
		offsetof(struct ep_message, header.nprocesses),
		offsetof(struct ep_message, process.id.pid),
		offsetof(struct ep_message, process.first_map),
		offsetof(struct ep_message, process.runtime),
		offsetof(struct ep_message, runtime.python.interpreters),
		offsetof(struct ep_message, runtime.python.runs),
		offsetof(struct ep_message, map.base),
		offsetof(struct ep_message, map.sent),
		offsetof(struct ep_message, map.nrows),
		offsetof(struct ep_message, rows[1]),
	};

	s->sent[0] = true;
	for (size_t i = 0; i < OT_ARRAY_SIZE(at); i++)
		s->changes[s->nchanges++] =
		    (struct frames_word){ .at = (uint16_t)(at[i] / 8 * FRAMES_MESSAGES),
					  .value = 0xffffffff00000000u + i };
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*make)(struct seed *s);
	} seeds[] = {
		{ "records", records },   { "shims", shims }, { "hotspot", hotspot }, { "beam", beam },
		{ "in_parts", in_parts }, { "twice", twice }, { "kinds", kinds },     { "changed", changed },
	};
	static uint8_t before[FRAMES_MEMORY];

	if (argc != 2) {
		fprintf(stderr, "usage: frames_seeds DIRECTORY\n");
		return 2;
	}
	for (unsigned i = 0; i < OT_ARRAY_SIZE(seeds); i++) {
		struct seed s = { .w = ep_trace_in(ROOM) };

		ep_two_runs(&s.w);
		frames_read_memory(&s.w, before);
		s.messages[0] = *s.w.sent;
		seeds[i].make(&s);
		write_seed(&s, before, argv[1], seeds[i].name);
		ef_destroy(s.w.f);
	}
	return 0;
}
