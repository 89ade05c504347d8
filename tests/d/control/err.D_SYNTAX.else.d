/* ASSERTION: An else needs its if. */
BEGIN { else trace(1); }
