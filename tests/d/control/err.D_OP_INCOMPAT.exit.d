/* ASSERTION: An action has no value. */
BEGIN { x = exit(0); }
