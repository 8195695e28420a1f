"""Names and aliases → profiles; who claims a name, who wins it, and why."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from hermes_core.config.redact import redact, register_secrets_in
from hermes_core.errors import ConfigError, describe
from hermes_core.plugins.context import is_profile
from hermes_core.plugins.manifest import PROFILES
from hermes_core.plugins.order import PLAIN, call_position
from hermes_core.providers.claims import Claim, Claimed, Verdict, as_word, configured_claims, verdict_on
from hermes_core.providers.foreign import completed, copied
from hermes_core.providers.profile import ProviderProfile
from hermes_core.providers.row import ProviderRow

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from hermes_core.config.providers import ProviderEntry
    from hermes_core.plugins.plugin import Plugin
    from hermes_core.plugins.registry import PluginRegistry


_ROW_FIELDS = {key: value for key, value in ProviderRow("")._asdict().items() if key not in ("name", "plugin", "tier")}
"""What a row shows of a profile → what it shows where the profile says nothing."""

_TUPLES = ("aliases", "env_vars", "extra_hosts", "preset_for_word")
_MAY_HOLD_SECRETS = ("base_url", "models_url", "default_headers")


class ProviderCatalog:
    """The providers of one host.

    Looking up a declared provider imports its plugin alone. Plugins that do not declare what they
    offer are imported once, at the first lookup: any of them might claim the name. What the operator
    wrote into the configuration is a claim above all others.

    Args:
        registry: The plugins.
        entries: Gives what the configuration says of providers now; the same object until that changes.
        source: Gives the file that says it, for an entry's place.
    """

    def __init__(
        self,
        registry: PluginRegistry,
        entries: Callable[[], Sequence[ProviderEntry]] = tuple,
        source: Callable[[str], str] = str,
    ) -> None:
        self._registry = registry
        self._entries_now = entries
        self._source_of = source
        self._entries: Sequence[ProviderEntry] = ()
        self._entry_of: dict[str, ProviderEntry] = {}
        self._generation = -1
        self._held: dict[Plugin, Sequence[Claim]] = {}
        self._claims = Claimed()
        self._aliases = Claimed()
        self._profiles: dict[str, ProviderProfile | None] = {}
        self._rows: list[ProviderRow] | None = None
        self._declared: dict[Plugin, list[Claim]] = {}
        self._lost: WeakKeyDictionary[Plugin, dict[str, tuple[str, str]]] = WeakKeyDictionary()
        self._remembered: dict[Plugin, list[tuple[dict[str, Any], int]] | None] = {}

    @property
    def generation(self) -> int:
        """Another number once a plugin has been loaded, has offered something more, or has gone."""
        return self._registry.generation

    def get(self, name: object) -> ProviderProfile | None:
        """The profile that wins ``name``, an alias, or None; case and outer blanks do not count.

        None too when the configuration switches the provider off.
        """
        key = self.resolve(name)
        if not key or not self._is_on(key):
            return None
        with self._registry.lock:
            while key and key not in self._profiles:
                profile = self._first_working(self._claims[key])
                settled = self._generation == self._registry.generation
                key = self.resolve(name)  # loading a plugin may have brought new claims, and another winner
                if settled:
                    self._profiles[key] = profile
            return self._profiles.get(key)

    def resolve(self, name: object) -> str:
        """The canonical name that ``name`` leads to, or ``""``; a name beats an alias."""
        if not isinstance(name, str):
            return ""
        word = as_word(name)
        with self._registry.lock:
            self._refresh()
            return self._canonical(word)

    def names(self) -> list[str]:
        """Every canonical name, sorted, but for those that are switched off."""
        with self._registry.lock:
            self._refresh()
            return sorted(filter(self._is_on, self._claims))

    def words(self) -> list[str]:
        """Every name and alias."""
        return [*self.names(), *(alias for alias, claims in self._aliases.items() if self._is_on(claims[0].name))]

    def entry(self, name: object) -> ProviderEntry | None:
        """What the configuration says of the provider that ``name`` leads to; None when it says nothing."""
        with self._registry.lock:
            key = self.resolve(name)
            return self._entry_of.get(key)

    def __iter__(self) -> Iterator[ProviderRow]:
        """The winners, by name, as far as they can be told without importing them."""
        with self._registry.lock:
            self._refresh()
            if self._rows is None:
                self._rows = [self._row(self._claims[name]) for name in self.names()]
            return iter(self._rows)

    def tiers(self, name: str) -> set[str]:
        """The tiers whose plugins claim this canonical name."""
        with self._registry.lock:
            self._refresh()
            return {claim.plugin.tier for claim in self._claims.get(name, ())}

    def explain(self, name: str) -> list[Verdict]:
        """Every claim on a name, in call order: who wins, who is shadowed, who is off or failed.

        An empty list means that nobody claims it.
        """
        self.get(name)
        key = self.resolve(name) or as_word(name)
        verdicts: list[Verdict] = []
        winner: Plugin | None = None
        for claim in self._claims.get(key, ()):
            if winner is None:
                winner = claim.plugin
                off = "" if self._is_on(key) else f"{self._entry_of[key].place}.enabled is false"
                remedy = off and f"hermes config unset {self._entry_of[key].place}.enabled"
                verdicts.append(verdict_on(claim, "off" if off else "wins", off, remedy))
            else:
                verdicts.append(verdict_on(claim, "shadowed", f"by {winner.tier} plugin {winner.key}"))
        for plugin in reversed(self._registry.plugins):
            known = any(verdict.plugin == plugin.key and verdict.tier == plugin.tier for verdict in verdicts)
            if known:
                continue
            claim = Claim(name=key, plugin=plugin, position=call_position(plugin.rank))
            if key in self._lost.get(plugin, ()):
                verdicts.append(verdict_on(claim, "failed", *self._lost[plugin][key]))
            elif not plugin.is_active and _would_claim(plugin, key, self._learned(plugin) or ()):
                verdicts.append(verdict_on(claim, plugin.state, plugin.reason, plugin.remedy))
        return verdicts

    def _canonical(self, word: str) -> str:
        """The name claimed that a name or alias leads to, among the claims collected so far; else ``""``."""
        if word in self._claims:
            return word
        return self._aliases[word][0].name if word in self._aliases else ""

    def _refresh(self) -> None:
        """Take in what has changed, if a plugin has been loaded, has offered more, or has gone, since."""
        entries = self._entries_now()
        if self._generation == self._registry.generation and entries is self._entries:
            return
        for plugin in self._registry.plugins:
            manifest = plugin.manifest
            undeclared = plugin.is_untried and not manifest.profiles and manifest.may_answer(PROFILES)
            if undeclared and self._learned(plugin) is None:
                self._registry.load(plugin)
        self._generation = self._registry.generation
        self._profiles, self._rows = {}, None
        self._entries = entries
        held = dict(self._collect())  # which runs plugins' code, and with it other lookups
        before, self._held = self._held, held
        offered = {claim.name for claims in self._held.values() for claim in claims}
        configured = configured_claims(entries, offered, self._source_of)
        self._entry_of = {claim.name: entry for claim, entry in configured}
        self._held |= {claim.plugin: [claim] for claim, _ in configured}
        changed = [plugin for plugin in self._held if self._held[plugin] is not before.get(plugin)]
        changed += before.keys() - self._held.keys()
        for plugin in changed:
            self._claims.put(plugin, [(claim.name, claim) for claim in self._held.get(plugin, ())])
        for plugin in changed:
            self._aliases.put(plugin, self._aliases_of(plugin))
        self._registry.index.save()

    def _collect(self) -> Iterator[tuple[Plugin, Sequence[Claim]]]:
        """What each plugin claims, if anything; the same object as before while that is only told."""
        offered: dict[Plugin, list[Claim]] = {}
        for impl, profile in self._registry.items(PROFILES, is_profile, load=False):
            try:
                register_secrets_in({name: getattr(profile, name, None) for name in _MAY_HOLD_SECRETS})
                claim = Claim(as_word(profile.name), impl.plugin, impl.position, profile=profile)
                fields = self._fields(claim)
                _ = [str(word) for key in _TUPLES for word in fields.get(key) or ()]
            except Exception as error:  # noqa: BLE001 - plugin boundary: its members may be anything, or raise
                self._registry.blame(impl.plugin, PROFILES, error)
            else:
                offered.setdefault(impl.plugin, []).insert(0, claim)  # the last registered wins
        for plugin in self._registry.plugins:
            if plugin.state == "loaded" and not plugin.manifest.profiles:
                self._learn(plugin, offered.get(plugin, []))
            if plugin in offered:
                yield plugin, offered[plugin]
            elif plugin.is_active:
                told, lost = self._told(plugin), self._lost.get(plugin, ())
                kept = [claim for claim in told if claim.name not in lost] if lost else told
                if kept:
                    yield plugin, kept

    def _is_on(self, name: str) -> bool:
        """Whether the configuration leaves a provider on."""
        entry = self._entry_of.get(name)
        return entry is None or entry.enabled

    def _aliases_of(self, plugin: Plugin) -> list[tuple[str, Claim]]:
        found = []
        for claim in self._held.get(plugin, ()):
            told = claim.profile is None and "extends" not in claim.data
            fields = claim.data if told else self._fields(claim)
            found += [(as_word(alias), claim) for alias in fields.get("aliases") or ()]
            if plugin.tier == "config":
                found += [(word, claim) for word in self._entry_of[claim.name].names]
        return found

    def _told(self, plugin: Plugin) -> list[Claim]:
        """What a plugin claims by its manifest, or is known to claim from an earlier process."""
        if plugin in self._declared:
            return self._declared[plugin]
        declared = [(data, PLAIN) for data in plugin.manifest.profiles]
        told: Sequence[tuple[Mapping[str, Any], int]] = declared or self._learned(plugin) or []
        claims = [Claim(as_word(data["name"]), plugin, call_position(plugin.rank, band), data) for data, band in told]
        if not any("extends" in data for data, _ in told):  # else its aliases change with another's
            self._declared[plugin] = claims
        return claims

    def _learned(self, plugin: Plugin) -> list[tuple[dict[str, Any], int]] | None:
        """The profiles a plugin that declares none was found to offer, each with its band; None if never asked."""
        if plugin not in self._remembered:
            index, key = self._registry.index, plugin.identity
            known = index.knows("profiles", key)
            self._remembered[plugin] = (
                index.recall("profiles", key, plugin.code_stamps(), _told_profiles) if known else None
            )
        return self._remembered[plugin]

    def _learn(self, plugin: Plugin, claims: list[Claim]) -> None:
        """Remember what it offers, so that its names need no import the next time."""
        fields = [(self._fields(claim) | {"name": claim.name}, claim.position[0]) for claim in claims]
        try:
            told = _told_profiles(json.loads(json.dumps(fields, default=str)))
        except Exception:  # noqa: BLE001 - JSON cannot hold what a profile says, so it is asked anew each time
            return
        if plugin.identity and told != self._learned(plugin):
            self._registry.index.remember("profiles", plugin.identity, plugin.code_stamps(), told)
            self._remembered[plugin] = told

    def _first_working(self, claims: Sequence[Claim]) -> ProviderProfile | None:
        """The profile of the first claim that can keep what it claims."""
        for number, claim in enumerate(claims):
            if claim.name in self._lost.get(claim.plugin, ()):
                continue
            try:
                profile = self._build(claim, claims[number + 1 :])
            except Exception as error:  # noqa: BLE001 - plugin boundary: the next claim gets the name back
                self._lose(claim, error)
                continue
            if profile is not None:
                return profile
        return None

    def _lose(self, claim: Claim, error: Exception) -> None:
        """Note why a claim cannot be kept; a plugin that has no other has failed."""
        plugin = claim.plugin
        reason = redact(f"profile {claim.name!r}: {describe(error)}")
        remedy = getattr(error, "hint", "") or f"hermes plugins disable {plugin.key}"
        lost = self._lost.setdefault(plugin, {})
        lost[claim.name] = reason, remedy
        if all(other.name in lost for other in self._held.get(plugin, ())):
            plugin.state = "failed"
        plugin.reason, plugin.remedy = reason, remedy
        self._registry.changed()

    def _build(self, claim: Claim, below: Sequence[Claim]) -> ProviderProfile | None:
        if claim.profile is not None:
            return completed(claim.profile)
        if claim.plugin.is_data:
            return self._from_data(claim, below)
        if not self._registry.load(claim.plugin):
            return None
        for impl, profile in reversed([*self._registry.items(PROFILES, is_profile, load=False)]):
            if impl.plugin is claim.plugin and as_word(profile.name) == claim.name:
                return completed(profile)
        if not claim.plugin.manifest.profiles:  # it used to offer it; what it offers now is collected next
            return None
        if "base_url" in claim.data or "extends" in claim.data:  # the manifest says it all
            return self._from_data(claim, below)
        message = f"the manifest declares it, but the code does not offer it ({claim.plugin.source})"
        raise ConfigError(message, path=claim.plugin.source, key="profile", hint="offer it, or drop the profile: block")

    def _from_data(self, claim: Claim, below: Sequence[Claim]) -> ProviderProfile:
        """A profile from a manifest's block alone, on top of the one it extends."""
        data = dict(claim.data)
        base_name = data.pop("extends", None)
        if base_name is None:
            return ProviderProfile(**data)
        base = self._base(str(base_name), claim, below)
        if base is None:
            message = f"{claim.plugin.source}: profile.extends names {base_name!r}, which no plugin below it offers"
            raise ConfigError(message, path=claim.plugin.source, key="profile.extends", hint="hermes providers list")
        profile = copied(base)
        if claim.name != base.name.lower():
            profile.aliases = ()
        if "base_url" in data and "hostname" not in data:
            profile.hostname = profile.models_url = ""
        for key, value in ProviderProfile(**data).__dict__.items():
            if key in data:
                setattr(profile, key, value)
        return profile

    def _base(self, name: str, claim: Claim, below: Sequence[Claim]) -> ProviderProfile | None:
        """What ``name`` resolves to without this claim's plugin and those above it."""
        key = self._canonical(as_word(name))
        if key == claim.name:
            return self._first_working(below)
        return self._first_working([other for other in self._claims.get(key, ()) if other.position > claim.position])

    def _fields(self, claim: Claim) -> dict[str, Any]:
        """A claim's row fields, those it extends included, without importing anything."""
        if claim.profile is not None:
            said = {key: getattr(claim.profile, key, usual) for key, usual in _ROW_FIELDS.items()}
            return {key: value for key, value in said.items() if value != _ROW_FIELDS[key]}
        data = claim.data
        base = data.get("extends")
        found: dict[str, Any] = {"aliases": ()}
        if base is not None:
            key = self._canonical(as_word(base))
            for other in self._claims.get(key, ()):
                if other.position > claim.position:
                    found = self._fields(other)
                    if key != claim.name:
                        found["aliases"] = ()
                    break
        found.update({key: value for key, value in data.items() if key in _ROW_FIELDS})
        return found

    def _row(self, claims: Sequence[Claim]) -> ProviderRow:
        claim = next((claim for claim in claims if claim.plugin.is_active), claims[0])
        found = self._fields(claim)
        for key in _TUPLES:
            if key in found:
                found[key] = tuple(map(str, found[key] or ()))
        found["name"], found["plugin"], found["tier"] = claim.name, claim.plugin.key, claim.plugin.tier
        return ProviderRow(**found)


def _told_profiles(held: list[Any]) -> list[tuple[dict[str, Any], int]]:
    """What the index holds of a plugin's profiles."""
    return [({**data, "name": str(data["name"])}, int(band)) for data, band in held]


def _would_claim(plugin: Plugin, name: str, learned: Sequence[tuple[Mapping[str, Any], int]]) -> bool:
    told = [*plugin.manifest.profiles, *(data for data, _ in learned)]
    return name in (
        {as_word(data["name"]) for data in told} or ({plugin.name.lower()} if plugin.kind == "model-provider" else ())
    )
