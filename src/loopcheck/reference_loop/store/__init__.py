"""Where runs are kept, so that they survive their process."""
