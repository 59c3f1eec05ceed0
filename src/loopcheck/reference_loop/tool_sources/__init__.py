"""Tools made from what there is already: Python functions, and operations of HTTP services."""
