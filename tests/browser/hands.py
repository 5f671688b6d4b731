"""The three ways in which readers act on a page: a mouse, a finger, a keyboard and nothing else."""

from __future__ import annotations

from abc import ABC, abstractmethod

from playwright.sync_api import Locator, Page, expect

MOST_TABS = 150
FOCUSED = "() => document.activeElement.id"


def refuses(target: Locator) -> bool:
    """Whether a button says that it can do nothing now. Playwright must be told to press it all the same."""
    return target.get_attribute("aria-disabled") == "true"


class Hand(ABC):
    """Acts on controls, each named by its id, as the reader would who has only this."""

    in_steps = False  # whether it passes what lies between, and settles on each

    def __init__(self, page: Page) -> None:
        self.page = page

    def at(self, control: str) -> Locator:
        """The control."""
        return self.page.locator(f"#{control}")

    @abstractmethod
    def press(self, control: str) -> None:
        """Press a button."""

    @abstractmethod
    def choose(self, control: str) -> None:
        """Choose a radio button."""

    @abstractmethod
    def slide(self, control: str, value: int) -> None:
        """Bring a slider to a value."""

    @abstractmethod
    def write(self, control: str, text: str) -> None:
        """Write a number into a field and leave it."""

    @abstractmethod
    def pick(self, control: str, value: str) -> None:
        """Pick an option of a list."""


class Pointer(Hand):
    """What mouse and finger have in common."""

    @abstractmethod
    def touch(self, target: Locator, x: float | None = None) -> None:
        """Press at a place, the middle unless ``x`` pixels from its left are given."""

    def press(self, control: str) -> None:
        """Press it."""
        self.touch(self.at(control))

    def choose(self, control: str) -> None:
        """Press its label, as the circle itself may not be shown."""
        self.touch(self.page.locator(f"label:has(#{control})"))

    def slide(self, control: str, value: int) -> None:
        """Press the track where the value is; the thumb's middle goes from half a thumb to half a thumb."""
        slider = self.at(control)
        slider.scroll_into_view_if_needed()
        box = slider.bounding_box()
        assert box is not None
        low, high = (int(slider.get_attribute(name) or "") for name in ("min", "max"))
        thumb = 16
        self.touch(slider, thumb / 2 + (box["width"] - thumb) * (value - low) / (high - low))
        expect(slider).to_have_value(str(value))

    def write(self, control: str, text: str) -> None:
        """Press the field, replace what it holds, go on with Enter as the keys of a phone do too."""
        self.touch(self.at(control))
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")

    def pick(self, control: str, value: str) -> None:
        """The list that opens is the browser's own, so all that can be done is to have it picked."""
        self.touch(self.at(control))
        self.page.keyboard.press("Escape")
        self.at(control).select_option(value)


class Mouse(Pointer):
    """A mouse."""

    def touch(self, target: Locator, x: float | None = None) -> None:
        """Click."""
        if x is None:
            target.click(force=refuses(target))
            return
        target.scroll_into_view_if_needed()
        box = target.bounding_box()
        assert box is not None
        self.page.mouse.click(box["x"] + x, box["y"] + box["height"] / 2)


class Finger(Pointer):
    """A finger on a screen that has no mouse."""

    def touch(self, target: Locator, x: float | None = None) -> None:
        """Tap."""
        if x is None:
            target.tap(force=refuses(target))
            return
        target.scroll_into_view_if_needed()
        box = target.bounding_box()
        assert box is not None
        self.page.touchscreen.tap(box["x"] + x, box["y"] + box["height"] / 2)


class Keyboard(Hand):
    """Keys alone: what Tab does not reach cannot be used. The way goes from the top of the scene."""

    in_steps = True

    def go(self, *controls: str) -> str:
        """Tab to the first of these controls that comes; give back which it was."""
        scene = self.page.evaluate(
            "id => document.getElementById(id).closest('[data-scene], main').id", controls[0]
        )
        if self.page.evaluate(FOCUSED) in controls:
            return str(self.page.evaluate(FOCUSED))
        self.page.evaluate(
            """id => { const top = document.getElementById(id);
            top.tabIndex = -1; top.focus(); top.removeAttribute("tabindex"); }""",
            scene,
        )
        for _ in range(MOST_TABS):
            self.page.keyboard.press("Tab")
            here = self.page.evaluate(FOCUSED)
            if here in controls:
                return str(here)
        raise AssertionError(f"Tab does not reach {' or '.join(controls)}")

    def press(self, control: str) -> None:
        """Press a button with Enter; a cell of a grid is reached through its one Tab stop."""
        if self.at(control).get_attribute("data-cell") is None:
            self.go(control)
        else:
            self.walk(control)
        self.page.keyboard.press("Enter")

    def walk(self, control: str) -> None:
        """Go within a grid from its Tab stop by arrows."""
        grid = self.page.locator(f"[data-grid]:has(#{control})")
        self.go(str(grid.locator("[data-cell][tabindex='0']").get_attribute("id")))
        place = "e => [Number(e.dataset.row), Number(e.dataset.col)]"
        row, column = self.page.evaluate(f"({place})(document.activeElement)")
        to_row, to_column = self.at(control).evaluate(place)
        for _ in range(abs(to_row - row)):
            self.page.keyboard.press("ArrowDown" if to_row > row else "ArrowUp")
        for _ in range(abs(to_column - column)):
            self.page.keyboard.press("ArrowRight" if to_column > column else "ArrowLeft")
        expect(self.at(control)).to_be_focused()

    def choose(self, control: str) -> None:
        """Tab into the group, go to the one wanted with the arrows; Space where it is not chosen yet."""
        name = self.at(control).get_attribute("name")
        group = self.page.locator(f"input[name='{name}']")
        ids = [str(one.get_attribute("id")) for one in group.all()]
        here = self.go(*ids)
        for _ in range((ids.index(control) - ids.index(here)) % len(ids)):
            self.page.keyboard.press("ArrowDown")
        expect(self.at(control)).to_be_focused()
        if not self.at(control).is_checked():
            self.page.keyboard.press("Space")

    def slide(self, control: str, value: int) -> None:
        """Home, then arrows."""
        self.go(control)
        self.page.keyboard.press("Home")
        for _ in range(value - int(self.at(control).get_attribute("min") or "")):
            self.page.keyboard.press("ArrowRight")
        expect(self.at(control)).to_have_value(str(value))

    def write(self, control: str, text: str) -> None:
        """Tab selects what the field holds; write over it."""
        self.go(control)
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.type(text)
        self.page.keyboard.press("Enter")

    def pick(self, control: str, value: str) -> None:
        """Arrows within the list."""
        self.go(control)
        values = self.at(control).locator("option").evaluate_all("all => all.map((one) => one.value)")
        self.page.keyboard.press("Home")
        for _ in range(values.index(value)):
            self.page.keyboard.press("ArrowDown")
        expect(self.at(control)).to_have_value(value)
