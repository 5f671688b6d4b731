"""Checks of what comes in: every refusal is a ValueError that names the value and its range."""

from __future__ import annotations


def whole(name: str, value: object) -> int:
    """Return `value` if it is a whole number (an int, and not a bool); ValueError naming it otherwise."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f"{name} must be a whole number, got {value!r}")
    return value


def in_range(name: str, value: object, low: int, high: int | None = None) -> int:
    """Return the whole number `value` if low <= value <= high (None: no upper end), else ValueError."""
    number = whole(name, value)
    if number < low or (high is not None and number > high):
        wanted = f"at least {low}" if high is None else f"from {low} to {high}"
        raise ValueError(f"{name} must be {wanted}, got {number}")
    return number


def number_in_range(name: str, value: object, low: float, high: float) -> float:
    """Return the number `value` (int or finite float) if low <= value <= high, else ValueError."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise ValueError(f"{name} must be a number from {low} to {high}, got {value!r}")
    if not low <= value <= high:  # also false for NaN
        raise ValueError(f"{name} must be from {low} to {high}, got {value!r}")
    return value


def one_of(name: str, value: object, choices: tuple[str, ...]) -> str:
    """Return `value` if it is one of `choices`, else ValueError listing them."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")
    return value


def yes_or_no(name: str, value: object) -> bool:
    """Return `value` if it is a bool, else ValueError."""
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return value
