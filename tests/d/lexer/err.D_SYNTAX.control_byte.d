/* ASSERTION: nor such ones. */
BEGIN { x = ; }
