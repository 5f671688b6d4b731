"""The stages of the build, in the order in which build.py goes through them."""
