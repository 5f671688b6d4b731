"""The rules of the lesson: pure Python, standard library only, no wording, no clock, no files (replay apart)."""
