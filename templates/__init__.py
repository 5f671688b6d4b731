"""Every word that a reader sees. ``pages`` are used at build only, ``scenes`` and ``parts`` everywhere."""
