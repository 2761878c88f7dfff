"""Standard errors: influence values, standard errors on every replicate, and gains divided by them."""
