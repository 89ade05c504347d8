/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of standing.h. */
#ifndef FLEET_SERVE_STANDING_INTERNAL_H
#define FLEET_SERVE_STANDING_INTERNAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "fleet/serve/standing/limits.h"
#include "fleet/serve/standing/standing.h"

#define FL_LINE_MAX 400u /* of a program's output, for the log */

enum fl_program_state {
	FL_PROGRAM_WAITING, /* starts at `due` */
	FL_PROGRAM_RUNNING,
	FL_PROGRAM_ENDING, /* asked to end, is killed at `due` */
	FL_PROGRAM_IDLE,
	FL_PROGRAM_ENDED,
};

/* A version of a file. */
struct fl_stamp {
	struct timespec time;
	off_t size;
	ino_t inode;
};

/* A D file. One struct with many fields: each belongs to the file, its process, its output or its metrics. */
struct fl_program {
	char name[FL_NAME_MAX + 1];
	struct fl_stamp script, conf;
	struct ot_arena arena; /* the limits' */
	struct fl_limits limits;
	bool is_sound; /* its files are valid, and the limits were read */

	enum fl_program_state state, next; /* next: the state after an end that is under way */
	bool seen;                         /* while the folder is read */
	bool gone;                         /* removed when it has ended */
	uint64_t due, began;
	uint32_t pause_s; /* the pause after the next failure */
	pid_t pid;
	int said_fd; /* its stderr; -1 */

	/* its output: the beginning of a line, and the last line that was logged */
	char line[FL_LINE_MAX], last[FL_LINE_MAX];
	size_t line_len;
	uint64_t window; /* start of the log's allowance */
	unsigned lines, untold;

	/* metrics */
	bool failing; /* the last run failed */
	uint64_t starts, failures, refused, cpu_us;
};

struct fl_standing {
	struct fl_standing_config config;
	struct fl_program *programs[FL_PROGRAMS_MAX];
	size_t count;
	uint64_t read_ns; /* time of the last scrape; at first, the start */
	uint64_t scrapes;
};

/** Log a line about @p p (NULL: no program). */
void fl_standing_say(const struct fl_standing *s, const struct fl_program *p, const char *fmt, ...)
    OT_PRINTF(3, 4);

/* --- child.c -------------------------------------------------------------------------------------------- */

/** The file that its process rewrites. */
void fl_program_metrics_path(const struct fl_standing *s, const struct fl_program *p, struct ot_buf *ret);
/** Start the process. */
OT_MUST_CHECK struct ot_err *fl_program_spawn(const struct fl_standing *s, struct fl_program *p);
/** Log its output. */
void fl_program_listen(const struct fl_standing *s, struct fl_program *p, uint64_t now_ns);
/** Has it ended? Then its file is removed, and @p ret_status is waitpid()'s. */
bool fl_program_reap(const struct fl_standing *s, struct fl_program *p, uint64_t now_ns, int *ret_status);
/** CPU time of its runs. */
uint64_t fl_program_cpu_us(const struct fl_program *p);

/* --- programs.c ----------------------------------------------------------------------------------------- */

/** Ask it to end, and set its state to @p next then, or now if it does not run. */
void fl_program_end(struct fl_program *p, enum fl_program_state next, uint64_t now_ns);
/** Start it now, or as soon as the present run has ended. */
void fl_program_begin(struct fl_program *p, uint64_t now_ns);

#endif
