"""People of the demo: common first and family names of many places, put together by chance."""

from random import Random


def words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


FIRST = words(
    "Ada Aisha Alejandro Amara Anders Anya Arjun Astrid Ben Bianca Bo Camila Cem Chidi Clara Dai "
    "Dalia Daniel Diego Dina Elif Emeka Emma Esra Fatima Felix Finn Freya Gabriel Giulia Grace "
    "Hana Hassan Helena Hugo Ibrahim Ines Isla Ivan Jamal Jana Jonas Julia Kai Kavya Kenji Kofi "
    "Laila Lars Leo Lina Luca Lucia Mai Malik Maria Mateo Maya Mei Mila Milan Nadia Naomi Nico "
    "Nina Noah Nora Oliver Omar Oscar Paula Petra Priya Quinn Rafael Rania Ravi Rosa Ruben Sami "
    "Sara Sofia Stefan Sven Tara Tariq Theo Tomas Uma Valentina Vera Viktor Wanda Xin Yara Yusuf "
    "Zainab Zoe"
)
LAST = words(
    "Abara Adeyemi Ahmed Almeida Andersen Baptiste Barros Becker Bianchi Boateng Brandt Castillo "
    "Chaudhry Costa Cruz Dahl Delgado Demir Diallo Dimitrov Dubois Eriksen Farah Fernandes Fischer "
    "Fofana Fontaine Garcia Ghosh Gomez Grant Gupta Haddad Hansen Hashimoto Hoang Holm Horvat Ito "
    "Ivanova Jansen Jimenez Joshi Kamara Kapoor Kaya Keller Khan Kimura Kovac Kowalski Kruger Lam "
    "Larsen Lehmann Lima Lindgren Lopez Mahmoud Makinen Marino Martins Mbeki Mehta Mensah Meyer "
    "Miller Moreau Morgan Murphy Nakamura Nasser Ndiaye Nguyen Novak Nowak Obi Ochoa Okafor Olsen "
    "Ortega Owusu Parker Patel Pereira Petrov Popescu Quist Rahman Reyes Ricci Rivera Romano Rossi "
    "Ruiz Saito Salazar Santos Sato Schmidt Sharma Silva Singh Sokolov Tanaka Tran Turner Vargas "
    "Vega Virtanen Walker Weber Williams Yamada Yilmaz Zhang Zimmer"
)


def name(chance: Random) -> str:
    """A first and a family name."""
    return f"{chance.choice(FIRST)} {chance.choice(LAST)}"
