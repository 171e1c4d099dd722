"""Line charts as SVG, the same bytes for the same figures."""

import math
from collections.abc import Mapping, Sequence
from html import escape

_WIDTH, _HEIGHT = 750, 400
_LEFT, _RIGHT, _TOP, _BOTTOM = 70, 220, 46, 52
# Told apart without colour, too: each series has a dash and a marker of its own.
_COLOURS = (
    "#b3371e",
    "#5b6770",
    "#2f6f9f",
    "#3f7d45",
    "#8a5a9e",
    "#b08020",
    "#1f8a8a",
    "#a04060",
    "#4d4d9f",
    "#707020",
)
_DASHES = ("", "6 4", "2 3", "8 3 2 3", "4 2", "1 3", "10 4", "3 5", "7 2", "2 6")


def chart(
    title: str,
    across: str,
    up: str,
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    share: bool = False,
) -> str:
    """A chart with a logarithmic axis across; up is a share from 0 to 1, or logarithmic as well."""
    points = [point for line in series.values() for point in line]
    if not points:
        return ""
    xs, ys = [x for x, _ in points], [y for _, y in points if y > 0 or share]
    left, right = _decades(xs)
    low, high = (0.0, 1.0) if share else _decades(ys or [1.0])

    def place(x: float, y: float) -> tuple[float, float]:
        across_share = (math.log10(x) - left) / max(right - left, 1e-9)
        up_share = y if share else (math.log10(max(y, 10**low)) - low) / max(high - low, 1e-9)
        return (
            _LEFT + across_share * (_WIDTH - _LEFT - _RIGHT),
            _HEIGHT - _BOTTOM - up_share * (_HEIGHT - _TOP - _BOTTOM),
        )

    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif"',
        'font-size="12">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="26" font-size="15" font-weight="bold">{escape(title)}</text>',
        f'<text x="{middle}" y="{_HEIGHT - 12}" text-anchor="middle">{escape(across)}</text>',
        f'<text transform="translate(18 {_HEIGHT / 2}) rotate(-90)" text-anchor="middle">{escape(up)}</text>',
    ]
    for power in range(math.floor(left), math.ceil(right) + 1):
        x, _ = place(10**power, 1.0 if share else 10**low)
        parts.append(
            f'<line x1="{x:.1f}" y1="{_TOP}" x2="{x:.1f}" y2="{_HEIGHT - _BOTTOM}" stroke="#e4e4e4"/>'
        )
        parts.append(
            f'<text x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 18}" text-anchor="middle">{10**power:,}</text>'
        )
    ticks = [(n / 4, f"{n / 4:.2f}") for n in range(5)] if share else [
        (10.0**power, f"{10.0**power:g}") for power in range(math.floor(low), math.ceil(high) + 1)
    ]  # fmt: skip
    for value, label in ticks:
        _, y = place(10**left, value)
        parts.append(
            f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{_WIDTH - _RIGHT}" y2="{y:.1f}" stroke="#e4e4e4"/>'
        )
        parts.append(f'<text x="{_LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{label}</text>')
    for number, (name, line) in enumerate(series.items()):
        colour, dash = _COLOURS[number % len(_COLOURS)], _DASHES[number % len(_DASHES)]
        at = [place(x, y) for x, y in line]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
        style = f'fill="none" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"'
        parts.append(f'<polyline points="{path}" {style}/>')
        parts.extend(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5" fill="{colour}"/>' for x, y in at)
        y = _TOP + 10 + number * 20
        x = _WIDTH - _RIGHT + 16
        parts.append(f'<line x1="{x}" y1="{y}" x2="{x + 24}" y2="{y}" {style}/>')
        parts.append(f'<text x="{x + 30}" y="{y + 4}">{escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _decades(values: Sequence[float]) -> tuple[float, float]:
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return float(low), float(high if high > low else low + 1)
