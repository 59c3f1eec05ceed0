"""One suite under several sets of dependencies, each in an environment of its own."""
