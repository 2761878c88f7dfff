"""Looking at a comparison again and again: confidence sequences and e-values of the gains of pairs."""
