"""WikiGame: reach a page of an encyclopedia from another by following links."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from gem.core import StepResult
from gem.envs.games.base import Game, Illegal, Played, Unreadable
from gem.envs.games.wiki.prose import UNITS, Unit, key, lead, shorten, title_in
from gem.envs.games.wiki.source import NoSuchPage, Page, WikiSource, open_source
from gem.errors import RegistrationError, RequestFailed
from gem.specs import OnInvalid

__all__ = ["WikiGame"]

_STEP = -0.05
_FORBIDDEN = -0.2
_BACK = "<PREV_PAGE>"
_MAX_TITLE = 300
_BACK_TYPED = re.compile(r"<?\s*prev(?:ious)?[\s_-]*page\s*>?")
_NO_TITLE = re.compile(r"[<>{}\x00-\x1f\x7f\ud800-\udfff]")
_VARIANTS = {
    "noregrets": "There is no way back except by links.",
    "oneback": f"\\boxed{{{_BACK}}} goes back to the page before, but not twice in a row.",
    "freenav": f"\\boxed{{{_BACK}}} goes back to the page before, as often as there is one.",
    "eidetic": f"\\boxed{{{_BACK}}} goes back to the page before, and the title of any page of your path so far takes you there again.",
}


class WikiGame(Game):
    """A start page and a target page; every move follows a link of the page, or goes back where the variant allows it.

    Reward: 1 for the move that reaches the target; -0.05 for any other move along a link or back; -0.2 for a title that is no
    link of the page, and for text without a title. So the best total is `1 - 0.05 * (clicks - 1)`.

    With the almanac the pair is drawn from the seed and the target can always be reached. The other backends let their server
    draw the pages: the seed does not fix them, reachability is not guaranteed, there is no oracle, and what `EnvInfo` says of
    being offline and deterministic holds no more. A service that fails raises `RequestFailed`, which is never a reward; it leaves
    the episode as it was, so that the same step can be taken again. A snapshot holds titles; the pages are read anew.

    Args:
        max_turns: The turn limit.
        variant: `noregrets`, `oneback`, `freenav` or `eidetic`: which ways back there are.
        page_summary_length: How much of a page is shown, as `(count, unit)` with the unit `characters`, `words` or `sentences`;
            None for all of it.
        backend: `almanac`, `mediawiki` or `kiwix`.
        url: Of the service: a MediaWiki's `api.php`, or `http://host:port/content/BOOK` of kiwix-serve.
        min_clicks: Least distance from start to target.
        max_clicks: Greatest distance; never more than `max_turns`.
        is_random: Draw turn limit and distances of the easy or the hard game at each reset.
    """

    FORMAT = "Write the title of a link in \\boxed{}, such as \\boxed{Goatway Pass}."
    VARIANTS = (
        {"max_turns": 30, "min_clicks": 2, "max_clicks": 3},
        {"max_turns": 15, "min_clicks": 4, "max_clicks": 8},
    )

    on_invalid = OnInvalid("retry", reward=_FORBIDDEN)
    _page: Page | None = None

    def __init__(
        self,
        max_turns: int = 30,
        variant: str = "noregrets",
        page_summary_length: Sequence[Any] | None = None,
        backend: str = "almanac",
        url: str | None = None,
        min_clicks: int = 2,
        max_clicks: int = 3,
        is_random: bool = False,
    ) -> None:
        if variant not in _VARIANTS:
            self.bad_parameter(f"variant must be one of {', '.join(_VARIANTS)}, not {variant!r:.80}")
        self.variant = variant
        self.summary = self._checked_summary(page_summary_length)
        self._backend, self._url = backend, url
        try:
            open_source(backend, url)
        except RegistrationError as why:
            self.bad_parameter(str(why))
        self.configure(max_turns, min_clicks, max_clicks)
        self.is_random = is_random
        self.start = self.here = self.target = self._about = ""
        self.path: list[str] = []
        self._behind: list[str] = []  # the pages that going back leads through, the last one first to come
        self._returned = False
        self._dead: list[str] = []  # links of this episode that led to no page
        self._fine = 0.0

    def configure(self, max_turns: int, min_clicks: int, max_clicks: int) -> None:
        """Set the turn limit and the distances."""
        if max_turns < 1:
            self.bad_parameter(f"max_turns must be 1 or more, not {max_turns}")
        if not 1 <= min_clicks <= min(max_clicks, max_turns):
            self.bad_parameter(f"min_clicks ({min_clicks}) must be from 1 to max_clicks ({max_clicks}) and to max_turns ({max_turns})")
        self.max_turns, self.min_clicks, self.max_clicks = max_turns, min_clicks, min(max_clicks, max_turns)

    def _checked_summary(self, given: Sequence[Any] | None) -> tuple[int, Unit] | None:
        if given is None:
            return None
        whole = isinstance(given, (list, tuple)) and len(given) == 2 and type(given[0]) is int
        if not whole or given[0] < 0 or given[1] not in UNITS:
            self.bad_parameter(f"page_summary_length must be (count of 0 or more, {' or '.join(UNITS)}), not {given!r:.80}")
        return given[0], given[1]

    # -- the encyclopedia: reached through these two, and no part of a snapshot ----------------------------------------

    @property
    def source(self) -> WikiSource:
        """The encyclopedia."""
        return open_source(self._backend, self._url)

    @property
    def page(self) -> Page:
        """The page the player is on."""
        if self._page is None:
            try:
                self._page = self.source.page(self.here)
            except NoSuchPage:  # after a snapshot: the episode was on it
                raise RequestFailed(f"{self._name}: the page {self.here!r:.80} of this episode is gone from {self._url}") from None
        return self._page

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_page"}

    # -- the game ------------------------------------------------------------------------------------------------------

    def deal(self, rng: random.Random) -> None:
        """Draw a start and a target."""
        self._page = None
        self.start, self.target = self.source.pair(rng, self.min_clicks, self.max_clicks, self._in_this_split)
        self._about = _begins(self.source.page(self.target))
        self.here = self.start
        self.path = [self.start]
        self._behind = []
        self._returned = False
        self._dead = []

    def _in_this_split(self, start: str, target: str) -> bool:
        return self.in_split(f"{start} -> {target}")

    def rules(self) -> str:
        """Return the rules."""
        return (
            f"You are reading an encyclopedia and have to get from the page {self.start} to the page {self.target} by following links, "
            f"in at most {self.max_turns} turns. Each turn you name a link of the page you are on, and you are taken there. "
            f"{_VARIANTS[self.variant]} Reaching the target pays 1 and ends the game; every other move costs {-_STEP}, and a move "
            f"that cannot be made costs {-_FORBIDDEN} and its turn.\n{self.FORMAT}"
        )

    def board(self) -> str:
        """Return the page, the target, and the path so far."""
        back = f"\nBack: {_BACK}" if self._way_back() else ""
        return (
            f"{_shown(self.page, self.summary)}{_listed(self._links())}{back}\n\n"
            f"Target page: {self.target}\nIts text begins: {self._about}\n"
            f"Path so far: {' > '.join(self.path)}\nTurns left: {self.max_turns - self.turn}"
        )

    def step(self, action: Any) -> StepResult[str]:
        """Make the move in the last box of `action`.

        Raises:
            RequestFailed: the service failed; nothing has changed, and the turn is not spent.
        """
        self._fine = 0.0
        turn = self.turn
        try:
            self._page = self.page  # now: once the move is made, nothing may fail
            obs, reward, terminated, truncated, info = super().step(action)
        except RequestFailed:
            self.turn = turn
            raise
        return obs, reward + self._fine, terminated, truncated, info

    def play(self, move: str) -> Played:
        """Follow a link, or go back."""
        title = _pick(move, self._links())
        if title is not None:
            return self._follow(title)
        if len(move) > _MAX_TITLE:
            raise Unreadable("the box holds more than a title")
        written = key(title_in(move))
        if _BACK_TYPED.fullmatch(written):
            return self._go_back()
        if not written or _NO_TITLE.search(written):
            raise Unreadable("the box does not hold the title of a page")
        again = _pick(move, self._visited())
        if again is not None:
            page = self._again(again)
            self._behind.append(self.here)
            return self._arrive(page, f"You go back to {again}.")
        raise self._forbidden(f"There is no link to {_printable(written)} on this page.")

    def _follow(self, title: str) -> Played:
        try:
            page = self.source.page(title)
        except NoSuchPage:
            return self._drop(title)
        self._behind.append(self.here)
        self._returned = False
        if page.title == self.target:
            self._arrive(page, "")
            return f"You have reached {page.title}. Your path: {' > '.join(self.path)}", 1.0, True
        played = self._arrive(page, f"You follow the link to {page.title}.")
        return played if page.links or self._way_back() else (f"{page.title} has no links: this is a dead end.", _STEP, False)

    def _go_back(self) -> Played:
        if self.variant == "noregrets":
            raise self._forbidden("There is no going back in this game.")
        if not self._behind:
            raise self._forbidden("There is no page to go back to.")
        if not self._way_back():
            raise self._forbidden("You have just gone back: follow a link first.")
        page = self._again(self._behind[-1])
        self._behind.pop()
        self._returned = True
        return self._arrive(page, f"You go back to {page.title}.")

    def _again(self, title: str) -> Page:
        try:
            return self.source.page(title)
        except NoSuchPage:
            raise Illegal(f"The page {_printable(title)} is not there any more.") from None

    def _arrive(self, page: Page, feedback: str) -> Played:
        self._page = page
        self.here = page.title
        self.path.append(page.title)
        return feedback, _STEP, None

    def _drop(self, title: str) -> Played:
        """Take a link that leads nowhere off the page: the turn is spent, but the player is not to blame."""
        self._dead.append(title)
        if not self._links() and not self._way_back():
            return "That link leads to no page, and there is no other: this is a dead end.", 0.0, False
        raise Illegal(f"The link to {_printable(title)} leads to no page of this encyclopedia. Choose another.")

    def _forbidden(self, reason: str) -> Illegal:
        self._fine = _FORBIDDEN
        return Illegal(reason)

    def _links(self) -> Sequence[str]:
        links = self.page.links
        return [title for title in links if title not in self._dead] if self._dead else links

    def _way_back(self) -> bool:
        if self.variant == "noregrets" or not self._behind:
            return False
        return self.variant != "oneback" or not self._returned

    def _visited(self) -> list[str]:
        """Return the pages that can be named without a link to them."""
        if self.variant != "eidetic":
            return []
        return [title for title in dict.fromkeys(self.path) if title != self.here]

    def gold(self) -> Any:
        """Return a shortest way, its start left out; None where the source does not know its distances."""
        return self.source.way(self.start, self.target)

    def random_move(self, rng: random.Random) -> str:
        """Return any link of the page, or any way back."""
        moves = [*self._links(), *self._visited(), *((_BACK,) if self._way_back() else ())]
        return moves[int(rng.random() * len(moves))] if moves else _BACK

    def best_move(self, rng: random.Random) -> str | None:
        """Return the next page of a shortest way."""
        way = self.source.way(self.here, self.target)
        return way[0] if way else None


@lru_cache(maxsize=400)
def _begins(page: Page) -> str:
    return lead(page.text)


@lru_cache(maxsize=400)
def _shown(page: Page, summary: tuple[int, Unit] | None) -> str:
    text = shorten(page.text, *summary) if summary is not None else page.text
    return f"Page: {page.title}\n\n{text}\n\nLinks of this page:\n" if text else f"Page: {page.title}\n\nLinks of this page:\n"


def _listed(titles: Sequence[str]) -> str:
    return "\n".join([f"- {title}" for title in titles])


@lru_cache(maxsize=400)
def _keys(titles: tuple[str, ...]) -> dict[str, str]:
    return {key(title): title for title in reversed(titles)}


def _pick(move: str, titles: Sequence[str]) -> str | None:
    """Return the title among `titles` that `move` names."""
    if move in titles:
        return move
    if len(move) > _MAX_TITLE or not titles:
        return None
    written = key(title_in(move))
    return _keys(tuple(titles)).get(written) if written else None


def _printable(title: str) -> str:
    shown = "".join(c if c.isprintable() else "?" for c in title[:80])
    return shown + "..." if len(title) > 80 else shown
