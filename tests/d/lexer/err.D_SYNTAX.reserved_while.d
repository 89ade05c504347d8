/* ASSERTION: while is reserved. */
BEGIN { while; }
