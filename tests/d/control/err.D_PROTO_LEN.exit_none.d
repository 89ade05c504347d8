/* ASSERTION: exit() wants a status. */
BEGIN { exit(); }
