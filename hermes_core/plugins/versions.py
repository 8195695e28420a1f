"""Whether a version is one that a plugin asks for."""

from __future__ import annotations

HERMES = "0.19.0"
"""The version of the original host whose plugins run here; what ``requires_hermes`` is held against."""


def fits(version: str, clauses: str) -> bool:
    """Whether ``version`` satisfies every clause; what cannot be read as a version or a clause refuses nothing.

    Args:
        version: Such as ``1.2.0``.
        clauses: Such as ``>=1.0,<2``; a bare version means at least that one.

    Example:
        >>> [fits("1.2.0", clauses) for clauses in (">=1.0,<2", "1.3", "", "the newest")]
        [True, False, True, True]
    """
    from packaging.specifiers import InvalidSpecifier, SpecifierSet
    from packaging.version import InvalidVersion

    parts = [part.strip() for part in clauses.split(",") if part.strip()]
    try:
        return all(SpecifierSet(part if part[0] in "<>=!~" else f">={part}").contains(version, True) for part in parts)
    except (InvalidSpecifier, InvalidVersion):
        return True
