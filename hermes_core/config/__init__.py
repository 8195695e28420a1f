"""Settings: the only room that reads the environment and the files of a home."""
