# SPDX-License-Identifier: BSD-2-Clause
"""What a test does with the page that a browser shows: texts, counts, clicks, what is typed and chosen."""
import json
import os

from browser import Browser


class Reader(Browser):
    """A browser with pages of a directory, in a time zone that is not UTC."""

    def __init__(self, directory):
        super().__init__(os.path.join(directory, "profile"), zone="Asia/Kathmandu")
        self.directory = directory

    def open_page(self, name, width=1280, dark=False, place=""):
        """Opens a page at a place, the part of its address after its name."""
        self.view(width, 900, dark)
        if place:
            self.visit("about:blank")  # a place in the page that is open is not a new page
        self.open(os.path.join(self.directory, name + ".html"), place)

    def each(self, selector, expression):
        """The values of an expression for `e`, each element of a selector."""
        return self.run(f"[...document.querySelectorAll({json.dumps(selector)})].map(e => {expression})")

    def texts(self, selector):
        return self.each(selector, "e.textContent")

    def text(self, selector):
        return self.run(f"document.querySelector({json.dumps(selector)}).textContent")

    def amount(self, selector):
        return self.run(f"document.querySelectorAll({json.dumps(selector)}).length")

    def label(self, selector):
        return self.run(f"document.querySelector({json.dumps(selector)}).getAttribute('aria-label')")

    def click(self, selector):
        self.run(f"document.querySelector({json.dumps(selector)}).click()")

    def focus(self, selector):
        self.run(f"document.querySelector({json.dumps(selector)}).focus()")

    def drawn(self, expression):
        """The value of an expression when the browser has drawn what has changed."""
        return self.run(f"new Promise(r => requestAnimationFrame(() => requestAnimationFrame(() => r({expression}))))")

    def keys(self, *keys):
        for key in keys:
            self.key(key)

    def enter(self, name, value, event):
        self.run(f"(e => {{ e.value = {json.dumps(value)}; e.dispatchEvent(new Event('{event}')); }})"
                 f"(document.getElementById('{name}'))")

    def choose(self, name, value):
        """Chooses a value of a list."""
        self.enter(name, value, "change")

    def filter(self, words):
        self.enter("filter", words, "input")
