"""The contract suite for provider profiles: what it lets pass, and that each of its tests can fail."""

import unittest

import pytest

from hermes_core import OMIT_TEMPERATURE, ProviderProfile
from hermes_core.testing import ProviderContract

SOUND = {
    "base_url": "https://api.acme.test/v1",
    "env_vars": ("ACME_API_KEY", "ACME_BASE_URL"),
    "fallback_models": ("acme-1",),
}


class Sound(ProviderProfile):
    """A profile whose hooks do as they should."""

    def prepare_messages(self, messages):
        return [{**message, "seen": True} for message in messages]

    def build_extra_body(self, *, session_id=None, **context):
        return {"conversation": session_id} if session_id else {}


class ChangesMessages(ProviderProfile):
    def prepare_messages(self, messages):
        for message in messages:
            message["seen"] = True
        return messages


class ChangesTheConfig(ProviderProfile):
    def build_api_kwargs_extras(self, *, reasoning_config=None, **context):
        if reasoning_config:
            reasoning_config["mine"] = True
        return {}, {}


class KeepsWhatItGave(ProviderProfile):
    gave: dict = {"thinking": {"type": "enabled"}}  # noqa: RUF012 - the fault

    def build_extra_body(self, **context):
        return self.gave


class GivesItsOwnAgain(ProviderProfile):
    part: dict = {"type": "enabled"}  # noqa: RUF012 - the fault

    def build_api_kwargs_extras(self, **context):
        return {"thinking": self.part}, {}


class KnowsItsKeywordsOnly(ProviderProfile):
    def build_extra_body(self, *, session_id=None, model=""):
        return {}


class CannotTakeNone(ProviderProfile):
    def build_api_kwargs_extras(self, *, reasoning_config=None, **context):
        return {}, {"effort": reasoning_config["effort"]}


class GivesOneMapping(ProviderProfile):
    def build_api_kwargs_extras(self, **context):
        return {"effort": "high"}


class GivesAnObject(ProviderProfile):
    def build_extra_body(self, **context):
        return {"at": object()}


class GivesNoNumber(ProviderProfile):
    def build_extra_body(self, **context):
        return {"top": float("nan")}


class ListRaises(ProviderProfile):
    def fetch_models(self, *, api_key=None, base_url=None, timeout=8.0):
        raise OSError("no network")


class ListsNumbers(ProviderProfile):
    def fetch_models(self, *, api_key=None, base_url=None, timeout=8.0):
        return [1, 2]


class Elsewhere(ProviderProfile):
    def get_hostname(self):
        return "https://api.acme.test"


class HoldsALock(ProviderProfile):
    def __init__(self, *args, **keywords):
        import threading

        super().__init__(*args, **keywords)
        self.lock = threading.Lock()


class ShoutsItsKey(ProviderProfile):
    def build_extra_body(self, **context):
        return {"key": "k-of-the-contract-suite"}


class SendsATemperature(ProviderProfile):
    def build_api_kwargs_extras(self, **context):
        return {}, {"temperature": 1.9}


class HasNoLimit(ProviderProfile):
    def get_max_tokens(self, model):
        return 0


class HasNoAddress(ProviderProfile):
    def get_base_url(self, base_url, **context):
        return None


class GoesUnencrypted(ProviderProfile):
    def get_base_url(self, base_url, **context):
        return "http://api.acme.test/v1"


class HasNoFormat(ProviderProfile):
    def get_api_mode(self, model, base_url=""):
        return None


class WantsAWord(ProviderProfile):
    def get_reasoning(self, model, reasoning_config):
        return "high"


class WantsLess(ProviderProfile):
    def get_reasoning(self, model, reasoning_config):
        reasoning_config["effort"] = "low"
        return reasoning_config


class PicksAnything(ProviderProfile):
    def pick_models(self, items):
        return items


FAULTS = {
    "no address from the hook": (HasNoAddress, {}, "hooks_of_address_and_effort_give_what_they_may"),
    "an address without TLS from the hook": (
        GoesUnencrypted, {}, "hooks_of_address_and_effort_give_what_they_may",
    ),
    "no wire format": (HasNoFormat, {}, "hooks_of_address_and_effort_give_what_they_may"),
    "an effort that is a word": (WantsAWord, {}, "hooks_of_address_and_effort_give_what_they_may"),
    "an effort that is changed": (WantsLess, {}, "hooks_of_address_and_effort_give_what_they_may"),
    "odd models": (PicksAnything, {}, "hooks_of_address_and_effort_give_what_they_may"),
    "a name in capitals": (ProviderProfile, {"name": "Acme"}, "names_are_well_formed"),
    "a name with a blank": (ProviderProfile, {"name": "acme ai"}, "names_are_well_formed"),
    "an alias that is the name": (ProviderProfile, {"aliases": ("acme",)}, "names_are_well_formed"),
    "an address without TLS": (ProviderProfile, {"base_url": "http://acme.test/v1"}, "base_url_is_a_safe_address"),
    "no address": (ProviderProfile, {"base_url": "api.acme.test"}, "base_url_is_a_safe_address"),
    "a login in the address": (ProviderProfile, {"base_url": "https://u:p@acme.test"}, "base_url_is_a_safe_address"),
    "a slash at the end": (ProviderProfile, {"base_url": "https://acme.test/v1/"}, "base_url_is_a_safe_address"),
    "the path of a request": (
        ProviderProfile, {"base_url": "https://acme.test/v1/chat/completions"}, "base_url_is_a_safe_address",
    ),
    "a list without TLS": (ProviderProfile, {"models_url": "http://acme.test/models"}, "base_url_is_a_safe_address"),
    "another host": (ProviderProfile, {"hostname": "acme.test"}, "hostname_agrees_with_base_url"),
    "an address for a host": (Elsewhere, {}, "hostname_agrees_with_base_url"),
    "a key for a variable": (ProviderProfile, {"env_vars": ("sk-12345",)}, "env_vars_are_names_of_variables"),
    "a variable twice": (ProviderProfile, {"env_vars": ("A_KEY", "A_KEY")}, "env_vars_are_names_of_variables"),
    "an empty model": (ProviderProfile, {"fallback_models": ("",)}, "models_are_names"),
    "a model twice": (ProviderProfile, {"fallback_models": ("a", "a")}, "models_are_names"),
    "a limit of nothing": (HasNoLimit, {}, "models_are_names"),
    "a key in a header": (
        ProviderProfile, {"default_headers": {"Authorization": "Bearer k"}}, "headers_can_be_sent_and_hold_no_secret",
    ),
    "a secret in a header": (
        ProviderProfile,
        {"default_headers": {"X-Acme": "sk-proj-abcdefghijklmnopqrstuvwxyz012345"}},
        "headers_can_be_sent_and_hold_no_secret",
    ),
    "a header in Chinese": (
        ProviderProfile, {"default_headers": {"X-Acme": "汉"}}, "headers_can_be_sent_and_hold_no_secret",
    ),
    "a header of two lines": (
        ProviderProfile, {"default_headers": {"X-Acme": "a\nb"}}, "headers_can_be_sent_and_hold_no_secret",
    ),
    "a header that is a number": (
        ProviderProfile, {"default_headers": {"X-Acme": 5}}, "headers_can_be_sent_and_hold_no_secret",
    ),
    "a temperature that is true": (ProviderProfile, {"fixed_temperature": True}, "temperature_has_three_states"),
    "a temperature of three": (ProviderProfile, {"fixed_temperature": 3}, "temperature_has_three_states"),
    "a temperature of its own": (
        SendsATemperature, {"fixed_temperature": OMIT_TEMPERATURE}, "temperature_has_three_states",
    ),
    "images, and none from users": (
        ProviderProfile, {"supports_vision": True, "supports_vision_user_messages": False}, "vision_flags_agree",
    ),
    "a flag that is text": (ProviderProfile, {"supports_vision": "yes"}, "vision_flags_agree"),
    "a closed list of keywords": (KnowsItsKeywordsOnly, {}, "hooks_tolerate_what_they_do_not_know"),
    "no config": (CannotTakeNone, {}, "hooks_tolerate_what_they_do_not_know"),
    "one mapping": (GivesOneMapping, {}, "hooks_tolerate_what_they_do_not_know"),
    "messages that change": (ChangesMessages, {}, "hooks_leave_alone_what_they_are_given"),
    "a config that changes": (ChangesTheConfig, {}, "hooks_leave_alone_what_they_are_given"),
    "a body that is kept": (KeepsWhatItGave, {}, "hooks_leave_alone_what_they_are_given"),
    "a part that is kept": (GivesItsOwnAgain, {}, "hooks_leave_alone_what_they_are_given"),
    "an object in a body": (GivesAnObject, {}, "bodies_are_json"),
    "a number that JSON has not": (GivesNoNumber, {}, "bodies_are_json"),
    "a lock": (HoldsALock, {}, "profile_can_be_copied"),
    "a list that raises": (ListRaises, {}, "fetch_models_gives_ids_or_none"),
    "a list of numbers": (ListsNumbers, {}, "fetch_models_gives_ids_or_none"),
    "a key in the body": (ShoutsItsKey, {}, "a_call_goes_there_and_back"),
    "a wire that is not there": (ProviderProfile, {"api_mode": "morse"}, "a_call_goes_there_and_back"),
}  # fmt: skip
TESTS = sorted(name for name in vars(ProviderContract) if name.startswith("test_"))


def suite(profile):
    """The contract, about a profile."""
    tests = ProviderContract()
    tests.profile = profile
    return tests


@pytest.mark.parametrize("test", TESTS)
def test_a_sound_profile_passes(test):
    """A profile with hooks that do as they should passes every test."""
    getattr(suite(Sound("acme", **SOUND)), test)()


@pytest.mark.parametrize(("kind", "fields", "test"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_found(kind, fields, test):
    """Each fault fails the test that is about it."""
    profile = kind(**{"name": "acme", **SOUND, **fields})
    with pytest.raises(Exception):  # noqa: B017, PT011 - what a hook raises is a failure too
        getattr(suite(profile), f"test_{test}")()


def test_every_test_of_the_contract_can_fail():
    """There is a fault for each test."""
    assert {f"test_{test}" for _, _, test in FAULTS.values()} == {*TESTS}


def test_a_key_that_was_pasted_is_not_shown():
    """What stands where a variable's name should be may be a secret, so the message counts it only."""
    with pytest.raises(AssertionError, match=r"env_vars\[0\]") as error:
        suite(ProviderProfile("acme", env_vars=("sk-12345",))).test_env_vars_are_names_of_variables()
    assert "12345" not in str(error.value)


def test_unittest_runs_it_too():
    """The suite is a test case of the standard library as well, so pytest is not needed."""

    class TestAcme(ProviderContract, unittest.TestCase):
        profile = Sound("acme", **SOUND)

    found = unittest.defaultTestLoader.loadTestsFromTestCase(TestAcme)
    result = unittest.TestResult()
    found.run(result)
    assert (result.testsRun, result.failures, result.errors) == (len(TESTS), [], [])


def test_pytest_is_not_imported_for_it(run_python):
    """Importing the suite imports no pytest."""
    script = "import sys; from hermes_core.testing import ProviderContract; print('pytest' in sys.modules)"
    assert run_python(script).stdout == "False\n"
