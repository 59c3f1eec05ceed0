"""The scenario format: loading, checking, and compiling for one dialect and mode."""
