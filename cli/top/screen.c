/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The terminal of the live view, by curses: see screen.h. */
#define NCURSES_WIDECHAR 1
#include "cli/top/screen.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "consumer/terminal.h"

/* How long an Escape waits for the rest of an arrow's sequence. */
#define ESCAPE_MS 50

struct ot_err *cli_top_screen_open(struct cli_top_screen *s)
{
	const char *term = getenv("TERM");
	int fd = con_terminal_fileno(stdout);

	*s = (struct cli_top_screen){ 0 };
	if (!isatty(0) || !isatty(fd))
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "not a terminal: `outsight top -b` prints lines instead");
	if (!term || !*term)
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "TERM is not set: it names the kind of terminal, as xterm");
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	s->out = fd < 0 ? NULL : fdopen(fd, "w");
	if (!s->out)
		return ot_err_os(errno, "the terminal");
	s->curses = newterm(NULL, s->out, stdin);
	if (!s->curses) {
		fclose(s->out);
		s->out = NULL;
		return ot_err_new(OT_ERR_UNSUPPORTED,
				  "the terminal \"%s\" is unknown here: TERM=xterm may do", term);
	}
	set_term(s->curses);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	set_escdelay(ESCAPE_MS);
	curs_set(0);
	return NULL;
}

void cli_top_screen_close(struct cli_top_screen *s)
{
	if (!s->curses)
		return;
	endwin();
	delscreen(s->curses);
	fclose(s->out);
	*s = (struct cli_top_screen){ 0 };
}

static void put(void *arg, unsigned y, enum cli_top_look look, const char *line)
{
	static const attr_t looks[] = {
		[CLI_TOP_PLAIN] = A_NORMAL,    [CLI_TOP_TITLE] = A_BOLD,        [CLI_TOP_MESSAGE] = A_NORMAL,
		[CLI_TOP_HEADING] = A_REVERSE, [CLI_TOP_SELECTED] = A_STANDOUT,
	};

	(void)arg;
	attrset((int)looks[look]);
	mvaddstr(
	    (int)y, 0,
	    line); /* after the screen's last character the cursor can't advance, which is not an error */
	attrset(A_NORMAL);
}

struct ot_err *cli_top_screen_draw(struct cli_top_screen *s, struct cli_top_model *m,
				   const struct cli_top_heading *heading)
{
	int height, width;

	(void)s;
	getmaxyx(stdscr, height, width);
	m->page = cli_top_page((unsigned)height);
	erase();
	OT_TRY(cli_top_view(m, heading, (unsigned)width, (unsigned)height, put, NULL));
	refresh();
	return NULL;
}

int cli_top_screen_key(struct cli_top_screen *s)
{
	static const struct {
		int theirs, ours;
	} keys[] = {
		{ KEY_UP, CLI_TOP_KEY_UP },
		{ KEY_DOWN, CLI_TOP_KEY_DOWN },
		{ KEY_PPAGE, CLI_TOP_KEY_PAGE_UP },
		{ KEY_NPAGE, CLI_TOP_KEY_PAGE_DOWN },
		{ KEY_HOME, CLI_TOP_KEY_HOME },
		{ KEY_END, CLI_TOP_KEY_END },
		{ KEY_ENTER, CLI_TOP_KEY_ENTER },
		{ '\r', CLI_TOP_KEY_ENTER },
		{ '\n', CLI_TOP_KEY_ENTER },
		{ KEY_RIGHT, CLI_TOP_KEY_ENTER },
		{ KEY_LEFT, CLI_TOP_KEY_BACK },
		{ '\033', CLI_TOP_KEY_BACK },
		{ KEY_BACKSPACE, CLI_TOP_KEY_ERASE },
		{ '\b', CLI_TOP_KEY_ERASE },
		{ '\177', CLI_TOP_KEY_ERASE },
		{ KEY_F(1), 'h' },
		{ KEY_F(10), 'q' },
	};
	int key = getch();

	(void)s;
	if (key == ERR)
		return -1;
	for (size_t i = 0; i < OT_ARRAY_SIZE(keys); i++)
		if (key == keys[i].theirs)
			return keys[i].ours;
	return key >= ' ' && key <= '~' ? key : 0;
}
