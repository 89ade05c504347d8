/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Printing one datum: the text of trace(), printf(), stack() and an aggregation's keys. Everything goes to a
 * FILE; write errors stay in it (ferror) and are checked when it is flushed. Layouts are dtrace's to the
 * byte: scripts parse them. terminal.h filters guest text for terminals; a name is always on one line.
 */
#ifndef CONSUMER_OUTPUT_PRINT_H
#define CONSUMER_OUTPUT_PRINT_H

#include <stdio.h>

#include "dif/lang/core/options.h"
#include "dif/obj/format.h"
#include "dif/obj/layout.h"
#include "vmm-probe/session/session.h"

/* Names for addresses. Callbacks NULL: numbers only. */
struct con_symbols {
	void *arg;
	void (*kernel)(void *arg, uint32_t guest, uint64_t addr, enum vp_symbol_form form, char *buf,
		       size_t size);
	void (*user)(void *arg, uint32_t guest, uint64_t pid, uint64_t addr, enum vp_symbol_form form,
		     char *buf, size_t size);
	/* The names of a frame by the engine's note: vp_session_note_text(). */
	const char *(*note)(void *arg, uint32_t guest, uint64_t pid, uint64_t addr, const char *note);
	const char *(*guest)(void *arg, uint32_t guest); /* NULL: there is no such guest */
	/* This host's process and thread that run a vCPU, 0 where they are not known. */
	void (*vcpu)(void *arg, uint32_t guest, uint32_t cpu, uint32_t *ret_pid, uint32_t *ret_tid);
	uint32_t nguests;
};

/* In place of a guest: an address is the number of a named place, from 1 on. */
#define CON_GUEST_NAMED UINT32_MAX

/* Where a name that several guests share was first. */
struct con_named_place {
	uint32_t guest;
	uint64_t addr;
};

struct con_printer {
	FILE *fp;
	const struct dif_options *opts; /* read each time: setopt() changes them */
	struct con_symbols symbols;
	uint32_t guest;                       /* whose addresses are being printed; CON_GUEST_NAMED */
	const struct con_named_place *places; /* borrowed from the aggregations */
	size_t nplaces;
	uint64_t target_pid; /* $target, for %A of a bare address; 0: none */
	bool asks_names;     /* %I asks this host's resolver: not where a guest chooses the address */
};

#define CON_SYMBOL_MAX 1024

/* One value with the action that recorded it. */
struct con_datum {
	const struct dif_action *action;
	const uint8_t *data; /* may be unaligned */
	uint32_t size;
};

/* The kind of a datum, for any output. */
enum con_shape {
	CON_SHAPE_INTEGER, /* of 1, 2, 4 or 8 bytes: con_load_integer() */
	CON_SHAPE_STRING,  /* up to its NUL, or all of it */
	CON_SHAPE_BYTES,
	CON_SHAPE_STACK,  /* a kernel's or a process's: con_frames_next() */
	CON_SHAPE_SYMBOL, /* con_symbol_text() */
	CON_SHAPE_DUMP,   /* tracemem(): bytes, even where they are valid text */
	CON_SHAPE_MEMORY, /* printm(): a count of 8 bytes, then that many bytes */
	CON_SHAPE_TYPED,  /* print(): laid out by action->format */
};

enum con_shape con_datum_shape(const struct con_datum *d);

/** Does an action of this kind record a stack, or an address that is shown as a name? */
bool con_is_named(unsigned kind);

/* An aggregation's value. */
struct con_aggval {
	enum dif_agg_kind kind;
	uint64_t arg;
	const uint64_t *words;
	uint64_t normal;
};

/* How wide a value's field is. */
enum con_width {
	CON_WIDTH_TRACE,  /* trace(): strings 33 wide; only the value when quiet */
	CON_WIDTH_KEY,    /* an aggregation's key: strings 50 wide */
	CON_WIDTH_PACKED, /* a key under agghist or aggpack: right-aligned, strings 16 wide */
};

/** An unsigned integer of 1, 2, 4 or 8 bytes, or the same with its sign. 0 for other sizes. */
uint64_t con_load(const void *data, uint32_t size);
int64_t con_load_signed(const void *data, uint32_t size);
/** An integer as trace() shows it: one and two bytes are unsigned, four and eight signed. */
int64_t con_load_integer(const void *data, uint32_t size);

/** How many of the bytes are text that NULs fill up; 0: they are something else. */
size_t con_text_length(const void *data, size_t size);

/** An integer, a string or bytes, by size alone, as trace() shows them. */
void con_print_value(struct con_printer *p, const void *data, uint32_t size, enum con_width width);

/** A datum by its action: a stack, a symbol, a dump or a value. */
void con_print_datum(struct con_printer *p, const struct con_datum *d, enum con_width width);

/* A stack's frames, the innermost first. */
struct con_frames {
	struct con_printer *p;
	const uint8_t *pcs;
	uint32_t left;
	bool user;
	uint64_t pid;
	struct {
		const char *at;
		size_t left;
	} helper;         /* the frames' texts, if the process's runtime was known: one for each */
	const char *more; /* the rest of the last frame's text: a line for each frame of the program that it
			     interprets; NULL: none */
	const char *inlined; /* the rest of its names: a line for each function in which that one is inlined;
				NULL: none */
	uint64_t inlined_pc; /* where these are */
};

struct con_frame {
	uint64_t pc;                    /* 0: there is no such place in the process's code */
	char text[CON_SYMBOL_MAX];      /* the name of the place */
	char note[CON_SYMBOL_MAX - 16]; /* the frame of the program that is interpreted there; "" */
	bool again; /* pc and text are invalid: this is a further interpreted frame at the previous place, the
		       caller of the previous one */
};

/** The frames of a datum of CON_SHAPE_STACK. False: it is too short to have any. */
bool con_frames_init(struct con_frames *f, struct con_printer *p, const struct con_datum *d);
/** False: there are no more. */
bool con_frames_next(struct con_frames *f, struct con_frame *ret);

/** Instead of that, for each frame of a user stack in order: its text of the helper, "" if there is none. */
const char *con_frames_note(struct con_frames *f);
/** Is such a text for vp_session_note_text()? */
bool con_is_noted(const char *note);

/* The position of a stack's frames in the output; %k can change it. */
struct con_stack_style {
	int indent;
	int width, prec; /* of each frame's text, as printf's; width < 0: left-aligned; prec -1: none */
};

struct con_stack_style con_stack_style(const struct con_printer *p);
void con_print_stack(struct con_printer *p, const struct con_datum *d, struct con_stack_style style);

/** Text of a sym, mod, usym, umod or uaddr datum. */
void con_symbol_text(struct con_printer *p, const struct con_datum *d, char *buf, size_t size);
/** Text of a kernel address. */
void con_kernel_text(struct con_printer *p, uint64_t addr, enum vp_symbol_form form, char *buf, size_t size);
void con_user_text(struct con_printer *p, uint64_t pid, uint64_t addr, enum vp_symbol_form form, char *buf,
		   size_t size);

/**
 * printf() by a parsed format. Conversions take @p args in order; %@ conversions take @p vals
 * in order, the last one again when there are more. Missing arguments print nothing.
 */
void con_print_format(struct con_printer *p, const struct dif_format *fmt, const struct con_datum *args,
		      unsigned nargs, const struct con_aggval *vals, unsigned nvals);

static inline bool con_aggval_is_histogram(enum dif_agg_kind kind)
{
	return kind == DIF_AGG_quantize || kind == DIF_AGG_lquantize || kind == DIF_AGG_llquantize;
}

/** The number that an aggregation's value shows as: avg's quotient, stddev, the normalised sum …; 0 for
 * histograms. */
int64_t con_aggval_number(const struct con_aggval *val);

/** print()'s layout of typed data; see print_type.c for the text that describes a type. False: the
 * description is invalid, nothing was printed. */
bool con_print_type(struct con_printer *p, const char *layout, const void *data, size_t size);

#endif
