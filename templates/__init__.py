"""The templates: every word that a reader sees. ``pages`` at build only; ``scenes`` and ``parts`` in both places."""
