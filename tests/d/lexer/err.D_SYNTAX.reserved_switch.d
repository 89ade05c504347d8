/* ASSERTION: switch is reserved. */
BEGIN { switch; }
