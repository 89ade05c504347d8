/* ASSERTION: speculation() takes nothing. */
BEGIN { spec = speculation(1); }
