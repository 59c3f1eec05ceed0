"""Renderings of a run, each a pure function of its report."""
