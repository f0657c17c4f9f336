"""Test hosts that a test may change, break and throw away. README.md says how they are made and why."""
