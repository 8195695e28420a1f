# One door: what runs here is what CI runs.

test *arguments:
    pytest {{arguments}}

lint:
    ruff check . && ruff format --check . && mypy
    lint-imports
    cog --check docs/*.md README.md

docs:
    cog -r docs/*.md
    hermes config schema > hermes_core/config/config.schema.json

fix:
    ruff check --fix . && ruff format .

# after a bundled plugin.yaml has changed
index:
    python -m hermes_core.plugins builtin_plugins/hermes_builtin_plugins
