"""Names of people: common given names, by which a column of names is known whatever it is called.

The commonest given names in the statistics of Spain, Catalonia, the United States, the United Kingdom, France, Germany,
Italy, Portugal, Poland and the Netherlands, without accents. A list of names proves nothing about one cell; half of the
cells of a column do.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

#: Share of the values that must hold a given name.
ENOUGH = 0.5
#: Fewer different values could be the name of a place or a product each.
FEWEST = 8

GIVEN = frozenset(
    """aaron ada adam adele adrian agata agnes agnieszka aina aisha aitana albert alberto aleix alejandro alessandro alessia
    alex alexander alexandra alexandre alfonso alfred alice alicia alina amanda amelia amina amparo amy ana andre andrea
    andreas andres andrew angel angela angeles anita anja anke ann anna anne annette anthony antoine antonella antonia
    antonio arnau arthur arturo ashley astrid aurora ava axel barbara bartosz beatriz benjamin berta bernard bernat biel birgit
    blanca brandon brenda brian brigitte bruno camila camille carla carles carlo carlos carme carmen carol carolina caroline
    catalina catarina catherine cecilia celia cesar charles charlotte chiara chloe christian christina christine christopher
    clara claudia claudio concepcion consuelo cristian cristina cynthia daniel daniela daniele danielle david deborah dennis
    denise diana diego dieter dietmar dolores dominique donald donna dorothy eduard eduardo edward ekaterina elena eleonora
    elisa elisabet elisabeth elise elizabeth ella ellen elsa emil emilia emilio emily emma emmanuel enrique eric erik ernesto
    esteban ester esther eugenia eva evelyn ewa fabian fabio fatima federica federico felipe felix fernanda fernando ferran
    filippo florian frances francesc francesca francesco francisca francisco franco frank frederic gabriel gabriela gabriele
    gary gemma george gerard gerhard gertrud giorgio giovanni giulia giuseppe gloria gonzalo grace greta gregorio grzegorz
    guillem guillermo gunter hannah hans harry heather hector heike heinz helen helena helga hendrik henry hugo ian ignacio
    ignasi ilaria ines inge ingrid inmaculada irene iris isabel isabella isabelle ismael ivan jack jacob jaime jakub james
    jan jana jane janet janina jason jaume javier jean jeffrey jennifer jens jessica jesus joan joana joao joaquin johan johanna
    john jonas jonathan jordi jorge jose josefa josep joseph joshua juan juana judith julia julian julie julien jules julio
    jurgen justyna kaethe karen karin karl karol kathe katarzyna katharina kathleen katja kenneth kevin kimberly klaus krzysztof
    laia lara larry laura lea leah lena leo leon leonardo leonor leticia liam lidia lina linda lisa llorenc lluis lorena
    lorenzo louis louise luca lucas lucia luciano luis luisa lukas lukasz luke luna luz magdalena maik malgorzata manon manuel
    manuela mar marc marcel marcin marco marcos margaret margarita maria mariana marie marina mario marion mariona marisa
    mark markus marta martha marti martin martina martine mary mateo mateusz mathieu matilde matteo matthew matthias mattia
    maximilian melissa merce mercedes mia michael michal michel michele michelle miguel mikel mila milagros mireia miriam
    mohamed mohammed monica monika monique montse montserrat nadia nancy natalia natalie nathalie nathan neus nicholas nicola
    nicolas nicole nil nina noa noah nora nuria oliver olivia olga oriol oscar otto pablo pamela paola paolo pascal patricia
    patrick patrizia pau paul paula paulo pawel pedro pep pere peter petra philip philippe pierre pieter pilar piotr pol quim
    rachel rafael ramon raquel raul rebeca rebecca remedios renate ricardo riccardo richard rita robert roberta roberto rocio
    roger roland ronald rosa rosario roser roxana ruben rui ruth ryan sabine salvador samantha samuel sandra santiago sara sarah
    scott sebastian sergi sergio sharon silke silvia simon simona simone sofia sonia sophia sophie stefan stefania stefano
    stephanie stephen steven susan susana susanne sylvie tanja teresa thomas tiago timothy tobias tomas tomasz torsten ulrich
    ursula uwe valentina valeria vanessa vera veronica veronique vicente victor victoria vincent vincenzo virginia waltraud
    werner william wojciech wolfgang xavi xavier yasmin yolanda youssef yvonne zoe""".split()
)  # fmt: skip
WORD = re.compile(r"[^\W\d_]+")
#: A name: two to five words of letters, perhaps with a comma, a full stop after an initial, an apostrophe or a hyphen.
SHAPE = re.compile(r"[^\W\d_]+(?:[ ,.'’-]+[^\W\d_]+){0,4}\.?")


def holds_given_name(text: str) -> bool:
    """Say whether a cell looks like a person's name and holds a common given name.

    >>> holds_given_name("GARCÍA PEÑA, LUCÍA"), holds_given_name("Calle Mayor 3"), holds_given_name("heart failure")
    (True, False, False)
    """
    text = text.strip()
    if not SHAPE.fullmatch(text) or not text[:1].isupper():
        return False
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return any(word in GIVEN for word in WORD.findall(plain.lower()))


def mostly_names(values: Sequence[str]) -> bool:
    """Say whether most of the values hold a given name; a few values could be names of places or products."""
    return len(values) >= FEWEST and sum(map(holds_given_name, values)) >= ENOUGH * len(values)
