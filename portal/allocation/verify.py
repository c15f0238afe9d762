"""Check an allocation round: python verify.py published.json [ballot code] [root you noted].

It needs Python 3.9 and nothing else. From the published file it computes the root, the seed and
the result again, in a simpler and slower way than the portal. docs/allocation.md explains them.
"""

import hashlib
import json
import sys
from collections import Counter
from itertools import combinations, product, zip_longest


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def root_of(leaves):  # of the hash tree; the last hash of a row may be alone
    row = [sha256("leaf:" + json.dumps(x, sort_keys=True, separators=(",", ":"))) for x in leaves]
    while row[1:]:
        row = [sha256(f"node:{a}:{b}") if b else a for a, b in zip_longest(row[::2], row[1::2])]
    return row[0]


def clash(one, other):  # a meeting: days as bits, start and end, first and last date
    return any(
        a[1] < b[2] and b[1] < a[2] and (a[0] & b[0]) >> (date + 3) % 7 & 1
        for a, b in product(one["meetings"], other["meetings"])
        for date in range(max(a[3], b[3]), min(a[4], b[4], max(a[3], b[3]) + 6) + 1)  # a week
    )


class Round:
    def __init__(self, settings, ballots, seed, dead):  # dead: joint choices that are taken out
        ranked = settings["mechanism"] == "deferred"  # the others read no priorities
        sections = {x["id"]: x | {"priority": x["priority"] * ranked} for x in settings["sections"]}
        self.ballots = {each["pseudonym"]: each for each in ballots}
        self.free = Counter({("", pool): n for pool, n in {**settings["pools"], "": 10**9}.items()})
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
        seats, cohorts = [], self.ballots[who]["cohorts"]
        for part in self.options[who][at][2]:
            mine = [(part["id"], name) for name, _ in part["reserves"] if name in cohorts]
            seats += [next(filter(self.free.get, mine), (part["id"], "")), ("", part["pool"])]
        possible = all(self.free[seat] >= count for seat, count in Counter(seats).items())
        self.taken[who, at] = seats if possible else []
        self.free.subtract(self.taken[who, at])
        return possible

    def move(self, team, turn=None):  # take an option for good (None: try it), give up lower ones
        after = {who: self.chosen(who, [*self.held[who], at]) for who, at in team}
        lost = [(who, at) for who in after for at in self.held[who] if at not in after[who]]
        if any(at not in after[w] for w, at in team) or any(self.options[w][a][3] for w, a in lost):
            return False
        self.free.update([seat for each in lost for seat in self.taken[each]])
        taken = [each for each in team if self.take(*each)]
        if turn is None or len(taken) < len(team):
            self.free.update([seat for each in taken for seat in self.taken[each]])
            self.free.subtract([seat for each in lost for seat in self.taken[each]])
        else:
            self.held |= {w: {at: self.held[w].get(at, turn) for at in after[w]} for w in after}
        return len(taken) == len(team)

    def serial(self):
        for who, number in self.position.items():
            for at in range(len(self.options[who])):
                self.move([(who, at)], number + 1)

    def draft(self):
        next_turn = Counter()  # of each student: a bundle uses a turn for each of its courses
        for turn in range(1, 1 + max([0, *(x["most_courses"] for x in self.ballots.values())])):
            for who in list(self.position)[:: 1 if turn % 2 else -1]:
                for at in range(max(self.held[who], default=-1) + 1, len(self.options[who])):
                    if next_turn[who] <= turn and self.move([(who, at)], turn):
                        next_turn[who] = turn + len({x["course"] for x in self.options[who][at][2]})

    def key(self, team):  # of who applies together, the smaller the better: level, then draw order
        parts = [(self.ballots[w], x["priority"]) for w, a in team for x in self.options[w][a][2]]
        levels = [[*(x in who["cohorts"] for x in order), True].index(True) for who, order in parts]
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
    dead, parted, moves = set(), [""], [[]]
    while parted:  # compute again without the last groups of those that some of their group miss
        found = Round(settings, ballots, seed, dead)
        getattr(found, settings["mechanism"])()
        teams, held, options = found.teams, found.held, found.options
        parted = [name for name in teams if len({at in held[who] for who, at in teams[name]}) > 1]
        late = [name for _, name in sorted((found.key(teams[name])[1], name) for name in parted)]
        out = {x["pool"] or x["id"]: n for n in late for w, a in teams[n] for x in options[w][a][2]}
        dead.update(out.values())
    found.crossed = set()
    while moves:  # the final pass: leave no seat empty that a student would take
        moves = [t for t in teams.values() if t[0][1] not in held[t[0][0]] and found.move(t)]
        for team in sorted(moves, key=found.key):
            found.move(team, turn=0)
    return {w: [[*options[w][at][:2], mine[at]] for at in sorted(mine)] for w, mine in held.items()}


def sense(settings, ballots):  # whether these can be the settings and ballots of a round
    found, names = Round(settings, ballots, "", []), [each["pseudonym"] for each in ballots]
    fine = names == sorted({f"{int(x, 16):064x}" for x in names}) and min(found.free.values()) >= 0
    fine &= len(settings["sections"]) == len({each["id"] for each in settings["sections"]})
    for own in (fields for each in ballots for fields in each["own"].values()):
        fine &= all(type(own[x]) is int and own[x] >= 0 for x in {*own} - {"course", "meetings"})
    for joint, team in found.teams.items():  # or one alternative of one student, without a name
        bundles = [[part["id"] for part in found.options[who][at][2]] for who, at in team]
        fine &= all([] != x == bundles[0] and len({*x}) == len(x) for x in bundles)
        fine &= len(dict(team)) == len(team) <= 4 and (team[1:] != [] or isinstance(joint, tuple))
    return fine


def main(path, code="", noted=""):
    data = json.load(open(path, "rb"), parse_float=int, parse_constant=int)  # 1.5: an error
    settings, ballots, result = data["settings"], data["ballots"], data["result"]
    root, seed = root_of([settings, *ballots]), sha256(f"{data['secret']}:{data['public_value']}")
    mine = [each for each in ballots if each["pseudonym"] == sha256(code)]
    tests = {
        "The settings and ballots make sense.": sense(settings, ballots),
        "The root fits the file and the one you noted.": root == data["root"] == (noted or root),
        "Your ballot is in the file.": mine or not code,
        "The secret is the committed one.": sha256(data["secret"]) == settings["commitment"],
        "The result follows from them.": result == result_of(settings, ballots, seed),
    }
    print(*(f"{'yes' if passed else 'NO '} {text}" for text, passed in tests.items()), sep="\n")
    print("Your ballot, seats:", mine, result.get(sha256(code)))
    print("Announced?", root, {**settings, "sections": "", "public_value": data["public_value"]})
    return 0 if all(tests.values()) else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
