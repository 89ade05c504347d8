/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A client of an engine's control socket, as tests are one. Every function asserts that its own steps
 * succeed. */
#ifndef OUTSIGHT_TESTS_UNIT_ENGINE_CLIENT_H
#define OUTSIGHT_TESTS_UNIT_ENGINE_CLIENT_H

#include "tests/unit/engine_fixture.h"

struct ec_client {
	int sock;
	_Alignas(8) uint8_t reply[VP_MSG_MAX]; /* the last one */
	size_t len;
	int fds[8], nfds; /* that came with it; closed already */
};

#define EC_OPEN_FDS  4
#define EC_PATH_SIZE 40

/* A folder of the test's own, and the socket in it. */
extern char ec_dir[];
extern char ec_path[EC_PATH_SIZE];

/* For cmocka_run_group_tests(). The folder can be removed only if no server left its socket behind. */
int ec_make_dir(void **state);
int ec_remove_dir(void **state);

/* A connection to ec_path, and its end. */
struct ec_client *ec_dial(void);
void ec_drop(struct ec_client *c);

/* Sends a request, and receives its reply. False: the server closed the connection. */
bool ec_ask(struct ec_client *c, const void *msg, size_t len, const int *fds, int nfds);
/* The same for a message that is nothing but its header. */
bool ec_ask_bare(struct ec_client *c, uint32_t type, const int *fds, int nfds);
/* The code of the last reply, which is a VP_MSG_REPLY. */
uint32_t ec_reply_code(const struct ec_client *c);
/* A request that is a header only, and the code that it is answered with. */
void ec_simple(struct ec_client *c, uint32_t type, uint32_t code);
void ec_hello(struct ec_client *c);

/* A sealed memfd. The caller closes it. */
int ec_memfd(const void *data, size_t len);
/* Descriptors of OPEN; the last two are mapped as f->shared, so that the fixture's consumer reads it. */
void ec_open_fds(struct ef *f, int fds[EC_OPEN_FDS]);
void ec_close_fds(int *fds, int n);
void ec_map_shared(struct ef *f, const int fds[EC_OPEN_FDS]);
void ec_unmap_shared(struct ef *f);

/* OPEN of f's program, and ENABLE of its batch. */
void ec_open_session(struct ef *f, struct ec_client *c);
void ec_enable(struct ef *f, struct ec_client *c);

/* A guest with one clause on function A, and its service at ec_path. */
struct ef *ec_create(void);
void ec_start(struct ef *f);
/* A guest that serves at ec_path, with one clause on function A. ef_destroy() ends it. */
struct ef *ec_serve(void);
/* The server sees the end of a connection a little later. */
void ec_wait_for_sites(struct ef *f, uint32_t n);

#endif
