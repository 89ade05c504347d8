/* ASSERTION: a description is no variable. */
BEGIN = 1;
