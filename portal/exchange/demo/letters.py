"""The demo's courses in economics, psychology, history, English and the arts."""

from portal.exchange.demo.plans import Plan, all_of, any_of

NO_FRESHMEN = (("may_not_be", "classification", "Freshman"),)
SOCIAL = ("Social Sciences",)
HUMAN = ("Humanities",)
WRITING = ("Communication Intensive",)
MAKING = ("Arts",)

# fmt: off
ECONOMICS = (
    Plan("ECO-110", "Small Decisions", 3, 4,
         "Prices, choices and why queues form.", categories=SOCIAL),
    Plan("ECO-120", "Large Economies", 3, 3, "Growth, money and who gets what.", categories=SOCIAL),
    Plan("ECO-230", "Auctions and Lotteries", 3, 2, "Fair ways to share what is scarce.",
         needs=all_of("ECO-110")),
    Plan("ECO-250", "Economics by Numbers", 3, 2, "Data about people, read with care.",
         needs=all_of(any_of("ECO-110", "ECO-120"), any_of("MAT-105", "MAT-120"))),
    Plan("ECO-340", "Public Choices", 3, 1, "Votes, taxes, parks.",
         needs=all_of("ECO-110", "ECO-120"), rules=NO_FRESHMEN),
    Plan("ECO-490", "Thesis in Economics", 3, 1, "A question of your own.", majors=("ECO",),
         needs=all_of("ECO-250"), most=6, form="tba", seats=25),
)

PSYCHOLOGY = (
    Plan("PSY-110", "Mind and Behaviour", 3, 5, "What we notice, remember and want.",
         categories=SOCIAL),
    Plan("PSY-150", "Sleep, Stress and Study", 2, 3, "The science of getting through a semester.",
         form="half", categories=SOCIAL),
    Plan("PSY-220", "Perception", 3, 2, "How the world gets in.", needs=all_of("PSY-110")),
    Plan("PSY-240", "Groups and Crowds", 3, 2, "Why people press a button all at once.",
         needs=all_of("PSY-110")),
    Plan("PSY-330", "Experiments with People", 4, 1, "Ask well, count well, do no harm.",
         needs=all_of(any_of("PSY-220", "PSY-240"), "MAT-105"), rules=NO_FRESHMEN, form="lab"),
)

HISTORY = (
    Plan("HIS-101", "A World of Cities", 3, 4, "From Uruk to the suburbs.", categories=HUMAN),
    Plan("HIS-115", "Maps and Empires", 3, 3, "Who drew the lines.", categories=HUMAN),
    Plan("HIS-190", "A Day in the Archive", 1, 2, "White gloves, one box, two readers.",
         seats=1, form="workshop"),
    Plan("HIS-195", "First-Year Seminar: Rumours", 2, 3, "How news travelled before it was fast.",
         years=("Freshman",), rules=(("must_be", "classification", "Freshman"),), seats=18,
         categories=WRITING),
    Plan("HIS-230", "The Age of Steam", 3, 2, "Engines, railways, timetables.",
         needs=any_of("HIS-101", "HIS-115")),
    Plan("HIS-340", "Witnesses", 3, 1, "Letters, diaries, testimony.", needs=all_of("HIS-230"),
         rules=NO_FRESHMEN, categories=WRITING),
)

ENGLISH = (
    Plan("ENG-101", "Writing Plainly", 3, 6, "Say it, then say it shorter.", seats=24,
         categories=WRITING),
    Plan("ENG-120", "Stories and How They Work", 3, 4,
         "Beginnings, middles, ends.", categories=HUMAN),
    Plan("ENG-210", "Poetry Workshop", 2, 2,
         "A poem a week, read aloud.", form="workshop", seats=12),
    Plan("ENG-230", "Science Fiction", 3, 2, "Other worlds as questions about this one.",
         needs=any_of("ENG-101", "ENG-120")),
    Plan("ENG-330", "Editing", 3, 1, "Other people's words, made better.", needs=all_of("ENG-101"),
         rules=NO_FRESHMEN, categories=WRITING),
)

ARTS = (
    Plan("ART-110", "Drawing", 3, 4,
         "Learning to look.", form="studio", seats=20, categories=MAKING),
    Plan("ART-150", "Letterpress Weekend", 1, 2, "One press, a tray of type, two pairs of hands.",
         seats=2, form="workshop"),
    Plan("ART-160", "Photography after Dark", 3, 2, "Long exposures in the evening.", form="studio",
         seats=14, categories=MAKING),
    Plan("ART-220", "Type and Layout", 3, 2, "Pages that can be read.", needs=all_of("ART-110"),
         form="studio", seats=16),
    Plan("ART-240", "Interfaces", 3, 2, "Screens for people in a hurry.",
         needs=any_of("ART-110", "CSC-110"), form="studio", seats=18),
    Plan("ART-480", "Portfolio", 4, 1, "What you will show.", majors=("ART",),
         needs=all_of("ART-220", "ART-240"), rules=(("must_be", "classification", "Senior"),),
         form="studio", seats=12),
)

COURSES = ECONOMICS + PSYCHOLOGY + HISTORY + ENGLISH + ARTS
