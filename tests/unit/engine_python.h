/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A process with an interpreter in the memory of engine_fixture.h, and a session that takes its stack by
 * jstack(). */
#ifndef TESTS_UNIT_ENGINE_PYTHON_H
#define TESTS_UNIT_ENGINE_PYTHON_H

#include "tests/unit/engine_fixture.h"
#include "vmm-probe/engine/hit/hit_session.h"
#include "vmm-probe/engine/wire/user_frames.h"

#define FRAMES      8
#define ROOM        256u
#define CODE        (EF_USER + 0x200) /* functions, 0x10 bytes each */
#define FUNCTION(n) (CODE + 0x10ull * (n))
#define IN(n)       (FUNCTION(n) + 5)
#define STACK       (EF_USER + 0x1000) /* of the process: five frames of 0x40 bytes each */
#define FRAME_SIZE  0x40u
#define ON_STACK(n) (STACK + FRAME_SIZE * (n) + 16)
#define OBJECTS     (EF_USER + 0x1300)
#define POINTER     0x7f0000001000ull /* the thread pointer */
#define CODE_TYPE   0x7700ull

/* A layout of our own, as the engine knows none. */
enum {
	NEXT = 0, /* of interpreters and threads */
	INTERPRETER_THREADS = 8,
	THREAD_ID = 8,
	THREAD_RECORD = 16,
	THREAD_FRAME = 24,
	RECORD_FRAME = 0,
	RECORD_PREVIOUS = 8,
	FRAME_CODE = 0,
	FRAME_PREVIOUS = 8,
	FRAME_INSTRUCTION = 16,
	FRAME_MARK = 24,
	CODE_OF_TYPE = 0,
	CODE_FILENAME = 8,
	CODE_NAME = 16,
	CODE_LINES = 24,
	CODE_FIRST_LINE = 32,
	CODE_INSTRUCTIONS = 40,
	STRING_LENGTH = 0,
	STRING_STATE = 8,
	STRING_ASCII = 16,
	STRING_WIDE = 24,
	BYTES_SIZE = 0,
	BYTES_DATA = 8,
};

#define COMPACT 0x20u
#define ASCII   0x40u

#define EP_ROWS 5u

struct ep_message {
	struct vp_frames_header header;
	struct vp_frames_process process;
	struct vp_runtime runtime;
	struct vp_frames_map map;
	struct vp_frame_row rows[3 * EP_ROWS]; /* of functions; engine_beam.c's of two registers */
};

struct ep {
	struct ef *f;
	struct ep_message *sent;
	uint64_t free; /* where the next object goes */
	uint64_t interpreter, thread;
};

/* --- objects of the interpreter --- */
void ep_put_bytes(struct ep *w, uint64_t va, const void *bytes, size_t len);
void ep_put(struct ep *w, uint64_t va, uint64_t value);
/** Room for one. */
uint64_t ep_object(struct ep *w, size_t size);
/** A string of @p length characters of @p kind bytes. */
uint64_t ep_string_of(struct ep *w, const void *data, uint64_t length, unsigned kind, uint32_t state);
uint64_t ep_string(struct ep *w, const char *s);
uint64_t ep_bytes(struct ep *w, const void *data, uint64_t size);
/** A code object with two instructions in its first line, and eight in the next. */
uint64_t ep_code(struct ep *w, uint64_t file, uint64_t name, uint32_t line);
void ep_set_frame(struct ep *w, uint64_t at, uint64_t in, uint64_t instruction, uint64_t previous,
		  uint8_t mark);
/** A frame at the first instruction of a function of its own. */
uint64_t ep_simple(struct ep *w, const char *name, uint32_t line, uint64_t previous, uint8_t mark);
void ep_set_record(struct ep *w, uint64_t at, uint64_t innermost, uint64_t previous);

/** jstack(FRAMES, @p room) at FUNCTION(0), with a stack of five frames, and a thread that has no frames yet.
 */
struct ep ep_trace_in(uint32_t room);

/* Two runs: the inner one of two frames in the stack's second frame, the outer one in the fourth. */
struct ep_runs {
	uint64_t inner, caller, outer;
};

struct ep_runs ep_two_runs(struct ep *w);
/** The same as from 3.12 on, with nothing but frames. */
struct ep_runs ep_two_shimmed_runs(struct ep *w);
/** One frame, whose code is *ret_code, in the stack's second frame. */
uint64_t ep_one_frame(struct ep *w, uint64_t *ret_code);
#define INNER "@a.py:10 (leaf)\na.py:20 (call)"
#define OUTER "@a.py:30 (main)"

/** The texts of a hit's stack must be these, one for each frame, up to NULL; the others are empty. Those that
 * are frames of their own follow the five that there are. */
void ep_texts_are(struct ep *w, uint32_t room, const char *const *want);
#define TEXTS_ARE(w, ...) ep_texts_are(w, ROOM, (const char *const[]){ __VA_ARGS__, NULL })
#define NO_TEXTS(w)       ep_texts_are(w, ROOM, (const char *const[]){ NULL })

#endif
