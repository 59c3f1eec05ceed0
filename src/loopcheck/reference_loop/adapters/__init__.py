"""Provider adapters: from a conversation to one complete reply, for each protocol."""
