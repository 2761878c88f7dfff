"""What can be asked before anything is run: how likely a gain is to be found, and how many items it takes."""
