"""Targets, world, journal, checks, runner, pytest plugin and command line."""
