"""The contract between the host and its plugins; needs pluggy alone.

A plugin is a module, or any object, with functions marked ``@hookimpl`` and named like a hook below.
Every argument is optional: leave out of your signature what you do not need.
"""

from hermes_hookspecs.llm import LlmSpecs
from hermes_hookspecs.markers import PROJECT, hookimpl, hookspec
from hermes_hookspecs.notices import NoticeSpecs
from hermes_hookspecs.offers import OfferSpecs

SPECS = (OfferSpecs, LlmSpecs, NoticeSpecs)

__all__ = ["PROJECT", "SPECS", "LlmSpecs", "NoticeSpecs", "OfferSpecs", "hookimpl", "hookspec"]
