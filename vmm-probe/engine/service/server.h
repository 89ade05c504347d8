/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control socket's server, for its files only: server.c is its thread, connection.c its clients,
 * requests.c their requests, listen.c the socket.
 */
#ifndef VP_ENGINE_SERVICE_SERVER_H
#define VP_ENGINE_SERVICE_SERVER_H

#include <pthread.h>
#include <sys/socket.h>

#include "vmm-probe/engine/service/service.h"

#define VP_CONNECTIONS_MAX VP_SESSIONS_MAX
#define VP_REQUEST_FDS_MAX 5

/* Memory that a client passed as a descriptor. */
struct vp_mapping {
	void *mem; /* NULL: none */
	size_t size;
};

struct vp_connection {
	int sock; /* -1: free */
	bool greeted;
	uint64_t ram;      /* number of the layout of guest RAM in its HELLO_REPLY */
	struct ucred peer; /* from the kernel, when it connected */
	uint64_t access;   /* its session's record, see access.h; 0: none */
	struct vp_engine_session *es;
	struct vp_mapping shared, orc;
};

struct vp_server {
	struct vp_engine *engine;
	int listen_fd;
	int wake_fd; /* eventfd: `stopping`, `draining` or the engine's `guest_end` is set, or a module came
			or went */
	int drained_fd; /* eventfd: no session is open; vp_engine_wait_drained() waits for it */
	bool stopping, draining;
	char path[108];
	pthread_t thread;
	bool running;
	struct vp_connection connections[VP_CONNECTIONS_MAX];
	uint64_t next_sweep_ns;
	uint64_t message[VP_MSG_MAX / 8]; /* the current request */
	uint64_t reply[VP_MSG_MAX / 8];
	struct vp_facts facts; /* of the current OPEN */
};

/* A request with its descriptors, which are closed after it is done. */
struct vp_request {
	const struct vp_msg *head;
	int fds[VP_REQUEST_FDS_MAX];
	int nfds;
};

/* --- ram.c ------------------------------------------------------------------------------------- */

/** Find guest RAM for a client's HELLO_REPLY. */
void vp_ram_query(struct vp_server *s);
/** Is vp_ram_watch() to be called once a second? */
bool vp_ram_is_watched(const struct vp_engine *engine);
/** Check whether it has changed, end the sessions that this affects, and release unused layouts. */
void vp_ram_watch(struct vp_server *s, uint64_t now);
/** An error with the reason if it is unknown. */
OT_MUST_CHECK struct ot_err *vp_ram_check(const struct vp_engine *engine);

/* --- listen.c ---------------------------------------------------------------------------------- */

/** Create the socket @p path and listen on it: s->listen_fd and s->path. BUSY: another process does, or a
 * file that is no socket has the name. */
OT_MUST_CHECK struct ot_err *vp_server_listen_at(struct vp_server *s, const char *path);

/** Use a duplicate of a socket on which its owner listens already. */
OT_MUST_CHECK struct ot_err *vp_server_listen_on(struct vp_server *s, int listening);

/* --- connection.c, on the service thread -------------------------------------------------------- */

/** Accept a client, if it may trace the guest and there is room. */
void vp_connection_accept(struct vp_server *s);

/** Receive a request and answer it. A malformed one, or the client's end, closes the connection. */
void vp_connection_serve(struct vp_server *s, struct vp_connection *c);

/** End its session and release everything. The only clean-up, for every way in which a client can end. */
void vp_connection_close(struct vp_connection *c);

/* --- requests.c, on the service thread ----------------------------------------------------------- */

/** Carry out a request of @p len bytes and send the answer. False: it is malformed, or the answer could not
 * be sent. */
bool vp_request_serve(struct vp_server *s, struct vp_connection *c, const struct vp_request *req, size_t len);

void vp_mapping_release(struct vp_mapping *m);

#endif
