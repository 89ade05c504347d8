/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The layout of the frames of programs that a process's runtime interprets: addresses in the process, and
 * offsets in the runtime's structures. The operator's process finds them (session/runtimes.h) and sends them
 * with FRAMES. The engine trusts none of them: each address is loaded as user memory.
 */
#ifndef VP_ENGINE_WIRE_RUNTIMES_H
#define VP_ENGINE_WIRE_RUNTIMES_H

#include <stdint.h>

#include "vmm-probe/engine/wire/frames_map.h"

enum vp_runtime_kind {
	VP_RUNTIME_NONE,
	VP_RUNTIME_PYTHON,  /* CPython from 3.11 on */
	VP_RUNTIME_HOTSPOT, /* OpenJDK's virtual machine */
	VP_RUNTIME_BEAM,    /* Erlang's virtual machine where it interprets */
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

/* One struct with many fields: a table of constants for one version. Offsets of members are named after their
 * structure: PyInterpreterState, PyThreadState, _PyCFrame, _PyInterpreterFrame, PyCodeObject,
 * PyUnicodeObject, PyBytesObject. */
struct vp_python {
	uint64_t interpreters;  /* address of the pointer to the first interpreter */
	uint64_t code_type;     /* address of the type of code objects */
	uint32_t runs;          /* enum vp_python_runs */
	uint32_t thread_record; /* the pointer to the innermost record; VP_NO_OFFSET: there are none */
	uint32_t thread_frame;  /* without records: the pointer to the innermost frame */
	uint32_t record_frame, record_previous; /* the latter only with VP_PYTHON_RECORDS */
	uint32_t interpreter_next, interpreter_threads;
	uint32_t thread_next;
	uint32_t thread_id; /* the result of pthread_self() there: its thread pointer */
	uint32_t frame_code, frame_previous, frame_instruction;
	uint32_t frame_mark; /* the byte of enum vp_python_runs */
	uint32_t object_type;
	uint32_t code_filename, code_name, code_first_line, code_lines, code_instructions;
	uint32_t string_length, string_state, string_ascii,
	    string_wide; /* the latter two: the characters of a string that is ASCII, or is not */
	uint32_t bytes_size, bytes_data;
};

/* HotSpot interprets Java's methods and compiles those that run often. The code of its interpreter, compiled
 * methods, and its stubs are pieces of a few heaps. A heap has a byte for each segment of itself: how many
 * segments the piece began before, or a smaller step towards there; 0: here. */
#define VP_HOTSPOT_HEAPS   5u
#define VP_HOTSPOT_NOTHING 0xffu /* such a byte, of a segment that is not in use */

struct vp_hotspot_heap {
	uint64_t start, end; /* [start, end) */
	uint64_t segments;   /* address of the bytes */
	uint32_t shift;      /* log2 of a segment's size */
	uint32_t pad;
};

/* Offsets of members are named after their structure: CodeBlob (a piece), nmethod (one that is a method). */
struct vp_hotspot {
	struct vp_hotspot_heap heaps[VP_HOTSPOT_HEAPS];
	uint64_t interpreter_start, interpreter_end; /* code: [start, end) */
	uint32_t nheaps;
	uint32_t block_head; /* bytes between where a piece begins in its heap and its CodeBlob */
	uint32_t blob_frame_size, blob_frame_complete, blob_code;
	uint32_t nmethod_id, nmethod_deopt, nmethod_deopt_mh, nmethod_original_pc;
	/* Of a frame of the interpreter, from its frame pointer: the caller's stack pointer, the method, the
	 * bytecode that it executes. */
	int32_t frame_caller, frame_method, frame_bytecode;
};

/* Erlang's machine runs its processes on threads of its own, the schedulers; one function interprets them. It
 * has the process's stack pointer and instruction in registers, and stores them in the process only before
 * calls of functions that may change them. */
enum vp_beam_register { VP_BEAM_STACK, VP_BEAM_INSTRUCTION, VP_BEAM_REGISTERS };

#define VP_BEAM_SCHEDULERS \
	3u /* kinds: normal ones, dirty ones for computing, dirty ones for input and output */

/* Of the table of modules there are three, of which one is in use. Each has a pointer to a sorted array, and
 * the number of its used entries; an entry is the beginning and the end of a module's code. */
#define VP_BEAM_TABLES      3u
#define VP_BEAM_TABLE_SIZE  32u
#define VP_BEAM_MODULE_SIZE 16u
#define VP_BEAM_MODULES_MAX (1u << 20)
#define VP_BEAM_ATOM_SHIFT  6u  /* an atom's term, shifted to the right, is its number */
#define VP_BEAM_ATOMS_SHIFT 10u /* log2 of how many atoms a page of their table has: pointers to them */

/* The array of a kind of schedulers: addresses of the pointer to it, and of its length. */
struct vp_beam_schedulers {
	uint64_t first, count;
};

/* One struct with many fields: a table of constants for one release. Offsets of members are named after their
 * structure: ErtsSchedulerData, Process, BeamCodeHeader,
 * ErtsCodeInfo, BeamCodeLineTab, Atom. */
struct vp_beam {
	uint64_t emulator_start, emulator_end; /* the function that interprets: [start, end) */
	uint64_t dirty_start, dirty_end;       /* the one that dirty schedulers run */
	struct vp_beam_schedulers schedulers[VP_BEAM_SCHEDULERS];
	uint64_t modules; /* address of the tables of modules … */
	uint64_t current; /* … and of the number, 4 bytes, of the one in use */
	uint64_t atoms;   /* address of the pointer to the pages of the table of atoms */
	/* Where the functions of its file save the registers below: rows whose fp is that register's. */
	struct vp_frames_map saved[VP_BEAM_REGISTERS];
	uint32_t registers[VP_BEAM_REGISTERS]; /* enum vp_reg */
	uint32_t scheduler_size, scheduler_thread, scheduler_process;
	uint32_t process_stack, process_heap, process_heap_end, process_instruction;
	uint32_t code_functions, code_lines; /* … at its beginning is how many functions it has */
	uint32_t function_name;              /* three words: module and function, which are atoms; arity */
	uint32_t lines_files, lines_width, lines_places, lines_functions;
	uint32_t atom_length, atom_name;
};

struct vp_runtime {
	uint32_t kind; /* enum vp_runtime_kind */
	uint32_t pad;
	union {
		struct vp_python python;
		struct vp_hotspot hotspot;
		struct vp_beam beam;
	};
};

#endif
