"""Runs inside Pyodide at build: fill the memory that is kept as the image.

Imports everything of ours, compiles every template that scenes use, and answers one question a
scene, so that the reader's first question finds all of it done. What is left to chance or to the
place of the build (caches of paths, of patterns, of lines) is cleared: two builds keep the same bytes.
"""

import gc
import importlib
import json
import linecache
import random
import re
import sys
import zipimport

sys.dont_write_bytecode = True
importlib.invalidate_caches()

from scenes import stage  # noqa: E402

respond = stage.respond


def question(scene: str, past: bool, computed: str) -> str:
    """Ask for the default state of a scene."""
    return json.dumps({"scene": scene, "query": "", "action": None, "past": past, "computed": computed})


for template in sorted(stage.ENVIRONMENT.list_templates()):
    if template.startswith(("scenes/", "parts/")):
        stage.ENVIRONMENT.get_template(template)
for scene in stage.SCENES:
    for past in (False, True):
        respond(question(scene, past, "live"))

random.seed(0)
zipimport._zip_directory_cache.clear()
sys.path_importer_cache.clear()
linecache.clearcache()
re.purge()
getattr(sys, "_clear_internal_caches", int)()
gc.collect()
gc.collect()
