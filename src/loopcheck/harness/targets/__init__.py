"""Ready-made targets. Each module needs the extra that it names and is imported only when used."""
