"""The windows and deadlines in the model of the ledger: set, changed and passed."""

from collections.abc import Sequence

from portal.ledger.errors import WindowRefused
from portal.ledger.types import DEADLINES, Reason
from tests.ledger.model_state import Book, Window


class Calendar(Book):
    """The windows of a term."""

    def put_window(self, number: int, name: str, opens: int, closes: int, at: int) -> int:
        known = self.windows.get(number)
        if known:
            if (known.name, known.opens, known.closes) == (name, opens, closes):
                return 0
            raise WindowRefused("exists")
        check_times(opens, closes, at)
        self.windows[number] = Window(name, opens, closes)
        return self.journal("window_set", number)

    def change_window(self, op: str, number: int, times: Sequence[int], at: int) -> int:
        window = self.windows.get(number)
        if not window:
            raise WindowRefused("unknown")
        if window.state == "canceled":
            raise WindowRefused("canceled")
        if window.state == "closed" or at >= window.closes:
            raise WindowRefused("already_ended")
        started = at >= window.opens
        if op in ("move_window", "cancel_window") and started:
            raise WindowRefused("already_open")
        if op in ("extend_window", "close_window") and not started:
            raise WindowRefused("not_open")
        if op == "move_window":
            check_times(times[0], times[1], at)
            window.opens, window.closes = times
        elif op == "extend_window":
            if times[0] <= window.closes:
                raise WindowRefused("times_crossed")
            window.closes = times[0]
        elif op == "close_window":
            window.state, window.closes = "closed", at
        else:
            window.state = "canceled"
        return self.journal("window_set", number)

    def put_deadlines(self, deadlines: dict[str, int], version: int, at: int) -> int:
        if version < self.deadlines_seen:
            return 0
        self.deadlines_seen = version
        if deadlines == self.deadlines:
            return 0
        was_over, known = not self.gives_seats, self.deadlines
        refused = self.passed & {"drop_deadline", "withdraw_deadline"}
        self.deadlines = dict(deadlines)
        told = {name for name in self.passed if known[name] == deadlines.get(name)}
        self.passed = {name for name, ends in deadlines.items() if ends <= at}
        seq = self.journal("deadlines_set", 0)
        for section in sorted(self.sections) if refused - self.passed else ():
            self.reconsider(section)
        if was_over and self.gives_seats:
            for section in self.sections:
                self.look_at(section)
        self.tell_passed(told)
        return seq

    def pass_deadlines(self, at: int) -> None:
        told = self.passed
        self.passed = {name for name, ends in self.deadlines.items() if ends <= at}
        self.tell_passed(told)

    def tell_passed(self, told: set[str]) -> None:
        for name in DEADLINES:
            if name in self.passed - told:
                self.journal("deadline_passed", 0)

    def turn(self, at: int) -> list[tuple[int, str]]:
        self.pass_deadlines(at)
        turned = []
        for number, window in sorted(self.windows.items()):
            for moment, name in ((window.opens, "opened"), (window.closes, "closed")):
                if window.state == "canceled" or at < moment or name in window.told:
                    continue
                window.told.add(name)
                turned.append((number, name))
                self.journal(f"window_{name}", number)
                for section in sorted(self.sections) if name == "opened" else ():
                    self.reconsider(section)
        for section, each in sorted(self.sections.items()):
            if any(each.at < reserve.until <= at for reserve in each.spec.reserves):
                each.at = at
                each.skipped.clear()
                each.aside.clear()
                self.tell("reserve_opened", section)
        return turned

    def late_to_add(self) -> list[Reason]:
        found = self.passed & {"add_deadline"}
        return [Reason(name, {"closes": self.deadlines[name]}) for name in found]

    def late_to_leave(self) -> list[Reason]:
        withdraw = self.deadlines.get("withdraw_deadline")
        if "withdraw_deadline" in self.passed:
            return [Reason("withdraw_deadline", {"closes": withdraw})]
        if "drop_deadline" in self.passed:
            facts = {"closes": self.deadlines["drop_deadline"]}
            return [Reason("drop_deadline", facts | ({"withdraw": withdraw} if withdraw else {}))]
        return []

    def window(self, windows: Sequence[int], at: int) -> list[Reason]:
        found = {each: self.windows[each] for each in windows if each in self.windows}
        known = [each for each in found.values() if each.state != "canceled"]
        open_ = [
            number
            for number, each in found.items()
            if each.state == "scheduled" and each.opens <= at < each.closes
        ]
        self.during = max(open_, key=lambda number: found[number].opens, default=0)
        if open_:
            return []
        coming = [each.opens for each in known if at < each.opens]
        if coming:
            return [Reason("window_before", {"opens": min(coming)})]
        if known:
            return [Reason("window_ended", {"closes": max(each.closes for each in known)})]
        return [Reason("window_unscheduled")]


def check_times(opens: int, closes: int, at: int) -> None:
    if opens >= closes:
        raise WindowRefused("times_crossed")
    if closes <= at:
        raise WindowRefused("in_the_past")
