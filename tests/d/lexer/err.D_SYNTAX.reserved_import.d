/* ASSERTION: import is reserved. */
BEGIN { import; }
