/* ASSERTION: An aggregation may not follow commit(). */
BEGIN { commit(1); @n = count(); }
