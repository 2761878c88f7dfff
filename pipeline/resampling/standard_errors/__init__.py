"""How far a gain deviates: influence values, standard errors on every replicate, and gains divided by them."""
