"""Paragraphs and tables of a page in Markdown; the benchmarks use them too."""

import textwrap


def wrapped(text):
    """The text with lines of at most 120 characters; tables, titles and pictures stay."""
    return "\n\n".join(wrapped_paragraph(paragraph) for paragraph in text.split("\n\n"))


def wrapped_paragraph(paragraph):
    if paragraph.startswith(("#", "|", "!")):
        return paragraph
    fill = {"width": 120, "break_long_words": False, "break_on_hyphens": False}
    if paragraph.startswith("- "):
        items = paragraph.removeprefix("- ").split("\n- ")
        return "\n".join(
            textwrap.fill(" ".join(item.split()), initial_indent="- ", subsequent_indent="  ", **fill) for item in items
        )
    return textwrap.fill(" ".join(paragraph.split()), **fill)


def table(header, rows):
    """A Markdown table; the first column is text, the others are numbers."""
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)
