"""What the documents promise holds: the two READMEs agree, every command is described."""

from __future__ import annotations

import re
from pathlib import Path

from click.testing import CliRunner

from collector.cli import cli

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text()
README_ZH = (ROOT / "README.zh-CN.md").read_text()


def _code_blocks(text: str) -> list[str]:
    return re.findall(r"^```.*?^```", text, flags=re.MULTILINE | re.DOTALL)


def test_the_chinese_readme_has_the_same_sections_and_code() -> None:
    assert len(re.findall(r"^#+ ", README, re.MULTILINE)) == len(re.findall(r"^#+ ", README_ZH, re.MULTILINE))
    assert _code_blocks(README) == _code_blocks(README_ZH)


def test_links_lead_to_files() -> None:
    for document in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("roles/*/README.md")]:
        for target in re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", document.read_text()):
            if "://" not in target:
                assert (document.parent / target).exists(), f"{document}: {target}"


def test_every_command_is_described() -> None:
    commands = cli.list_commands(None)  # type: ignore[arg-type]
    text = (ROOT / "docs" / "collector.md").read_text()
    assert commands
    for command in commands:
        assert f"`collector {command}`" in text, command
        result = CliRunner().invoke(cli, [command, "--help"])
        assert result.exit_code == 0, result.output
        for option in re.findall(r"^  (?:-\w, )?(--[a-z-]+)", result.output, re.MULTILINE):
            assert option == "--help" or f"`{option}`" in text, f"{command} {option}"
