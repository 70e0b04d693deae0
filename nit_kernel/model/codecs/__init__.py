"""The codecs: strategies between the meaning of tools and the protocol that a model speaks."""
