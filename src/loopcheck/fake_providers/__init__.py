"""Scripted turns in, wire bytes out, for three dialects."""
