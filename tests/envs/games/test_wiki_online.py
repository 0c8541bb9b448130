"""WikiGame over a MediaWiki API and over kiwix-serve: a server on this machine that answers as their documentation says."""

from __future__ import annotations

import json
import random
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, quote, unquote, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gem
from gem.clients.http import HttpClient, Retry
from gem.envs.games.wiki.markup import Anchor, read_html
from gem.envs.games.wiki.online import Kiwix, MediaWiki
from gem.envs.games.wiki.source import NoSuchPage, open_source
from gem.errors import RegistrationError, RequestFailed

# Title: links of the text. The wiki has no page "Lost page", and "Old Delta" redirects to "Delta".
LINKS = {
    "Alpha": ["Beta", "Gamma ray", "Lost page"],
    "Beta": ["Gamma ray", "Old Delta", "Alpha"],
    "Gamma ray": ["Alpha", "Beta", "Café?", "Dead end"],
    "Delta": ["Alpha", "Beta"],
    "Café?": ["Delta", "Gamma ray"],
    "Dead end": [],
}
REDIRECTS = {"Old Delta": "Delta"}


def article(title, href):
    """HTML of an article as MediaWiki and mwoffliner write it: frames around, links in the text."""
    links = ", ".join(f'<a href="{href(to)}" title="{to}">{to.lower()}</a>' for to in LINKS[title])
    return f"""<div class="mw-parser-output"><style>.x {{color: red}}</style>
<div class="hatnote">For others see <a href="{href("Beta")}" title="Beta">Beta</a></div>
<table class="infobox"><tr><td>A fact</td></tr></table>
<p><b>{title}</b> is an
article.<sup class="reference"><a href="#cite">[1]</a></sup> It names {links}.</p>
<h2>More<span class="mw-editsection">[<a href="/edit" title="Edit">edit</a>]</span></h2><p>Fish &amp; chips.</p>
<div class="navbox"><div><a href="{href("Delta")}" title="Delta">Delta</a></div></div><script>var a = "<p>no</p>";</script></div>"""


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # else head and body go apart, and the client acknowledges late

    def log_message(self, *args):
        pass

    def do_GET(self):
        wiki = self.server.wiki
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        wiki.seen.append((unquote(parts.path), query, dict(self.headers)))
        fault = wiki.faults.pop(0) if wiki.faults else None
        if fault is not None:
            self.answer(*fault)
        elif parts.path == "/w/api.php":
            self.answer(200, json.dumps(self.mediawiki(query)), "application/json")
        else:
            self.kiwix(parts.path, query)

    def answer(self, status, body, kind="text/html; charset=utf-8", **headers):
        data = body if isinstance(body, bytes) else body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def mediawiki(self, query):
        if query.get("action") == "query":
            return {"batchcomplete": True, "query": {"random": [{"id": 1, "ns": 0, "title": self.server.wiki.draw()}]}}
        title = query["page"]
        title = REDIRECTS.get(title, title) if query.get("redirects") else title
        if title not in LINKS:
            return {"error": {"code": "missingtitle", "info": "The page you specified doesn't exist.", "docref": "See api.php"}}
        rows = [{"ns": 0, "title": to, "exists": to in LINKS or to in REDIRECTS} for to in sorted(LINKS[title])]
        rows += [{"ns": 14, "title": "Category:Letters", "exists": True}]
        rows += [{"ns": 0, "title": "Delta", "exists": True}] if LINKS[title] else []  # of the box at the end
        html = article(title, lambda to: "/wiki/" + quote(to.replace(" ", "_")))
        return {"parse": {"title": title, "pageid": 7, "redirects": [], "text": html, "links": rows}}

    def kiwix(self, path, query):
        root = "/content/letters/"
        if path == "/random" and query.get("content") == "letters":
            self.answer(302, "", Location=root + quote(self.server.wiki.draw().replace(" ", "_")))
        elif not path.startswith(root):
            self.answer(404, "<html><body>Not Found</body></html>")
        elif (title := unquote(path[len(root) :]).replace("_", " ")) in REDIRECTS:
            self.answer(302, "", Location=root + REDIRECTS[title])
        elif title in LINKS:
            body = article(title, lambda to: "./" + quote(to.replace(" ", "_")))
            self.answer(200, f"<!DOCTYPE html><html><head><title>{title}</title></head><body>{body}</body></html>")
        elif unquote(path) == root + "with space":
            self.answer(200, '<p>Spaced <a href="../letters/Alpha#part">a</a></p>')
        elif unquote(path) == root + "all kinds":
            self.answer(200, KINDS)
        else:
            self.answer(404, "<html><body>Not Found</body></html>")


KINDS = """<body><a href="Beta">b</a> <a href="Beta#part">again</a> <a href="#part">here</a> <a href="/content/letters/Delta">d</a>
<a href="/content/other/Gamma">other book</a> <a href="https://example.org/content/letters/Alpha">away</a> <a href="http://[">broken</a>
<a href="/catch/external?source=https%3A%2F%2Fexample.org">out</a> <a href="../letters/Gamma_ray?x=1">g</a> <a href="I/cat.JPG">picture</a>
<a href="mailto:a@example.org">mail</a> <a>none</a> <a href="Node.js">n</a> <a href="">empty</a>"""


class Wiki:
    """A server of both kinds, what it was asked, and what it is to answer wrongly next."""

    def __init__(self):
        self.seen, self.faults = [], []
        self.rng = random.Random(3)
        self.pages = []
        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.http.wiki = self
        threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        self.host = f"http://127.0.0.1:{self.http.server_port}"
        self.urls = {"mediawiki": f"{self.host}/w/api.php", "kiwix": f"{self.host}/content/letters"}

    def draw(self):
        return self.pages.pop(0) if self.pages else self.rng.choice(list(LINKS))

    def will_draw(self, *titles):
        self.pages = list(titles)

    def stop(self):
        self.http.shutdown()
        self.http.server_close()


@pytest.fixture
def wiki():
    server = Wiki()
    yield server
    for backend, url in server.urls.items():
        open_source(backend, url).http.close()
    open_source.cache_clear()
    server.stop()


@pytest.fixture(params=["mediawiki", "kiwix"])
def backend(request):
    return request.param


def opened(wiki, backend):
    """Return the source with a client that does not wait long."""
    source = open_source(backend, wiki.urls[backend])
    source.http = HttpClient(headers={"User-Agent": "gem-gym WikiGame"}, retry=Retry(retries=1, first_s=0.01))
    return source


def started(wiki, backend, start="Alpha", target="Delta", **kwargs):
    source = opened(wiki, backend)
    env = gem.make("game:WikiGame-v0-easy", backend=backend, url=wiki.urls[backend], **kwargs)
    for seed in range(60):
        wiki.will_draw(start, target)
        env.reset(seed=seed)
        if (env.unwrapped.start, env.unwrapped.target) == (start, target):
            assert env.unwrapped.source is source
            return env
    raise AssertionError("that pair was never drawn")


def boxed(move):
    return f"\\boxed{{{move}}}"


# -- pages -------------------------------------------------------------------------------------------------------------


def test_a_page_has_its_text_and_the_links_of_its_text(wiki, backend):
    page = opened(wiki, backend).page("Gamma ray")
    assert page.title == "Gamma ray"
    assert page.links == ("Alpha", "Beta", "Café?", "Dead end")
    assert page.text == "Gamma ray is an article. It names alpha, beta, café?, dead end.\n\nMore\n\nFish & chips."


def test_a_redirect_leads_to_the_page_it_names(wiki, backend):
    assert opened(wiki, backend).page("Old Delta").title == "Delta"


def test_a_page_that_is_not_there_is_no_failure_of_the_service(wiki, backend):
    with pytest.raises(NoSuchPage):
        opened(wiki, backend).page("Lost page")


def test_a_page_is_asked_for_once(wiki, backend):
    source = opened(wiki, backend)
    assert source.page("Alpha") is source.page("Alpha")
    assert len(wiki.seen) == 1


def test_titles_of_any_letters_are_asked_for_as_they_are(wiki, backend):
    assert opened(wiki, backend).page("Café?").links == ("Delta", "Gamma ray")


def test_mediawiki_is_asked_as_its_documentation_says(wiki):
    source = opened(wiki, "mediawiki")
    source.page("Beta")
    source.pair(random.Random(0), 1, 3, lambda start, target: True)
    path, query, headers = wiki.seen[0]
    assert path == "/w/api.php"
    assert query == {"action": "parse", "page": "Beta", "prop": "text|links", "redirects": "1", "format": "json", "formatversion": "2"}
    assert "gem-gym" in headers["User-Agent"]
    asked = {"action": "query", "list": "random", "rnnamespace": "0", "rnlimit": "1", "format": "json", "formatversion": "2"}
    assert any(query == asked for _, query, _ in wiki.seen)


def test_mediawiki_leaves_out_red_links_other_namespaces_and_the_page_itself(wiki):
    source = opened(wiki, "mediawiki")
    assert source.page("Alpha").links == ("Beta", "Gamma ray")  # not "Lost page"
    assert source.page("Beta").links == ("Gamma ray", "Old Delta", "Alpha")


def test_mediawiki_falls_back_on_the_list_of_links_where_the_html_names_none(wiki):
    links = [{"ns": 0, "title": "Beta", "exists": True}, {"ns": 0, "title": "Lost page", "exists": False}]
    wiki.faults = [(200, json.dumps({"parse": {"title": "X", "text": "<p>Bare.", "links": links}}), "application/json")]
    page = opened(wiki, "mediawiki").page("X")
    assert (page.links, page.text) == (("Beta",), "Bare.")


def test_kiwix_reads_paths_with_spaces_and_links_out_of_a_folder(wiki):
    page = opened(wiki, "kiwix").page("with space")
    assert (page.title, page.links) == ("with space", ("Alpha",))


def test_kiwix_links_are_the_pages_of_the_book(wiki):
    assert opened(wiki, "kiwix").page("all kinds").links == ("Beta", "Delta", "Gamma ray", "Node.js")


def test_kiwix_takes_a_server_under_a_prefix():
    assert Kiwix("http://localhost/some/root/content/book/")._path == "/some/root/content/book/"


@pytest.mark.parametrize(
    "url", ["http://localhost:8080", "http://localhost/content/", "http://localhost/content/a/b", "localhost/content/a"]
)
def test_a_kiwix_url_names_a_book(url):
    with pytest.raises(RegistrationError, match="url must be"):
        Kiwix(url)


# -- faults ------------------------------------------------------------------------------------------------------------


def test_a_passing_error_is_tried_again(wiki, backend):
    wiki.faults = [(500, "sorry")]
    assert opened(wiki, backend).page("Alpha").title == "Alpha"
    assert len(wiki.seen) == 2


def test_a_lasting_error_is_a_failed_request_and_not_kept(wiki, backend):
    source = opened(wiki, backend)
    wiki.faults = [(500, "sorry")] * 2
    with pytest.raises(RequestFailed) as caught:
        source.page("Alpha")
    assert caught.value.status == 500
    assert caught.value.retryable
    assert source.page("Alpha").title == "Alpha"


def test_an_api_that_is_not_there_is_a_failed_request(wiki):
    wiki.faults = [(404, "not here")]
    with pytest.raises(RequestFailed) as caught:
        opened(wiki, "mediawiki").page("Alpha")
    assert caught.value.status == 404


WRONG = [
    "<html>",
    '{"parse": ',
    "[]",
    "null",
    "{}",
    '{"parse": null}',
    '{"parse": {"title": "X", "text": {"*": ""}, "links": [{"*": "Y"}]}}',
]


@pytest.mark.parametrize("body", WRONG)
def test_an_answer_of_another_shape_is_a_failed_request(wiki, body):
    wiki.faults = [(200, body, "application/json")]
    with pytest.raises(RequestFailed):
        opened(wiki, "mediawiki").page("Alpha")


@pytest.mark.parametrize("body", ["{}", '{"query": {"random": []}}', '{"query": 7}'])
def test_a_random_page_of_another_shape_is_a_failed_request(wiki, body):
    wiki.faults = [(200, body, "application/json")]
    with pytest.raises(RequestFailed, match="not the answer of a MediaWiki API"):
        opened(wiki, "mediawiki").pair(random.Random(0), 2, 3, lambda start, target: True)


@pytest.mark.parametrize(("code", "passing"), [("ratelimited", True), ("readapidenied", False)])
def test_an_error_of_the_api_is_a_failed_request(wiki, code, passing):
    wiki.faults = [(200, json.dumps({"error": {"code": code, "info": "No."}}), "application/json")]
    with pytest.raises(RequestFailed, match=code) as caught:
        opened(wiki, "mediawiki").page("Alpha")
    assert caught.value.retryable == passing


def test_a_book_that_the_server_lacks_is_a_failed_request(wiki):
    source = Kiwix(f"{wiki.host}/content/nothing")
    with pytest.raises(RequestFailed, match="nothing"):
        source.pair(random.Random(0), 2, 3, lambda start, target: True)
    source.http.close()


def test_a_server_that_is_down_is_a_failed_request():
    source = MediaWiki("http://127.0.0.1:9/w/api.php", HttpClient(retry=Retry(retries=0)))
    with pytest.raises(RequestFailed):
        source.page("Alpha")


# -- pairs -------------------------------------------------------------------------------------------------------------


def test_a_pair_is_accepted_playable_and_not_one_click_apart(wiki, backend):
    source = opened(wiki, backend)
    for seed in range(15):
        start, target = source.pair(random.Random(seed), 2, 3, lambda start, target: (start, target) != ("Alpha", "Delta"))
        assert start != target
        assert source.page(start).links
        assert target not in source.page(start).links
        assert (start, target) != ("Alpha", "Delta")


def test_pages_that_make_no_pair_are_a_failed_request_in_the_end(wiki, backend):
    with pytest.raises(RequestFailed, match="random pages") as caught:
        opened(wiki, backend).pair(random.Random(0), 2, 3, lambda start, target: False)
    assert caught.value.retryable
    assert len(wiki.seen) < 100


@pytest.mark.parametrize("split", ["train", "test"])
def test_a_pair_belongs_to_its_split(wiki, split):
    opened(wiki, "mediawiki")
    env = gem.make("game:WikiGame-v0-easy", backend="mediawiki", url=wiki.urls["mediawiki"], min_clicks=1)
    for index in range(5):
        env.reset(options={"task": f"{split}/{index}"})
        assert env.unwrapped.in_split(f"{env.unwrapped.start} -> {env.unwrapped.target}")


# -- the game ----------------------------------------------------------------------------------------------------------


def test_the_game_is_won_by_links_and_a_redirect_counts(wiki, backend):
    env = started(wiki, backend)
    seen, reward, terminated, _, _ = env.step(boxed("beta"))
    assert (reward, terminated) == (-0.05, False)
    assert "- Old Delta\n" in seen
    assert "Target page: Delta\nIts text begins: Delta is an article." in seen
    seen, reward, terminated, truncated, info = env.step(boxed("Old Delta"))
    assert (reward, terminated, truncated, info["success"]) == (1.0, True, False, True)
    assert "Alpha > Beta > Delta" in seen


def test_a_link_to_a_missing_page_is_taken_off_without_a_fine(wiki):
    env = started(wiki, "kiwix")
    assert "Lost page" in env.unwrapped.page.links
    seen, reward, terminated, _, info = env.step(boxed("Lost page"))
    assert (reward, terminated, env.unwrapped.turn) == (0.0, False, 1)
    assert "leads to no page" in info["invalid_action"]["reason"]
    assert "- Lost page" not in seen
    assert env.step(boxed("Lost page"))[1] == -0.2
    assert all(env.sample_random_action() != boxed("Lost page") for _ in range(50))


def test_a_page_without_links_ends_the_game_where_there_is_no_way_back(wiki, backend):
    env = started(wiki, backend)
    env.step(boxed("Gamma ray"))
    _, reward, terminated, _, info = env.step(boxed("Dead end"))
    assert (reward, terminated, info["success"]) == (-0.05, True, False)


def test_a_page_without_links_can_be_left_by_the_way_back(wiki, backend):
    env = started(wiki, backend, variant="oneback")
    env.step(boxed("Gamma ray"))
    assert not env.step(boxed("Dead end"))[2]
    assert env.sample_random_action() == boxed("<PREV_PAGE>")
    assert env.step(boxed("<PREV_PAGE>"))[1] == -0.05
    assert env.unwrapped.here == "Gamma ray"


def test_a_failure_is_no_reward_and_leaves_the_episode_as_it_was(wiki, backend):
    env = started(wiki, backend, variant="freenav")
    before = env.unwrapped.__getstate__()
    before = {**before, "path": list(before["path"])}
    wiki.faults = [(503, "sorry")] * 2
    with pytest.raises(RequestFailed):
        env.step(boxed("Beta"))
    assert env.unwrapped.__getstate__() == before
    seen, reward, *_ = env.step(boxed("Beta"))
    assert reward == -0.05
    assert "Turns left: 29" in seen


def test_a_failure_at_reset_is_raised(wiki, backend):
    opened(wiki, backend)
    env = gem.make("game:WikiGame-v0-easy", backend=backend, url=wiki.urls[backend])
    wiki.faults = [(500, "sorry")] * 2
    with pytest.raises(RequestFailed):
        env.reset(seed=0)
    env.reset(seed=0)


def test_making_a_game_asks_the_server_nothing(wiki, backend):
    gem.make("game:WikiGame-v0-easy", backend=backend, url=wiki.urls[backend])
    assert not wiki.seen


def test_there_is_no_oracle_where_distances_are_not_known(wiki, backend):
    env = started(wiki, backend)
    assert env.oracle_action() is None
    assert env.unwrapped.gold() is None


def test_a_snapshot_continues_the_same_game(wiki, backend):
    env = started(wiki, backend, variant="eidetic")
    env.step(boxed("Beta"))
    twin = env.unwrapped.spawn(same_state=True)
    for move in ("Gamma ray", "Alpha", "<PREV_PAGE>", "Beta", "Old Delta"):
        assert env.step(boxed(move)) == twin.step(boxed(move))


def test_a_snapshot_of_a_page_that_is_gone_is_a_failed_request(wiki, backend):
    env = started(wiki, backend)
    twin = env.spawn(same_state=True)
    twin.unwrapped.here = "Lost page"
    with pytest.raises(RequestFailed, match="is gone"):
        twin.step(boxed("Beta"))
    assert twin.unwrapped.turn == 0


async def test_the_async_side_waits_on_its_own_thread(wiki, backend):
    opened(wiki, backend)
    env = gem.make("game:WikiGame-v0-easy", backend=backend, url=wiki.urls[backend])
    seen, _ = await env.areset(seed=0)
    assert "Links of this page:" in seen
    assert (await env.astep(env.sample_random_action()))[1] in (-0.05, 0.0, 1.0)
    await env.aclose()


# -- HTML --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("html", "text", "links"),
    [
        ("<p>One<p>Two", "One\n\nTwo", []),
        ("a<br>b<hr/>c", "a\n\nb\n\nc", []),
        ("<table><tr><td>x <a href=A>a</a><table class=navbox><a href=N>n</a></table></td></tr></table>y", "y", ["A"]),
        ("<figure><img src=x><figcaption><a href=F>f</a></figcaption></figure>z", "z", ["F"]),
        ("<div class='navbox'><div>in</div><a href=N>n</a></div>out", "out", []),
        ("<sup class='reference'>[1]</sup>H<sub>2</sub>O &lt;3 &eacute;", "H2O <3 é", []),
        ("<a class=new href=R>red</a> <a>bare</a> <a href=''>empty</a>", "red bare empty", []),
        ("</div></p>stray", "stray", []),
        ("<!-- no --><![CDATA[x]]>y", "y", []),
        ("spread\nover\n lines", "spread over lines", []),
    ],
)
def test_html_is_read_as_its_text_and_links(html, text, links):
    got, anchors = read_html(html)
    assert got == text
    assert [anchor.href for anchor in anchors] == links


def test_an_anchor_has_the_title_that_mediawiki_gives_it():
    assert read_html('<a href="/wiki/A_b" title="A b">x</a>')[1] == [Anchor("/wiki/A_b", "A b")]


@given(
    st.lists(
        st.sampled_from(["<table>", "</table>", "<p>", "<div class=navbox>", "</div>", "<a href=x>", "<![", "<!", "&#x110000;", "<", "t"])
    )
)
@settings(max_examples=150, deadline=None)
def test_broken_html_never_raises(parts):
    text, anchors = read_html("".join(parts))
    assert isinstance(text, str)
    assert all(anchor.href == "x" for anchor in anchors)
