"""The wording check finds each fault that it names, leaves good text alone, and finds none in the site."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from stages.wording import Finding, check_data, check_html, check_site, check_style, check_text
from stages.wording.rules import REVIEWED, WORDS, is_simplified, judge_slant
from stages.wording.texts import passages

ROOT = Path(__file__).resolve().parents[2]

GOOD_TEXTS = [
    "只用了 8 格，為什麼占了 12 格？",
    "平均 4.17 輪，比 5.67 輪早；利用率 95.2% 以上。",
    "F 要 9 格，剩下 4 格。差的不是位置連不連號，是真的不夠。",
    "他說：「先放這裡（還有 3 格）。」《車站》",
    "等一下……他想了想──再等一下。",
    "vLLM 0.6.0 的 KV Cache，用 16 個 token 一頁。",
    "「A」先走，B、C 留下。",
    "10:30 到站，網址是 example.org/a.html 的那一頁。",
    "這個不變量用演算法證明，數據機要預先配置記憶體，避免隊頭阻塞。",
    "兩件事的對比特別清楚，改進程式的文字節奏，連線程式會增加載重。",
    "他確實時常並發現新的做法。",
    "後台、月台、平台。",
    "The GPU (one of two) waits: it has no room.",
    "12",
    "",
]

# text, the rule that must find it, the fault as it stands in the excerpt
BAD_TEXTS = [
    ("把內存留著", "mainland", "內存"),
    ("這個算法很快", "review", "算法"),
    ("這份數據很大，數據機沒有", "review", "數據"),
    ("他是用戶", "review", "用戶"),
    ("效果非常好", "voice", "非常"),
    ("其實不難", "voice", "其實"),
    ("太好了！！", "voice", "！！"),
    ("卻被佔著", "variant", "佔"),
    ("第三月臺", "variant", "臺"),
    ("这是置物柜", "simplified", "这"),
    ("一个人", "simplified", "个"),
    ("体重", "simplified", "体"),
    ("內線的綫", "simplified", "綫"),
    ("然后離開", "simplified", "然后"),
    ("用了8 格", "spacing", "了8"),
    ("用了 8格", "spacing", "8格"),
    ("用GPU跑", "spacing", "用G"),
    ("95%的人", "spacing", "%的"),
    ("行李 越放越多", "spacing", "李 越"),
    ("行李\n越放越多", "spacing", "李 越"),
    ("行李， 越放越多", "spacing", "， 越"),
    ("用 GPU （一張）", "spacing", "U （"),
    ("一張 」", "spacing", "張 」"),
    ("用\u00a08 格", "spacing", "用\u00a08"),
    ("用\u30008 格", "spacing", "用\u30008"),
    ("好,走", "punctuation", ","),
    ("好 , 走", "punctuation", ","),
    ("好; 走", "punctuation", ";"),
    ("問: 走", "punctuation", ":"),
    ("走嗎?", "punctuation", "?"),
    ("走!", "punctuation", "!"),
    ("GPU, 也要", "punctuation", ","),
    ("走了.", "punctuation", "."),
    ("走了. 再見", "punctuation", "."),
    ("用 GPU. 再見", "punctuation", "."),
    ("一張(大)", "punctuation", "("),
    ("快取 (KV Cache)", "punctuation", "("),
    ("KV Cache (快取)", "punctuation", ")"),
    ('他說"走"', "punctuation", '"'),
    ("他說“走”", "punctuation", "“"),
    ("等一下...", "punctuation", "..."),
    ("等一下…", "punctuation", "…"),
    ("他──她─它", "punctuation", "─"),
    ("他—她", "punctuation", "—"),
    ("他--她", "punctuation", "--"),
    ("第Ａ位", "punctuation", "Ａ"),
]

GOOD_PAGES = [
    "<p>用了 <b>8</b> 格，剩 <data value=4>4</data> 格。</p>",
    "<p>用了\n   <b>8</b>\n   格。</p>",
    "<td>格</td><td>8</td>",
    "<button>格</button>8<br>格",
    "<p>用 <code>pip install 软件, 'x'</code> 來裝</p>",
    '<p>鍵值快取（<span lang="en">KV cache, in short</span>），下一句。</p>',
    '<p>先 <span lang="en-GB">say <b>內存, 软</b></span> 再說</p>',
    "<svg><title>六位旅客</title><text>A</text><text>格<tspan> 8 格</tspan></text></svg>",
    "<b>錯</b> <span>六位</span>",
    "<legend><span>第 1 題</span> 六位旅客</legend>",
    "<script>const a = 1;</script>",
    "<style>b::after { content: ','; }</style>",
    '<a href="#內存" id="內存">這裡</a>',
    '<input aria-label="A 的行李，幾件" data-words=\'{"copied": "複製好了"}\'>',
    "<p>甲</p>\n<p>乙</p>",
    "<p>甲<!-- 內存, --></p>",
]

BAD_PAGES = [
    ("<p>用了<b>8</b> 格</p>", "spacing", "了8"),
    ("<p>用了 <b>8</b>格</p>", "spacing", "8格"),
    ("<p>每人 <b>都</b> 要</p>", "spacing", "人 都"),
    ("<p>行李\n  越放</p>", "spacing", "李 越"),
    ("<p>用<code>make</code> 跑</p>", "spacing", "用m"),
    ("<p>用 <span lang=en>GPU</span>跑</p>", "spacing", "U跑"),
    ("<p>用 <span lang=en>GPU</span>, 再跑</p>", "punctuation", ","),
    ("<p lang=en>A <b lang=zh-Hant-TW>內存</b></p>", "mainland", "內存"),
    ("<p>把內<b>存</b></p>", "mainland", "內存"),
    ("<svg><desc>六位,五位</desc></svg>", "punctuation", ","),
    ("<svg><text>8格</text></svg>", "spacing", "8格"),
    ('<img alt="8格">', "spacing", "8格"),
    ('<p title="內存">a</p>', "mainland", "內存"),
    ('<input placeholder="軟件">', "mainland", "軟件"),
    ('<p data-said=\'{"copied": ["复制"]}\'>a</p>', "simplified", "复"),
    ('<script type="application/json">{"a": "<p>8格</p>"}</script>', "spacing", "8格"),
    ("<title>佔了 12 格</title>", "variant", "佔"),
    ("<p>&#x5167;存</p>", "mainland", "內存"),
]


def _found(findings: list[Finding], rule: str, fault: str) -> bool:
    return any(finding.rule == rule and fault in finding.excerpt for finding in findings)


@pytest.mark.parametrize("text", GOOD_TEXTS)
def test_good_text_passes(text: str) -> None:
    assert check_text(text, "here") == []


@pytest.mark.parametrize(("text", "rule", "fault"), BAD_TEXTS)
def test_bad_text_is_found(text: str, rule: str, fault: str) -> None:
    findings = check_text(text, "here")
    assert _found(findings, rule, fault), findings
    assert {finding.rule for finding in findings} == {rule}
    assert {finding.where for finding in findings} == {"here"}


@pytest.mark.parametrize("page", GOOD_PAGES)
def test_good_page_passes(page: str) -> None:
    assert check_html(page, "page") == []


@pytest.mark.parametrize(("page", "rule", "fault"), BAD_PAGES)
def test_bad_page_is_found(page: str, rule: str, fault: str) -> None:
    findings = check_html(page, "page")
    assert _found(findings, rule, fault), findings
    assert {finding.rule for finding in findings} == {rule}


def test_every_listed_word_is_found() -> None:
    for word, (rule, instead) in WORDS.items():
        (finding, *_) = (f for f in check_text(f"把{word}放著", "here") if f.rule == rule)
        assert instead in finding.hint, word


def test_every_exception_is_needed_and_holds() -> None:
    for entry in REVIEWED:
        assert entry.word in entry.context, entry
        assert entry.why.strip(), entry
        assert check_text(entry.context, "here") == [], entry
        assert check_text(entry.word, "here") != [], entry


def test_an_exception_covers_its_own_place_only() -> None:
    findings = check_text("不變量與變量", "here")
    assert [(f.rule, f.excerpt) for f in findings] == [("mainland", "不變量與變量")]


@pytest.mark.parametrize("character", "这个来说门问间们车东让机体价极个网气听际")
def test_simplified_characters_are_known(character: str) -> None:
    assert is_simplified(character)


def test_no_character_of_ordinary_taiwan_text_is_called_simplified() -> None:
    ordinary = "後里台干只面系采松余制准卷合向回困姜布御志恤折挽晒朱杯欲注洒游秋群胡舍著裡針鐘雇霉占峰床秘"
    assert [c for c in ordinary if is_simplified(c)] == []


def test_place_is_given_by_line() -> None:
    page = "<p>甲</p>\n<p>乙\n8格</p>\n<img\nalt='軟件'>"
    assert [(f.rule, f.where) for f in check_html(page, "a.html")] == [
        ("spacing", "a.html:2"),
        ("mainland", "a.html:4 img[alt]"),
    ]


def test_masked_text_is_as_long_as_the_text() -> None:
    for page in [*GOOD_PAGES, *(page for page, _, _ in BAD_PAGES)]:
        for passage in passages(page, "page"):
            assert len(passage.shown) == len(passage.masked)
            assert passage.shown == re.sub(r"\s+", " ", passage.shown).rstrip()


def test_data_is_checked_through_and_through() -> None:
    data = {"a": [{"html": "<p>8格</p>"}, "內存"], "b": 3, "c": None}
    assert [(f.rule, f.where) for f in check_data(data, "x.json")] == [
        ("spacing", "x.json/a/0/html:1"),
        ("mainland", "x.json/a/1"),
    ]


def test_italics_in_styles_are_found() -> None:
    sheet = "/* font-style: italic */\np { font-style: normal; font-family: x }\nb { font: italic 1rem x }\n"
    sheet += "i { font-style:oblique 8deg }"
    assert [(f.rule, f.where) for f in check_style(sheet, "a.css")] == [
        ("italics", "a.css:3"),
        ("italics", "a.css:4"),
    ]


def test_slanted_elements_must_be_set_upright() -> None:
    pages = ["<p><em>甲</em><i class=x>乙</i></p>", "<img><iframe></iframe>"]
    assert [f.excerpt for f in judge_slant(pages, "p { color: red }", "styles")] == ["<em>", "<i>"]
    assert [f.excerpt for f in judge_slant(pages, "em, b { font-style: normal }", "styles")] == ["<i>"]
    assert judge_slant(pages, ":where(em, i) { font-style: normal; }", "styles") == []


def test_a_folder_is_checked_whole(tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    (tmp_path / "index.html").write_text("<p>好</p>", encoding="utf-8")
    assert check_site(tmp_path) == []
    (tmp_path / "lab" / "a.html").write_text("<p>8格</p><em>甲</em>", encoding="utf-8")
    (tmp_path / "frames.json").write_text('{"k": "\\u5167\\u5b58"}', encoding="utf-8")
    (tmp_path / "frames.json.gz").write_bytes(gzip.compress(b"[]"))  # a copy of the one before
    (tmp_path / "more.json.gz").write_bytes(gzip.compress('["<p>9格</p>"]'.encode()))
    (tmp_path / "a.css").write_text("b { font-style: italic }", encoding="utf-8")
    assert sorted({(f.rule, f.where) for f in check_site(tmp_path)}) == [
        ("italics", "a.css:1"),
        ("italics", "styles"),
        ("mainland", "frames.json/k"),
        ("spacing", "lab/a.html:1"),
        ("spacing", "more.json.gz/0:1"),
    ]


def test_the_site_is_written_as_in_taiwan(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert any("<h1" in page.read_text(encoding="utf-8") for page in pages)
    assert any(site.rglob("*.json.gz"))
    first: dict[tuple[str, str], Finding] = {}  # one sentence stands on many pages: it is named once
    for finding in check_site(site):
        first.setdefault((finding.rule, finding.excerpt), finding)
    report = [f"{f.rule} {f.where} 「{f.excerpt}」 {f.hint}" for f in first.values()]
    assert not report, "\n" + "\n".join(report)


def test_wording_lives_in_templates_alone() -> None:
    """Strings for the reader stand in templates; code holds none (stages/fonts.py lists punctuation only)."""
    han = re.compile("[\u3400-\u9fff]")
    code = [*ROOT.glob("sim/**/*.py"), *ROOT.glob("scenes/**/*.py"), *ROOT.glob("site/app/*.mjs")]
    assert code
    assert [path.name for path in code if han.search(path.read_text(encoding="utf-8"))] == []
