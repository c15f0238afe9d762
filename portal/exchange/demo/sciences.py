"""The demo's courses in computing, mathematics and the natural sciences."""

from portal.exchange.demo.plans import Plan, all_of, any_of

NO_FRESHMEN = (("may_not_be", "classification", "Freshman"),)
QUANTITATIVE = ("Quantitative Reasoning",)
NATURAL = ("Natural Sciences",)

# fmt: off
COMPUTING = (
    Plan("CSC-110", "Programming from Scratch", 4, 5,
         "Small programs that do what they say, and how to find out when they don't.",
         form="lab", categories=QUANTITATIVE),
    Plan("CSC-120", "Data and Structure", 4, 3,
         "Lists, trees and graphs, and what each is good for.",
         needs=all_of("CSC-110"), form="lab"),
    Plan("CSC-190", "Robot Soccer Workshop", 1, 2,
         "Two robots, one ball, one seat a team. No experience is needed.",
         seats=2, form="workshop"),
    Plan("CSC-225", "How Computers Work", 4, 2, "From gates to a machine that runs your programs.",
         needs=all_of("CSC-120")),
    Plan("CSC-240", "Discrete Structures", 3, 2, "Proofs, counting and chance for programmers.",
         needs=all_of("CSC-110", any_of("MAT-110", "MAT-120")), also="MAT-240"),
    Plan("CSC-310", "Databases in Practice", 3, 2, "Storing facts so that they stay true.",
         needs=all_of("CSC-225", "CSC-240"), rules=NO_FRESHMEN),
    Plan("CSC-330", "Networks and Rushes", 3, 2, "What happens when everybody comes at once.",
         needs=all_of("CSC-225"), rules=NO_FRESHMEN),
    Plan("CSC-480", "Senior Project in Computing", 4, 2, "A year's worth of ideas in one semester.",
         needs=all_of("CSC-310", any_of("CSC-330", "MAT-330")), majors=("CSC",), seats=12),
    Plan("CSC-499", "Independent Study in Computing", 1, 1, "By agreement with a teacher.",
         most=4, form="tba", seats=20),
)

MATHEMATICS = (
    Plan("MAT-105", "Statistics in Seven Weeks", 2, 4, "Reading a graph, doubting a number.",
         form="half", categories=QUANTITATIVE),
    Plan("MAT-110", "Mathematics of Everyday Things", 3, 3,
         "Queues, maps, elections and other puzzles.",
         categories=QUANTITATIVE),
    Plan("MAT-120", "Calculus I", 4, 5, "Slopes, areas and the bridge between them.", exam=True,
         categories=QUANTITATIVE),
    Plan("MAT-130", "Calculus II", 4, 3, "Series, integrals and curves.", needs=all_of("MAT-120"),
         exam=True),
    Plan("MAT-220", "Linear Algebra", 4, 2, "Spaces, maps and how to compute with them.",
         needs=any_of("MAT-120", "CSC-240")),
    Plan("MAT-240", "Discrete Mathematics", 3, 1, "Proofs, counting and chance.",
         needs=any_of("MAT-110", "MAT-120"), also="CSC-240"),
    Plan("MAT-330", "Probability", 3, 2, "Chance, measured.", needs=all_of("MAT-130", "MAT-220")),
    Plan("MAT-499", "Reading in Mathematics", 1, 1,
         "One book, slowly.", most=3, form="tba", seats=15),
)

PHYSICS = (
    Plan("PHY-100", "Light and Sound", 3, 4, "Rainbows, echoes and the physics of a concert hall.",
         categories=NATURAL),
    Plan("PHY-110", "Mechanics", 4, 3,
         "Why things move, and when they stop.", along=all_of("MAT-120"),
         form="lab", categories=NATURAL),
    Plan("PHY-120", "Electricity and Magnetism", 4, 2, "Fields, charges and currents.",
         needs=all_of("PHY-110", "MAT-120"), form="lab"),
    Plan("PHY-210", "Modern Physics", 3, 1, "Relativity and the small.",
         needs=all_of("PHY-120", "MAT-130")),
    Plan("PHY-320", "Instruments", 4, 1, "Build what you measure with.", needs=all_of("PHY-210"),
         form="studio", seats=12),
    Plan("PHY-510", "Graduate Seminar in Physics", 2, 1, "New papers, old questions.",
         levels=("Graduate",), rules=(("must_be", "level", "Graduate"),), seats=15),
)

CHEMISTRY = (
    Plan("CHE-100", "Chemistry in the Kitchen", 3, 3, "Bread, cheese and caramel, explained.",
         categories=NATURAL),
    Plan("CHE-110", "General Chemistry", 4, 4, "Matter, and what it turns into.", form="lab",
         exam=True, categories=NATURAL),
    Plan("CHE-210", "Organic Chemistry", 4, 2,
         "Carbon's many arrangements.", needs=all_of("CHE-110"), along=all_of("CHE-211")),
    Plan("CHE-211", "Organic Chemistry Practical", 1, 3, "An afternoon a week at the bench.",
         needs=all_of("CHE-110"), along=all_of("CHE-210"), form="workshop", seats=16),
    Plan("CHE-330", "Analysis of Materials", 3, 1, "What is it made of, and how sure are you?",
         needs=all_of("CHE-210", "MAT-120"), rules=NO_FRESHMEN),
)

BIOLOGY = (
    Plan("BIO-100", "The Living Campus", 3, 3, "Birds, trees and insects between two lectures.",
         categories=NATURAL),
    Plan("BIO-110", "Cells and Genes", 4, 4,
         "How life copies itself.", form="lab", categories=NATURAL),
    Plan("BIO-220", "Ecology", 4, 3, "Who eats whom, and what follows.", needs=all_of("BIO-110"),
         form="lab"),
    Plan("BIO-240", "Human Physiology", 4, 2, "The body as a system of systems.",
         needs=all_of("BIO-110", any_of("CHE-100", "CHE-110"))),
    Plan("BIO-350", "Genetics", 4, 1, "Reading and mending the code.",
         needs=all_of("BIO-110", "CHE-110", "MAT-105"), rules=NO_FRESHMEN, form="lab"),
    Plan("BIO-510", "Graduate Seminar in Biology", 2, 1, "Talks by guests, questions by you.",
         levels=("Graduate",), rules=(("must_be", "level", "Graduate"),), seats=15),
)

COURSES = COMPUTING + MATHEMATICS + PHYSICS + CHEMISTRY + BIOLOGY
