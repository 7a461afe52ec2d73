"""The messages of espalier.v1, made of proto/ by `make python-proto`."""
