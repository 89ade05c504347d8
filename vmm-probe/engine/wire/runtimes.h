/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a process's runtime keeps the frames of the programs that it interprets: addresses in the process,
 * and offsets in the runtime's structures. The operator's process finds them (session/runtimes.h) and sends
 * them with FRAMES. The engine takes each for any number: whatever it leads to is loaded as user memory.
 */
#ifndef VP_ENGINE_WIRE_RUNTIMES_H
#define VP_ENGINE_WIRE_RUNTIMES_H

#include <stdint.h>

enum vp_runtime_kind {
	VP_RUNTIME_NONE,
	VP_RUNTIME_PYTHON, /* CPython from 3.11 on */
};

/* A call of CPython's interpreter in C runs several of the program's frames, one for each function: a run.
 * Frames are chained from the innermost on, across the runs. */
enum vp_python_runs {
	/* 3.11: each run has a record on the C stack (struct _PyCFrame), the records are chained, and a
	 * frame's byte says that it is its run's outermost one. */
	VP_PYTHON_RECORDS,
	/* From 3.12 on: behind each run's outermost frame comes one on the C stack, which is no function's;
	 * its byte says so. */
	VP_PYTHON_SHIMS,
};

#define VP_PYTHON_SHIM 3u /* FRAME_OWNED_BY_CSTACK */

/* Offsets of members are named after their structure: PyInterpreterState, PyThreadState, _PyCFrame,
 * _PyInterpreterFrame, PyCodeObject, PyUnicodeObject, PyBytesObject. */
struct vp_python {
	uint64_t interpreters;  /* address of the pointer to the first interpreter */
	uint64_t code_type;     /* address of what the type of each code object is */
	uint32_t runs;          /* enum vp_python_runs */
	uint32_t thread_record; /* the pointer to the innermost record; VP_NO_OFFSET: there are none */
	uint32_t thread_frame;  /* without records: the pointer to the innermost frame */
	uint32_t record_frame, record_previous; /* the latter only with VP_PYTHON_RECORDS */
	uint32_t interpreter_next, interpreter_threads;
	uint32_t thread_next;
	uint32_t thread_id; /* what pthread_self() is there: its thread pointer */
	uint32_t frame_code, frame_previous, frame_instruction;
	uint32_t frame_mark; /* the byte that enum vp_python_runs speaks of */
	uint32_t object_type;
	uint32_t code_filename, code_name, code_first_line, code_lines, code_instructions;
	uint32_t string_length, string_state, string_ascii,
	    string_wide; /* the latter two: the characters of a string that is ASCII, or is not */
	uint32_t bytes_size, bytes_data;
};

struct vp_runtime {
	uint32_t kind; /* enum vp_runtime_kind */
	uint32_t pad;
	struct vp_python python;
};

#endif
