"""Commands of `roof` that read the files and models of other tools: a module each, with main(arguments) -> exit status."""
