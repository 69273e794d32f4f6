"""What is simulated: the catalogue, other programs' command lines, networks, traces."""
