"""``python -m hermes_core.plugins FOLDER``: write the index of the manifests below a folder of bundled plugins."""

import json
import sys
from pathlib import Path

from hermes_core.plugins.discovery import INDEX, manifest_index

root = Path(sys.argv[1])
(root / INDEX).write_text(json.dumps(manifest_index(root), indent=1, sort_keys=True) + "\n", encoding="utf-8")
