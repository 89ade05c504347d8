/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Parts of standing.h. */
#ifndef FLEET_SERVE_STANDING_INTERNAL_H
#define FLEET_SERVE_STANDING_INTERNAL_H

#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "fleet/serve/standing/limits.h"
#include "fleet/serve/standing/standing.h"

#define FL_LINE_MAX 400u /* of what a program says, for the log */

enum fl_program_state {
	FL_PROGRAM_WAITING, /* begins at `due` */
	FL_PROGRAM_RUNNING,
	FL_PROGRAM_ENDING, /* was asked to end, and is killed at `due` */
	FL_PROGRAM_IDLE,
	FL_PROGRAM_ENDED,
};

/* A version of a file. */
struct fl_stamp {
	struct timespec time;
	off_t size;
	ino_t inode;
};

/* A D file. */
struct fl_program {
	char name[FL_NAME_MAX + 1];
	struct fl_stamp script, conf;
	struct ot_arena arena; /* the limits' */
	struct fl_limits limits;
	bool is_sound; /* its files may be used, and the limits were read */

	enum fl_program_state state, next; /* next: of one that is ending */
	bool seen;                         /* while the folder is read */
	bool gone;                         /* to be forgotten when it has ended */
	uint64_t due, began;
	uint32_t pause_s; /* after the next failure */
	pid_t pid;
	int said_fd; /* its stderr; -1 */

	/* what it says: the beginning of a line, and the last one that is in the log */
	char line[FL_LINE_MAX], last[FL_LINE_MAX];
	size_t line_len;
	uint64_t window; /* when the log's allowance began */
	unsigned lines, untold;

	/* metrics */
	bool failing; /* the last run failed */
	uint64_t starts, failures, refused, cpu_us;
};

struct fl_standing {
	struct fl_standing_config config;
	struct fl_program *programs[FL_PROGRAMS_MAX];
	size_t count;
	uint64_t read_ns; /* of the last scrape; at first, when this began */
	uint64_t scrapes;
};

/** A line about @p p (NULL: about none). */
void fl_standing_say(const struct fl_standing *s, const struct fl_program *p, const char *fmt, ...)
    OT_PRINTF(3, 4);

/* --- child.c -------------------------------------------------------------------------------------------- */

/** The file that its process renews. */
void fl_program_metrics_path(const struct fl_standing *s, const struct fl_program *p, struct ot_buf *ret);
/** Start the process. */
OT_MUST_CHECK struct ot_err *fl_program_spawn(const struct fl_standing *s, struct fl_program *p);
/** Log what it has said. */
void fl_program_listen(const struct fl_standing *s, struct fl_program *p, uint64_t now_ns);
/** Has it ended? Then its file is gone as well, and @p ret_status is as waitpid() has it. */
bool fl_program_reap(const struct fl_standing *s, struct fl_program *p, uint64_t now_ns, int *ret_status);
/** CPU time of its runs. */
uint64_t fl_program_cpu_us(const struct fl_program *p);

/* --- programs.c ----------------------------------------------------------------------------------------- */

/** Ask it to end; then it is @p next. Of one that does not run, it is so now. */
void fl_program_end(struct fl_program *p, enum fl_program_state next, uint64_t now_ns);
/** Begin now, or as soon as the present run has ended. */
void fl_program_begin(struct fl_program *p, uint64_t now_ns);

#endif
