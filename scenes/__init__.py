"""The scenes: one file each, a frozen State, actions on it, and a view of it, all pure.

``fields`` reads and writes a State as a query string, ``scene`` says what a scene is, ``render``
makes the Jinja environment, ``stage`` is the one entry used at build and in the reader's browser.
"""
