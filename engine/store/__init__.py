"""Stores behind the seam of `engine.backend.protocol`, beside the embedded one."""
