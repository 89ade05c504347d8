/* ASSERTION: commit() takes one id. */
BEGIN { commit(1, 2); }
