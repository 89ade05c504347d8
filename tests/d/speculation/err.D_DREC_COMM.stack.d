/* ASSERTION: A stack may not follow commit(). */
BEGIN { commit(1); stack(); }
