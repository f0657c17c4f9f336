"""Fonts for charts: one that has Chinese characters, where a system has one."""

from __future__ import annotations

from pathlib import Path

from matplotlib import font_manager

from collector.errors import CollectorError

LATIN = "DejaVu Sans"  # comes with matplotlib
# Families that have the characters of simplified Chinese, the best first.
_CHINESE = (
    "Noto Sans CJK SC",
    "Noto Sans SC",
    "Source Han Sans SC",
    "Source Han Sans CN",
    "WenQuanYi Micro Hei",
    "WenQuanYi Zen Hei",
    "Noto Sans CJK JP",  # all that is seen of a collection whose first face it is
    "Microsoft YaHei",
    "PingFang SC",
    "SimHei",
    "Droid Sans Fallback",
)


def families(*, chinese: bool) -> list[str]:
    """The font families to draw with, the first preferred, the others for what it lacks.

    :param chinese: whether the chart's own words are Chinese; otherwise a host's name may still be.
    :raises CollectorError: Chinese is wanted and no font has it.
    """
    found = _chinese_family()
    if chinese and found is None:
        raise CollectorError(
            "no font with Chinese characters is installed",
            remedy="install fonts-noto-cjk (Debian, Ubuntu) or google-noto-sans-cjk-fonts (Fedora, RHEL)",
        )
    if found is None:
        return [LATIN]
    return [found, LATIN] if chinese else [LATIN, found]


def _chinese_family() -> str | None:
    return _known() or (_known() if _read_new_fonts() else None)


def _known() -> str | None:
    names = {font.name for font in font_manager.fontManager.ttflist}
    return next((name for name in _CHINESE if name in names), None)


def _read_new_fonts() -> bool:
    """Take in the fonts that were installed after matplotlib wrote its list of them."""
    listed = {font.fname for font in font_manager.fontManager.ttflist}
    new = [file for file in font_manager.findSystemFonts() if file not in listed and _may_be_chinese(file)]
    for file in new:
        font_manager.fontManager.addfont(file)
    return bool(new)


def _may_be_chinese(file: str) -> bool:
    name = Path(file).name.casefold()
    return any(part in name for part in ("cjk", "han", "wqy", "noto", "hei", "ping", "droid", "msyh"))
