"""Targets in a process of their own: any program that speaks JSON lines."""
