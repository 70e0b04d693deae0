"""The model: what is said to it, how its replies are read, the conversation with it."""
