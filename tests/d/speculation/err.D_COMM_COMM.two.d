/* ASSERTION: One commit() in a clause. */
BEGIN { commit(1); x = 1; commit(2); }
