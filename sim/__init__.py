"""The rules of the lesson: pure Python, standard library only; no wording, clock or files (replay apart)."""
