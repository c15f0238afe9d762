"""The way from a page to the server, which can die without a word, as a sleeping phone's does."""

from dataclasses import dataclass, field

from playwright.sync_api import Page, WebSocketRoute


@dataclass
class Line:
    """Swallows all while it is `away`; a socket that was open then never speaks again."""

    away: bool = False
    deaths: int = 0
    refuses: bool = False
    sockets: list[WebSocketRoute] = field(default_factory=list)

    def lay(self, page: Page) -> "Line":
        """Put all sockets of the page on this line."""
        page.route_web_socket("**/ws", self._connect)
        return self

    def die(self) -> None:
        """Say nothing any more, not even that the line is dead."""
        self.away = True
        self.deaths += 1

    def cut(self) -> None:
        """Close all sockets, and let none open again."""
        self.refuses = True
        for each in self.sockets:
            each.close()

    def _connect(self, browser: WebSocketRoute) -> None:
        if self.refuses:
            browser.close()
            return
        self.sockets.append(browser)
        server, born = browser.connect_to_server(), self.deaths

        def passes() -> bool:
            return not self.away and self.deaths == born

        browser.on_message(lambda said: server.send(said) if passes() else None)
        server.on_message(lambda said: browser.send(said) if passes() else None)
