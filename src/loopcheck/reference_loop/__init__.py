"""The tool-calling loop done right: the answer key."""
