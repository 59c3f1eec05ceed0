"""What was recorded elsewhere becomes a scenario: exchanges of several kinds of files, and the
story that they tell."""
