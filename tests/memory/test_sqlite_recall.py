"""The memory provider sqlite: what is recalled, and how it is put."""

import pytest

FILLER = [(f"Tell me about topic number {n}", f"Topic {n} is about gardens, trains and bread") for n in range(30)]


def test_what_was_said_in_an_earlier_session_is_recalled(told):
    """A turn is recalled by its words, in a session to come and by a provider opened later."""
    told("My sister Ann lives in Lisbon", *FILLER).shutdown()
    assert "Ann lives in Lisbon" in told(session="s2").prefetch("Where does my sister live?")


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("We went running along the river", "Do I run?"),
        ("I am allergic to peanuts", "any peanut allergy"),
        ("Das Café heißt Überblick", "cafe uberblick"),
        ("I write C++ every day", "c++"),
        ("The port is 8443", "8443?"),
    ],
)
def test_words_match_in_other_forms(told, said, asked):
    """Endings, accents, signs and numbers do not keep a word from being found."""
    assert said in told(said, *FILLER).prefetch(asked)


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("我的猫叫小白", "猫叫什么名字"),
        ("我的猫叫小白", "猫"),
        ("私の妹は京都大学で働いています", "妹はどこで働いていますか"),
        ("제 생일은 오월 팔일입니다", "생일이 언제예요?"),
        ("ฉันชอบกินข้าวผัด", "ข้าวผัด"),
    ],
)
def test_scripts_without_blanks_are_searched(told, said, asked):
    """Chinese, Japanese, Korean and Thai are found by what stands within a run of characters."""
    others = [("今天天气很好", "是的"), ("電車が遅れた", "残念です"), ("오늘은 비가 와요", "네"), ("วันนี้อากาศดี", "ค่ะ")]
    assert said in told(*others, said, *FILLER[:5], settings={"prefetch_tokens": 60}).prefetch(asked)


SYNTAX = ['"', "'", "a AND", "NEAR(a b", "text:cat", "cat*", "^cat", "- cat", "(cat", "cat'; drop table memory; --"]


@pytest.mark.parametrize("query", [*SYNTAX, "{cat}", "\0cat", "cat \ud800"])
def test_a_question_is_never_read_as_search_syntax(told, query):
    """Signs that mean something to the index or to SQL are ordinary text in a question."""
    provider = told("The cat sleeps", *FILLER)
    assert "The cat sleeps" in provider.prefetch(query) or "cat" not in query
    assert "The cat sleeps" in provider.prefetch("cat")


@pytest.mark.parametrize("query", ["", "   ", "???", "\n"])
def test_a_question_without_words_recalls_nothing(told, query):
    """Nothing is recalled for nothing."""
    assert told("The cat sleeps").prefetch(query) == ""


def test_a_question_of_common_words_alone_is_searched_for_by_them(told):
    """Where every word is a common one, they are looked for all the same."""
    assert "To be or not to be" in told("To be or not to be", *FILLER).prefetch("to be or not to be")


def test_nothing_is_recalled_from_an_empty_store(memory):
    """A new file recalls nothing."""
    assert memory().prefetch("anything") == ""


def test_the_answer_comes_along_with_what_was_asked(told):
    """What stands next to a hit is recalled with it, though it shares no word with the question."""
    provider = told(
        *FILLER, ("Which wine did the Millers bring?", "A Riesling."), *FILLER, settings={"prefetch_tokens": 200}
    )
    assert "A Riesling." in provider.prefetch("wine of the Millers")


@pytest.mark.parametrize("tokens", [0, 1, 10, 100, 1000])
def test_the_budget_is_kept(told, tokens):
    """A recalled text never takes more than the tokens it may, at four characters each."""
    provider = told(("x " * 3000, "y " * 3000), *FILLER, settings={"prefetch_tokens": tokens})
    assert len(provider.prefetch("topic x y gardens")) <= 4 * tokens


def test_the_budget_can_be_changed_while_it_runs(told):
    """``prefetch_tokens`` is an attribute that counts from the next question on."""
    provider = told(*FILLER)
    provider.prefetch_tokens = 50
    assert len(provider.prefetch("gardens")) <= 200


def test_a_budget_that_is_no_number_is_the_usual_one(memory, caplog):
    """A setting that cannot be read is reported, and the default used."""
    assert memory(settings={"prefetch_tokens": "many"}).prefetch_tokens == 1000
    assert "memory.sqlite.prefetch_tokens" in caplog.text


def test_messages_stand_under_one_date_line_a_session_in_their_order(told):
    """A session's messages stand together, in the order they were said, under their date."""
    provider = told(("[8 May 2023 13:56] Ann: I bought a kayak", "[8 May 2023 13:57] Bob: A red kayak?"))
    assert provider.prefetch("kayak") == "## 8 May 2023\n- Ann: I bought a kayak\n- Bob: A red kayak?"


@pytest.mark.parametrize(
    "stamp", ["8 May 2023", "2023-05-08T13:56", "2023/05/08 13:56", "May 8, 2023", "08.05.2023 13:56"]
)
def test_the_date_of_a_message_can_be_asked_for(told, stamp):
    """The date that a message begins with is searched like its words."""
    assert "kayak" in told(f"[{stamp}] Ann: I bought a kayak", *FILLER).prefetch("what happened in May 2023")


def test_brackets_that_hold_no_date_are_text(told):
    """What only looks like a date at the beginning of a message is kept where it is."""
    assert "- user: [chapter 4] Ann: hello kayak" in told("[chapter 4] Ann: hello kayak").prefetch("kayak")


def test_what_somebody_said_goes_first_when_they_are_named(told):
    """A name in a question favours what that person said."""
    provider = told(
        ("[8 May 2023 10:00] Ann: my favourite colour is green", "[8 May 2023 10:00] Bob: my favourite colour is blue"),
    )
    assert [row["speaker"] for row in provider.search("Bob favourite colour")] == ["Bob", "Ann"]


def test_the_user_is_called_by_name(told):
    """Where the host knows the user's name, what they said is recalled under it."""
    assert "- Ann: I bought a kayak" in told("I bought a kayak", user_name="Ann").prefetch("kayak")


def test_what_was_just_said_is_recalled_without_a_flush(memory):
    """A question waits a moment for the turn before it."""
    provider = memory()
    provider.sync_turn("I bought a kayak", "Nice!")
    assert "kayak" in provider.prefetch("kayak")


def test_words_recall_by_meaning_with_the_extra(told):
    """With the extra ``semantic`` something is found that shares no word with the question."""
    provider = told("My physician prescribed antibiotics", *FILLER, settings={"semantic": True, "prefetch_tokens": 60})
    assert "physician" in provider.prefetch("doctor medicine")


def test_what_was_written_without_the_extra_gets_its_meaning_later(told):
    """Vectors that are missing are made when the provider is opened with the extra."""
    told("My physician prescribed antibiotics", *FILLER).shutdown()
    provider = told(settings={"semantic": True, "prefetch_tokens": 60})
    assert "physician" in provider.prefetch("doctor medicine")


def test_without_the_extra_words_alone_are_searched_and_nothing_is_imported(run_python, home):
    """Where wordllama is not installed the provider works, and neither it nor numpy is looked for again."""
    done = run_python(
        """
        import sys
        sys.modules["wordllama"] = None
        from hermes_core import Host
        with Host.load(sys.argv[1]) as host:
            memory = host.memory_provider("sqlite")
            memory.initialize("s", hermes_home=sys.argv[1])
            memory.sync_turn("I bought a kayak", "Nice!")
            print(memory.prefetch("kayak"), "numpy" in sys.modules)
            memory.shutdown()
        """,
        home.path,
    )
    assert "- user: I bought a kayak\n- assistant: Nice! False" in done.stdout, done.stderr


def test_of_two_alike_the_later_goes_first(told):
    """What was said again later is the better answer."""
    provider = told("My favourite colour is green", *FILLER, "My favourite colour is blue")
    assert "blue" in provider.search("favourite colour", 1)[0]["text"]


def test_a_person_is_told_how_much_was_recalled(told):
    """``recall_status`` counts the latest recall, and says nothing of an empty one."""
    provider = told("I bought a kayak", *FILLER)
    provider.prefetch("kayak")
    assert provider.recall_status().count > 0
    provider.prefetch("")
    assert provider.recall_status() is None


def test_a_caption_comes_along_only_when_it_is_asked_for(told):
    """What stands in brackets at the end of a message is left out where it has no word of the question."""
    provider = told("Look at this! [shared a photo: a red kayak on a lake]", "We go paddling on Sunday")
    assert "red kayak" in provider.prefetch("which kayak")
    assert "red kayak" not in provider.prefetch("paddling on Sunday")


@pytest.mark.parametrize("author", ["Ann", {"name": "Ann"}, {"user_name": "Ann", "id": 3}])
def test_who_wrote_in_a_shared_conversation_is_kept(memory, author):
    """What the host says of the author is the speaker."""
    provider = memory()
    provider.sync_turn("I bought a kayak", "Nice!", turn_author=author)
    assert "- Ann: I bought a kayak" in provider.prefetch("kayak")


def test_a_message_in_blocks_is_kept_as_its_text(memory):
    """Of a message with images the text is kept."""
    provider = memory()
    provider.sync_turn([{"type": "text", "text": "I bought a kayak"}, {"type": "image_url"}], None)
    assert provider.prefetch("kayak").endswith("- user: I bought a kayak")


@pytest.mark.parametrize(
    ("asked", "is_recalled"), [("okapi {0} {1}", True), ("{0} {1} okapi", True), ("{0} okapi {1}", False)]
)
def test_of_a_long_paste_the_ends_are_looked_up(told, asked, is_recalled):
    """Each word costs time, so of thousands those at the beginning and at the end have to do."""
    fillers = (" ".join(f"{start}{number}" for number in range(5_000)) for start in "ab")
    assert ("okapi" in told("The okapi hides", *FILLER).prefetch(asked.format(*fillers))) is is_recalled
