"""The implementation of scripts/bench."""
