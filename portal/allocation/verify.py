"""Check an allocation round: python verify.py published.json [ballot code] [root you noted].

It needs Python 3.9 and nothing else. From the published file it computes the root, the seed and
the result again, in a simpler and slower way than the portal. docs/allocation.md explains them.
"""

import hashlib
import json
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def root_of(leaves):  # of the hash tree; the last hash of a row may be alone
    row = [sha256("leaf:" + json.dumps(x, sort_keys=True, separators=(",", ":"))) for x in leaves]
    while row[1:]:
        pairs = [row[at : at + 2] for at in range(0, len(row), 2)]
        row = [sha256("node:" + ":".join(pair)) if pair[1:] else pair[0] for pair in pairs]
    return row[0]


def clash(one, other):  # a meeting: days as bits, start and end, first and last date
    for a, b in [(a, b) for a in one["meetings"] for b in other["meetings"]]:
        first, last = max(a[3], b[3]), min(a[4], b[4])
        dates = range(first, min(last, first + 6) + 1)  # seven dates show every weekday
        if a[1] < b[2] and b[1] < a[2] and any((a[0] & b[0]) >> (d + 3) % 7 & 1 for d in dates):
            return True
    return False


class Round:
    def __init__(self, settings, ballots, seed, dead):  # dead: joint choices that are taken out
        sections = {each["id"]: each for each in settings["sections"]}
        self.ballots = {each["pseudonym"]: each for each in ballots}
        self.free = Counter({("", pool): seats for pool, seats in settings["pools"].items()})
        for name, each in sections.items():
            self.free.update({(name, cohort): seats for cohort, seats in each["reserves"]})
            self.free[name, ""] = each["capacity"] - sum(seats for _, seats in each["reserves"])
        self.options, self.held, self.taken, self.teams, draw = {}, {}, {}, {}, []
        for who, ballot in self.ballots.items():
            tickets = range(min(1 + ballot["unmet"], settings["tickets"]))
            draw.append((min(sha256(f"{seed}:{who}:{number}") for number in tickets), who))
            self.held[who], own = {}, ballot["own"]  # held: the number of an option: its turn
            self.options[who] = [
                (choice, rank, [sections[x] | own.get(x, {}) for x in bundle], entry["joint"])
                for choice, entry in enumerate(ballot["choices"], 1)
                for rank, bundle in enumerate(entry["alternatives"], 1)
            ]
            for at, (*_, joint) in enumerate(self.options[who]):
                self.teams.setdefault(joint or (who, at), []).append((who, at))
        self.position = {who: at for at, (_, who) in enumerate(sorted(draw))}  # the draw order
        self.crossed = {each for name in dead for each in self.teams[name]}

    def chosen(self, who, places):  # what can be held together, walking from the best down
        ballot, found = self.ballots[who], []
        for at in sorted(places):
            options = [self.options[who][each] for each in [*found, at]]
            parts = [(choice, part) for choice, _, bundle, _ in options for part in bundle]
            courses = {(choice, part["course"]) for choice, part in parts}
            if (
                (who, at) not in self.crossed
                and len({choice for choice, *_ in options}) == len(options)
                and len({course for _, course in courses}) == len(courses) <= ballot["most_courses"]
                and sum(part["credits"] for _, part in parts) <= ballot["most_credits"]
                and sum(x.get("load", x["credits"]) for _, x in parts) <= ballot["credit_limit"]
                and not any(part["id"] in ballot["refused"] for _, part in parts)
                and not any(clash(one, other) for (_, one), (_, other) in combinations(parts, 2))
            ):
                found.append(at)
        return found

    def take(self, who, at):  # all seats of an option, or none
        seats = []
        for part in self.options[who][at][2]:
            mine = [name for name, _ in part["reserves"] if name in self.ballots[who]["cohorts"]]
            ways = [(part["id"], name) for name in [*mine, ""]]
            seats += [next(filter(self.free.get, ways), ways[-1])]
            seats += [("", part["pool"])] if part["pool"] else []
        possible = all(self.free[seat] >= count for seat, count in Counter(seats).items())
        if possible:
            self.taken[who, at] = seats
            self.free.subtract(seats)
        return possible

    def move(self, team, turn=None):  # take an option for good (None: try it), give up lower ones
        after = {who: self.chosen(who, [*self.held[who], at]) for who, at in team}
        lost = [(who, at) for who in after for at in self.held[who] if at not in after[who]]
        if any(at not in after[w] for w, at in team) or any(self.options[w][a][3] for w, a in lost):
            return False
        back = [seat for each in lost for seat in self.taken[each]]
        self.free.update(back)
        taken = [each for each in team if self.take(*each)]
        if turn is None or len(taken) < len(team):
            self.free.update([seat for each in taken for seat in self.taken[each]])
            self.free.subtract(back)
        else:
            self.held |= {w: {at: self.held[w].get(at, turn) for at in after[w]} for w in after}
        return len(taken) == len(team)

    def pick(self, who, turn, *, draft):  # the best option that can be had, or else all of them
        for at in range(max(self.held[who], default=-1) + 1, len(self.options[who])):
            if self.move([(who, at)], turn) and draft:
                return len({part["course"] for part in self.options[who][at][2]})  # turns used
        return 0

    def serial(self):
        for who, at in self.position.items():
            self.pick(who, at + 1, draft=False)

    def draft(self):
        next_turn, turn = dict.fromkeys(self.position, 1), 1
        while next_turn:
            for who in list(next_turn)[:: 1 if turn % 2 else -1]:
                if next_turn[who] == turn:
                    next_turn[who] += self.pick(who, turn, draft=True) or -turn
            next_turn, turn = {who: at for who, at in next_turn.items() if at}, turn + 1

    def key(self, team):  # of who applies together, the smaller the better: level, then draw order
        orders = [(who, part["priority"]) for who, at in team for part in self.options[who][at][2]]
        mine = {who: {*self.ballots[who]["cohorts"], ""} for who, _ in team}
        levels = [[name in mine[who] for name in [*order, ""]].index(True) for who, order in orders]
        return max(levels), max((self.position[who], at) for who, at in team)

    def deferred(self):
        again = set(self.held)
        while again:
            for who in again:
                self.held[who] = dict.fromkeys(self.chosen(who, range(len(self.options[who]))), 0)
            before, applied = self.free.copy(), self.held.items()
            teams = sorted(([(who, at)] for who, mine in applied for at in mine), key=self.key)
            away = {team[0] for team in teams if not self.take(*team[0])}
            self.crossed, again = self.crossed | away, {who for who, _ in away}
            self.free = before if away else self.free


def result_of(settings, ballots, seed):
    dead, parted, moves = set(), {""}, [[]]
    while parted:  # compute again without the joint choices that some of their group miss
        found = Round(settings, ballots, seed, dead)
        getattr(found, settings["mechanism"])()
        teams, held, options = found.teams, found.held, found.options
        parted = {name for name in teams if len({at in held[who] for who, at in teams[name]}) > 1}
        dead |= parted
    found.crossed = set()
    while moves:  # the final pass: leave no seat empty that a student would take
        left = [team for team in teams.values() if team[0][1] not in held[team[0][0]]]
        moves = sorted((team for team in left if found.move(team)), key=found.key)
        for team in moves:
            found.move(team, turn=0)
    return {w: [[*options[w][at][:2], mine[at]] for at in sorted(mine)] for w, mine in held.items()}


def main(path, code="", noted=""):
    data = json.loads(Path(path).read_text(encoding="utf-8"))
    settings, ballots, result = data["settings"], data["ballots"], data["result"]
    mine, names = sha256(code), [each["pseudonym"] for each in ballots]
    root, seed = root_of([settings, *ballots]), sha256(f"{data['secret']}:{data['public_value']}")
    tests = {
        "The ballots are in order, and none is there twice.": names == sorted(set(names)),
        "The root is the one of these settings and ballots.": root == data["root"],
        "It is the root that you noted.": noted in ("", root),
        "Your ballot is in the file.": not code or mine in names,
        "The secret is the committed one.": sha256(data["secret"]) == settings["commitment"],
        "The result follows from them.": result == result_of(settings, ballots, seed),
    }
    print(*(f"{'yes' if passed else 'NO '} {text}" for text, passed in tests.items()), sep="\n")
    print("Your ballot, seats:", [b for b in ballots if b["pseudonym"] == mine], result.get(mine))
    print("Announced?", root, [(k, v) for k, v in {**settings, **data}.items() if "public" in k])
    return 0 if all(tests.values()) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
