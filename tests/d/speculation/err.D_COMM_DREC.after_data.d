/* ASSERTION: commit() may not follow data. */
BEGIN { printf("x"); commit(1); }
