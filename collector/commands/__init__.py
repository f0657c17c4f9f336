"""One module a subcommand, each with a click command called ``command``.

The file's name is the subcommand's (``import_.py`` is ``import``), so that a new command is one new file.
"""
