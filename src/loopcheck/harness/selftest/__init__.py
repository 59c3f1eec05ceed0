"""Deliberately broken loops that ship with loopcheck, so that its checks can be put on trial."""
