"""Classes in place of a JSON schema: dataclasses, TypedDicts and pydantic models, and what comes back."""

from __future__ import annotations

import datetime as dt
import enum
import json
import typing
from collections.abc import Collection, Iterable, Mapping, MutableMapping, MutableSequence, MutableSet, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import KW_ONLY, InitVar, dataclass, field, make_dataclass
from typing import IO, Annotated, Any, ClassVar, Final, Generic, Literal, NewType, NotRequired, Required, TypedDict
from uuid import UUID

import pydantic
import pytest
import typing_extensions
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_core import StructuredOutputError
from hermes_core.llm.structured import check_schema, violations
from hermes_core.llm.typed import wanted

T = typing.TypeVar("T")
Urgency = NewType("Urgency", float)
Words = typing_extensions.TypeAliasType("Words", list[str])


class Colour(enum.Enum):
    """Of a thing."""

    RED = "red"
    BLUE = "blue"
    CRIMSON = "red"  # noqa: PIE796 - an alias


class Size(enum.IntEnum):
    SMALL = 1
    LARGE = 2


class Mixed(enum.Enum):
    NONE = None
    ONE = 1
    YES = "yes"


@dataclass
class Point:
    """A place on the map.

    The rest of what its author has to say.
    """

    x: float
    y: float = 0.0


@dataclass
class Circle:
    radius: float
    centre: Point | None = None


@dataclass
class Anything:
    note: str = ""


class Person(TypedDict):
    name: str
    born: NotRequired[dt.date]


class Loose(TypedDict, total=False):
    id: Required[int]
    point: Annotated[Required[Point], "where"]
    tag: str


class Employee(Person, total=False):
    salary: int


@dataclass
class Tree:
    value: int
    left: Tree | None = None
    right: Tree | None = None


@dataclass
class Ping:
    pong: Pong | None = None


@dataclass
class Pong:
    ping: Ping | None = None


@dataclass
class Base:
    a: int
    kind: ClassVar[str] = "base"


@dataclass
class Derived(Base):
    a: Annotated[int, "narrowed"]
    b: str = "b"
    cached: int = field(default=3, init=False)


@dataclass
class Shadowing:
    """A field that is called like its type, and has a default."""

    Point: Point | None = None


@dataclass(frozen=True, slots=True)
class Frozen:
    _: KW_ONLY
    tags: frozenset[str] = frozenset()


class Model(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(strict=True)

    day: dt.date
    point: Point
    number: int = pydantic.Field(1, alias="no", ge=0)


def one(hint: object) -> type:
    """A dataclass with one field of this type."""
    made = make_dataclass("One", [("field", hint)])
    made.__module__ = __name__
    return made


def field_schema(cls: type) -> dict:
    """The schema of its one field."""
    return wanted(cls).schema["properties"]["field"]


TYPES = {
    "str": (str, {"type": "string"}, "a", "a"),
    "bool": (bool, {"type": "boolean"}, True, True),
    "int": (int, {"type": "integer"}, 3, 3),
    "int-written-1.0": (int, {"type": "integer"}, 1.0, 1),
    "float-written-1": (float, {"type": "number"}, 1, 1.0),
    "none": (None, {"type": "null"}, None, None),
    "any": (Any, {}, {"a": [1]}, {"a": [1]}),
    "object": (object, {}, [1], [1]),
    "date": (dt.date, {"type": "string", "format": "date"}, "2026-02-28", dt.date(2026, 2, 28)),
    "datetime": (
        dt.datetime,
        {"type": "string", "format": "date-time"},
        "2026-02-28T12:00:00Z",
        dt.datetime(2026, 2, 28, 12, tzinfo=dt.UTC),
    ),
    "time": (dt.time, {"type": "string", "format": "time"}, "12:30:00", dt.time(12, 30)),
    "uuid": (
        UUID,
        {"type": "string", "format": "uuid"},
        "00000000-0000-0000-0000-000000000001",
        UUID(int=1),
    ),
    "optional": (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}, None, None),
    "typing-optional": (typing.Optional[str], {"anyOf": [{"type": "string"}, {"type": "null"}]}, "a", "a"),  # noqa: UP045
    "union-of-scalars": (int | str, {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "5", "5"),
    "union-whose-first-fits": (int | float, {"anyOf": [{"type": "integer"}, {"type": "number"}]}, 2, 2),
    "union-whose-second-fits": (int | float, {"anyOf": [{"type": "integer"}, {"type": "number"}]}, 2.5, 2.5),
    "literal-of-one-type": (Literal["a", "b"], {"type": "string", "enum": ["a", "b"]}, "b", "b"),
    "literal-of-several": (Literal["a", 1, None], {"enum": ["a", 1, None]}, None, None),  # noqa: PYI061
    "literal-of-a-member": (Literal[Colour.RED, "x"], {"type": "string", "enum": ["red", "x"]}, "red", Colour.RED),
    "enum": (Colour, {"type": "string", "enum": ["red", "blue"]}, "blue", Colour.BLUE),
    "int-enum": (Size, {"type": "integer", "enum": [1, 2]}, 2, Size.LARGE),
    "enum-of-several-types": (Mixed, {"enum": [None, 1, "yes"]}, "yes", Mixed.YES),
    "list": (list[int], {"type": "array", "items": {"type": "integer"}}, [1.0, 2], [1, 2]),
    "bare-list": (list, {"type": "array"}, [1, "a"], [1, "a"]),
    "typing-list": (typing.List[str], {"type": "array", "items": {"type": "string"}}, ["a"], ["a"]),  # noqa: UP006
    "sequence": (Sequence[str], {"type": "array", "items": {"type": "string"}}, ["a"], ["a"]),
    "mutable-sequence": (MutableSequence[str], {"type": "array", "items": {"type": "string"}}, ["a"], ["a"]),
    "collection": (Collection[str], {"type": "array", "items": {"type": "string"}}, ["a"], ["a"]),
    "iterable": (Iterable[str], {"type": "array", "items": {"type": "string"}}, ["a"], ["a"]),
    "set": (set[str], {"type": "array", "items": {"type": "string"}}, ["a", "a"], {"a"}),
    "mutable-set": (MutableSet[str], {"type": "array", "items": {"type": "string"}}, ["a"], {"a"}),
    "frozenset": (frozenset[int], {"type": "array", "items": {"type": "integer"}}, [1], frozenset({1})),
    "abstract-set": (AbstractSet[int], {"type": "array", "items": {"type": "integer"}}, [1], frozenset({1})),
    "tuple-of-any-length": (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}, [1, 2], (1, 2)),
    "tuple-of-two": (
        tuple[int, str],
        {"type": "array", "minItems": 2, "maxItems": 2, "prefixItems": [{"type": "integer"}, {"type": "string"}]},
        [1, "a"],
        (1, "a"),
    ),
    "bare-tuple": (tuple, {"type": "array"}, [1], (1,)),
    "dict": (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}, {"a": 1}, {"a": 1}),
    "bare-dict": (dict, {"type": "object"}, {"a": 1}, {"a": 1}),
    "dict-of-any": (dict[str, Any], {"type": "object"}, {"a": None}, {"a": None}),
    "mapping": (Mapping[str, str], {"type": "object", "additionalProperties": {"type": "string"}}, {}, {}),
    "mutable-mapping": (MutableMapping[str, Any], {"type": "object"}, {}, {}),
    "new-type": (Urgency, {"type": "number"}, 1, 1.0),
    "type-alias": (Words, {"type": "array", "items": {"type": "string"}}, ["a"], ["a"]),
    "final": (Final[int], {"type": "integer"}, 1, 1),
    "described": (Annotated[str, "ISO date"], {"type": "string", "description": "ISO date"}, "", ""),
    "with-keywords": (Annotated[float, {"maximum": 1}], {"type": "number", "maximum": 1}, 1, 1.0),
    "with-notes-for-others": (Annotated[int, object(), "n", 5], {"type": "integer", "description": "n"}, 1, 1),
    "described-items": (
        list[Annotated[int, {"minimum": 0}]],
        {"type": "array", "items": {"type": "integer", "minimum": 0}},
        [1],
        [1],
    ),
    "dataclass": (Point, {"$ref": "#/$defs/Point"}, {"x": 1}, Point(1.0)),
    "typed-dict": (Person, {"$ref": "#/$defs/Person"}, {"name": "Ann"}, {"name": "Ann"}),
    "dataclasses-in-a-list": (
        list[Point],
        {"type": "array", "items": {"$ref": "#/$defs/Point"}},
        [{"x": 1}],
        [Point(1)],
    ),
    "dataclasses-in-a-dict": (
        dict[str, Point],
        {"type": "object", "additionalProperties": {"$ref": "#/$defs/Point"}},
        {"a": {"x": 1}},
        {"a": Point(1)},
    ),
    "dataclass-in-a-tuple": (
        tuple[Point, int],
        {
            "type": "array",
            "minItems": 2,
            "maxItems": 2,
            "prefixItems": [{"$ref": "#/$defs/Point"}, {"type": "integer"}],
        },
        [{"x": 1}, 2],
        (Point(1), 2),
    ),
    "optional-dataclass": (Point | None, {"anyOf": [{"$ref": "#/$defs/Point"}, {"type": "null"}]}, {"x": 1}, Point(1)),
    "union-of-dataclasses": (
        Point | Circle,
        {"anyOf": [{"$ref": "#/$defs/Point"}, {"$ref": "#/$defs/Circle"}]},
        {"radius": 2},
        Circle(2),
    ),
    "union-whose-every-member-fits": (
        Anything | Circle,
        {"anyOf": [{"$ref": "#/$defs/Anything"}, {"$ref": "#/$defs/Circle"}]},
        {"radius": 2},
        Circle(2),
    ),
    "union-of-a-class-and-a-list": (
        Point | list[Point] | None,
        {"anyOf": [{"$ref": "#/$defs/Point"}, {"type": "array", "items": {"$ref": "#/$defs/Point"}}, {"type": "null"}]},
        [{"x": 1}],
        [Point(1)],
    ),
}  # fmt: skip


def rows(table: dict) -> list:
    """A table's rows, by the words that are their id."""
    return [pytest.param(*(row if isinstance(row, tuple) else (row,)), id=name) for name, row in table.items()]


@pytest.mark.parametrize(("hint", "schema", "value", "made"), rows(TYPES))
def test_a_field_of_any_kind_has_a_schema_and_a_value(hint, schema, value, made):
    """A type is described in JSON Schema; a value that matches is made into one of the type."""
    cls = one(hint)
    assert field_schema(cls) == schema
    check_schema("complete_structured", wanted(cls).schema)
    assert violations({"field": value}, wanted(cls).schema) == []
    instance, problems = wanted(cls).convert({"field": value})
    assert (instance, problems) == (cls(made), [])
    assert type(instance.field) is type(made)


CLASSES = {
    "a-dataclass-with-a-default": (Point, ["x"], {"x": 1, "y": 2}, Point(1.0, 2.0)),
    "a-default-that-is-left-out": (Point, ["x"], {"x": 1}, Point(1.0)),
    "a-field-it-does-not-know": (Point, ["x"], {"x": 1, "z": 3}, Point(1.0)),
    "a-nested-dataclass": (
        Circle, ["radius"], {"radius": 1, "centre": {"x": 2, "y": 3}}, Circle(1.0, Point(2.0, 3.0)),
    ),
    "a-tree": (Tree, ["value"], {"value": 1, "left": {"value": 2}}, Tree(1, Tree(2))),
    "two-that-mention-each-other": (Ping, [], {"pong": {"ping": {}}}, Ping(Pong(Ping()))),
    "inherited-fields": (Derived, ["a"], {"a": 1, "cached": 9}, Derived(1)),
    "a-field-called-like-its-type": (Shadowing, [], {"Point": {"x": 1}}, Shadowing(Point(1.0))),
    "frozen-with-slots": (Frozen, [], {"tags": ["a"]}, Frozen(tags=frozenset({"a"}))),
    "a-typed-dict": (
        Person, ["name"], {"name": "Ann", "born": "2000-01-02"}, {"name": "Ann", "born": dt.date(2000, 1, 2)},
    ),
    "a-typed-dict-with-required-keys": (
        Loose, ["id", "point"], {"id": 1, "point": {"x": 1}, "more": 2}, {"id": 1, "point": Point(1.0)},
    ),
    "an-inherited-typed-dict": (Employee, ["name"], {"name": "Ann", "salary": 5}, {"name": "Ann", "salary": 5}),
    "a-typed-dict-of-typing-extensions": (
        typing_extensions.TypedDict("Late", {"in": int, "out": typing_extensions.NotRequired[int]}),
        ["in"], {"in": 1}, {"in": 1},
    ),
}  # fmt: skip


@pytest.mark.parametrize(("cls", "required", "value", "made"), rows(CLASSES))
def test_a_class_is_an_object_with_its_fields(cls, required, value, made):
    """The root is an object; fields without a default are required; a value that matches becomes an instance."""
    schema = wanted(cls).schema
    assert (schema["type"], schema["required"]) == ("object", required)
    assert violations(value, schema) == []
    assert wanted(cls).convert(value) == (made, [])


def test_what_a_class_says_about_itself_is_in_the_schema():
    """The first paragraph of a docstring, notes and short defaults tell the model what is meant."""
    schema = wanted(Circle).schema
    assert "description" not in schema
    assert schema["$defs"]["Point"]["description"] == "A place on the map."
    assert schema["$defs"]["Point"]["properties"]["y"] == {"type": "number", "default": 0.0}
    assert schema["properties"]["centre"]["default"] is None
    assert wanted(Loose).schema["properties"]["point"] == {"$ref": "#/$defs/Point", "description": "where"}


def test_a_default_that_is_an_enum_member_is_its_value():
    """A default is written as the JSON value that stands for it; one that is no short value is left out."""
    cls = make_dataclass("C", [("a", Colour, Colour.RED), ("b", list, field(default_factory=list))])
    assert wanted(cls).schema["properties"] == {
        "a": {"type": "string", "enum": ["red", "blue"], "default": "red"},
        "b": {"type": "array"},
    }


def test_classes_of_one_name_are_kept_apart():
    """Two nested classes with the same name are described each on its own."""
    first = make_dataclass("Same", [("a", int)])
    second = make_dataclass("Same", [("b", int)])
    outer = make_dataclass("Outer", [("one", first), ("two", second)])
    assert wanted(outer).convert({"one": {"a": 1}, "two": {"b": 2}}) == (outer(first(1), second(2)), [])
    assert [*wanted(outer).schema["$defs"]] == ["Same", "Same-2"]


def test_a_class_inside_a_function_may_mention_itself():
    """A local class whose own name is a forward reference is found, before one of that name in the module."""

    @dataclass
    class Tree:
        leaves: list[Tree]

    assert wanted(Tree).convert({"leaves": [{"leaves": []}]}) == (Tree([Tree([])]), [])


PLUGIN = '''
import dataclasses, enum, typing


@dataclasses.dataclass
class Ticket:
    """A support ticket."""

    urgency: typing.Annotated[float, "0 to 1", {"minimum": 0, "maximum": 1}]
    category: "Category"
    parts: "list[Part]" = dataclasses.field(default_factory=list)


class Category(enum.Enum):
    BUG = "bug"
    QUESTION = "question"


class Part(typing.TypedDict, total=False):
    name: "typing.Required[str]"
    ticket: "Ticket"


def register(ctx):
    def triage(text):
        result = ctx.llm.complete_structured(
            instructions="Sort it.", input=[{"type": "text", "text": text}], json_schema=Ticket
        )
        return repr(result.parsed)

    ctx.register_command("triage", triage)
'''


@pytest.mark.parametrize("first", ["", "from __future__ import annotations"], ids=["at-once", "postponed"])
def test_a_plugins_own_classes_work(lane, first):
    """Classes of a plugin's module, mentioned before they are written, work with annotations of either kind."""
    lane.write("plugins/triage/__init__.py", first + PLUGIN)
    lane.write("plugins/triage/plugin.yaml", "name: triage")
    lane.server.answer('{"urgency": 1, "category": "bug", "parts": [{"name": "a"}]}')
    said = lane.host({"plugins": {"enabled": ["triage"]}}).run_command("triage", "It burns.")
    assert said == "Ticket(urgency=1.0, category=<Category.BUG: 'bug'>, parts=[{'name': 'a'}])"


def test_an_instance_is_parsed(way, lane):
    """``parsed`` is an instance of the class; the text stays what the model said."""
    lane.server.answer('```json\n{"radius": 2, "centre": {"x": 1}}\n```')
    result = way.structured(lane.llm(), json_schema=Circle)
    assert (result.parsed, result.content_type) == (Circle(2.0, Point(1.0)), "json")
    assert result.text.startswith("```json")


def test_the_provider_is_asked_for_the_schema(way, lane):
    """The schema of the class goes where any other would: into ``response_format`` and the prompt."""
    lane.server.answer('{"radius": 2}')
    way.structured(lane.llm(), json_schema=Circle, schema_name="circle")
    (body,) = lane.server.bodies
    assert body["response_format"]["json_schema"] == {
        "name": "circle",
        "schema": wanted(Circle).schema,
        "strict": False,
    }
    assert json.dumps(wanted(Circle).schema, sort_keys=True) in body["messages"][-1]["content"]


@pytest.mark.parametrize("cls", [Circle, Person, Model], ids=["dataclass", "typed-dict", "pydantic-model"])
def test_an_answer_that_is_no_json_is_text(way, lane, cls):
    """Without JSON there is no instance: ``parsed`` is None, and the text is all there."""
    lane.server.answer("I cannot do that.")
    result = way.structured(lane.llm(), json_schema=cls)
    assert (result.parsed, result.content_type, result.text) == (None, "text", "I cannot do that.")


@pytest.mark.parametrize(
    ("cls", "text", "error"),
    [
        pytest.param(Circle, '{"radius": "wide"}', "$.radius: 'wide' is not of type 'number'", id="dataclass"),
        pytest.param(Circle, "{}", "$: 'radius' is a required property", id="dataclass-without-a-field"),
        pytest.param(Person, '{"name": 5}', "$.name: 5 is not of type 'string'", id="typed-dict"),
        pytest.param(
            Person,
            '{"name": "Ann", "born": "2026-02-31"}',
            "Person.born: ValueError: day is out of range for month",
            id="a-date-that-never-was",
        ),
        pytest.param(Point, '{"x": 1' + "0" * 400 + "}", "Point.x: OverflowError:", id="a-number-no-float-holds"),
        pytest.param(Model, '{"day": "2026-02-31", "point": {"x": 1}}', "$.day: Input should be", id="pydantic-model"),
        pytest.param(Model, '{"day": "2026-02-28", "point": {"x": "a"}}', "$.point.x: Input", id="inside-a-model"),
    ],
)
def test_an_answer_that_does_not_fit_raises_with_everything(way, lane, cls, text, error):
    """JSON that is no instance is a StructuredOutputError; its result holds the value and the text."""
    lane.server.answer(text)
    with pytest.raises(StructuredOutputError, match=f"^{way.structured_name}: the answer did not match") as caught:
        way.structured(lane.llm(), json_schema=cls)
    assert caught.value.errors[0].startswith(error)
    assert (caught.value.result.parsed, caught.value.result.text) == (json.loads(text), text)


@dataclass
class Checked:
    """A class that looks at what it is given."""

    even: int
    inner: Checked | None = None

    def __post_init__(self) -> None:
        if self.even == 13:
            message = "a mistake in the class itself"
            raise AttributeError(message)
        if self.even % 2:
            message = f"{self.even} is odd"
            raise ValueError(message)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('{"even": 3}', "Checked: ValueError: 3 is odd"),
        ('{"even": 2, "inner": {"even": 5}}', "Checked.inner: ValueError: 5 is odd"),
    ],
    ids=["at-the-root", "deeper"],
)
def test_a_class_may_refuse_an_answer(way, lane, text, error):
    """A ValueError of the class's own is a violation like any other, with its place."""
    lane.server.answer(text)
    with pytest.raises(StructuredOutputError) as caught:
        way.structured(lane.llm(), json_schema=Checked)
    assert caught.value.errors == (error,)


def test_a_mistake_in_a_class_goes_through(way, lane):
    """What the class raises beside refusing is the plugin's own, and is not dressed up."""
    lane.server.answer('{"even": 13}')
    with pytest.raises(AttributeError, match="a mistake in the class itself"):
        way.structured(lane.llm(), json_schema=Checked)


class Gentle(pydantic.BaseModel):
    """A model that takes more than its schema says."""

    level: int
    word: str = "x"

    @pydantic.field_validator("word", mode="before")
    @classmethod
    def spell(cls, value: object) -> object:
        """A word for a number."""
        return "one" if value == 1 else value


def test_a_pydantic_model_judges_for_itself(way, lane):
    """What the model accepts is accepted, its aliases, strictness and validators included."""
    lane.server.queue('{"day": "2026-02-28", "point": {"x": 1}, "no": 7}', '{"level": "5", "word": 1}')
    llm = lane.llm()
    result = way.structured(llm, json_schema=Model)
    assert result.parsed == Model(day=dt.date(2026, 2, 28), point=Point(1.0), no=7)
    assert way.structured(llm, json_schema=Gentle).parsed == Gentle(level=5, word="one")
    assert lane.server.bodies[0]["response_format"]["json_schema"]["schema"] == Model.model_json_schema()


def test_pydantic_is_not_imported_for_anything_else(script, lane):
    """A dataclass needs no pydantic."""
    lane.server.answer('{"radius": 2}')
    said = script(
        """
        import json, sys
        from dataclasses import dataclass
        from hermes_core import Host

        sys.modules["genai_prices"] = None  # stands on pydantic itself

        @dataclass
        class Circle:
            radius: float

        with Host.load(sys.argv[1], json.loads(sys.argv[2])) as host:
            result = host.llm("p").complete_structured(
                instructions="x", input=[{"type": "text", "text": "x"}], json_schema=Circle
            )
        print(result.parsed, "pydantic" in sys.modules)
        """,
        lane.home,
        json.dumps(lane.server.config),
    )
    assert said == "Circle(radius=2.0) False\n"


@pytest.mark.parametrize("inputs", [{"input": []}, {"json_schema": Circle, "model": "other"}], ids=["input", "gate"])
def test_the_class_is_looked_at_after_the_gate(way, lane, inputs):
    """Empty input and a refused override are told before what is wrong with the class."""
    with pytest.raises((ValueError, PermissionError)) as caught:
        way.structured(lane.llm(), **{"json_schema": one(IO), **inputs})
    assert "json_schema" not in str(caught.value)


class Box(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(arbitrary_types_allowed=True)

    size: int
    hole: IO[str]


@dataclass
class Page(Generic[T]):
    items: list[T]


@dataclass
class Late:
    a: int
    b: Nowhere  # noqa: F821 - which is the point


@dataclass
class Seeded:
    a: int
    seed: InitVar[int]


@dataclass
class Seedless:
    """An ``InitVar`` with a default is no field, and need not be given."""

    a: int
    seed: InitVar[int] = 0


class Plain:
    """A class of no kind that is known."""

    a: int


NESTED: Any = int
for _ in range(5000):
    NESTED = list[NESTED]

UNSUPPORTED = {
    "a-stream": (one(IO), "One.field has type IO, which JSON cannot say"),
    "bytes": (one(bytes), "One.field has type bytes"),
    "complex": (one(complex), "One.field has type complex"),
    "a-stream-deep-inside": (one(dict[str, list[IO | None]]), "One.field has type IO"),
    "a-class-of-another-kind": (one(Plain), "One.field has type Plain"),
    "keys-that-are-no-text": (one(dict[int, str]), "One.field has keys of type int"),
    "a-type-variable": (Page, "Page.items has type ~T"),
    "a-generic-dataclass": (one(Page[int]), "One.field has type .*Page"),
    "a-list-of-types": (one([int]), "One.field has type .*int"),
    "a-callable": (one(typing.Callable[[], int]), "One.field has type typing.Callable"),
    "a-literal-of-bytes": (one(Literal[b"a"]), "One.field may be b'a'"),
    "an-enum-of-tuples": (one(enum.Enum("Pair", {"A": (1, 2)})), r"One.field may be \(1, 2\)"),
    "a-type-nested-for-ever": (TypedDict("Deep", {"field": NESTED}), r"Deep\.field has a type that "),
    "a-name-that-is-nowhere": (Late, "Late.b has a type that cannot be looked up .*'Nowhere'.*top of the module"),
    "a-nested-class-of-another-kind": (one(Late), "Late.b has a type"),
    "something-to-give-that-is-no-field": (Seeded, "Seeded.seed has to be given, but is no field"),
    "a-field-of-a-pydantic-model": (Box, "Box.hole has no JSON schema: "),
    "a-pydantic-model-in-a-dataclass": (one(Model), "One.field has type Model"),
    "a-builtin": (dict, "class dict is no dataclass, TypedDict or pydantic model"),
    "an-enum": (Colour, "class Colour is no dataclass, TypedDict or pydantic model"),
    "a-plain-class": (Plain, "class Plain is no dataclass, TypedDict or pydantic model"),
    "bad-keywords": (one(Annotated[int, {"minimum": "zero"}]), "no valid JSON schema at .*minimum"),
}  # fmt: skip


@pytest.mark.parametrize(("cls", "said"), rows(UNSUPPORTED))
def test_a_class_that_json_cannot_say_costs_nothing(way, lane, cls, said):
    """What has no schema is a ValueError that names the field, before anything is sent."""
    with pytest.raises(ValueError, match=f"^{way.structured_name}: json_schema.*{said}"):
        way.structured(lane.llm(), json_schema=cls)
    assert lane.server.requests == []


def test_an_init_only_variable_with_a_default_is_left_alone():
    """What the constructor takes beside the fields stays at its default."""
    assert wanted(Seedless).convert({"a": 1, "seed": 5}) == (Seedless(1), [])


def test_a_mapping_of_another_kind_is_a_schema_too(way, lane):
    """Any mapping is taken as a schema, not dicts alone."""
    from types import MappingProxyType

    lane.server.answer('{"a": 1}')
    result = way.structured(lane.llm(), json_schema=MappingProxyType({"type": "object"}))
    assert (result.parsed, result.content_type) == ({"a": 1}, "json")


@settings(database=None, deadline=None, max_examples=200)
@given(st.from_type(Tree) | st.from_type(Circle) | st.from_type(Ping))
def test_every_instance_survives_the_way_there_and_back(instance):
    """What an instance is as JSON matches its schema, and becomes an equal instance."""
    import dataclasses

    value = json.loads(json.dumps(dataclasses.asdict(instance)).replace("NaN", "0").replace("Infinity", "1"))
    described = wanted(type(instance))
    assert violations(value, described.schema) == []
    again, problems = described.convert(value)
    assert (json.loads(json.dumps(dataclasses.asdict(again))), problems) == (value, [])
