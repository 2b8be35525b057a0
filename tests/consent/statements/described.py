"""Statements on tables whose columns are known: stars, bare names and natural joins are certain then."""

COLUMNS = {
    "STUDENT": ["card", "name", "sex", "province"],
    "enrolment": ["card", "course", "year", "grade"],
    "province": ["province", "title"],
    "school.room": ["room", "seats"],
}

CASES = [
    (
        "any",
        "SELECT * FROM student",
        "student.card student.name student.sex student.province -> card:student.card name:student.name sex:student.sex province:student.province",
    ),
    (
        "any",
        "SELECT s.* FROM student s, enrolment e WHERE s.card = e.card",
        "student.card student.name student.sex student.province enrolment.card -> card:student.card name:student.name sex:student.sex province:student.province",
    ),
    (
        "any",
        "SELECT * FROM student s JOIN enrolment e ON s.card = e.card WHERE e.year = 2019",
        "student.card student.name student.sex student.province enrolment.card enrolment.course enrolment.year=2019 enrolment.grade -> card:student.card name:student.name sex:student.sex province:student.province card:enrolment.card course:enrolment.course year:enrolment.year grade:enrolment.grade",
    ),
    (
        "any",
        "SELECT e.*, p.title FROM enrolment e, province p",
        "enrolment.card enrolment.course enrolment.year enrolment.grade province.title -> card:enrolment.card course:enrolment.course year:enrolment.year grade:enrolment.grade title:province.title",
    ),
    ("any", "SELECT * FROM room", "room.room room.seats -> room:room.room seats:room.seats"),
    (
        "any",
        "SELECT * FROM school.room",
        "school.room.room school.room.seats -> room:school.room.room seats:school.room.seats",
    ),
    (
        "any",
        "SELECT x.* FROM (SELECT name, sex FROM student) x",
        "student.name student.sex -> name:student.name sex:student.sex",
    ),
    (
        "any",
        "SELECT * FROM (SELECT * FROM province) x WHERE title = 'Cartago'",
        "province.province province.title=Cartago -> province:province.province title:province.title",
    ),
    ("any", "SELECT COUNT(*) AS n FROM student", "[student] -> n"),
    (
        "any",
        "SELECT x.* FROM province x, province y",
        "province.province province.title -> province:province.province title:province.title",
    ),
    # a name without a table belongs to the table that has it
    (
        "any",
        "SELECT name, grade FROM student, enrolment",
        "student.name enrolment.grade -> name:student.name grade:enrolment.grade",
    ),
    (
        "any",
        "SELECT name FROM student JOIN province ON student.province = province.province WHERE title = 'Heredia'",
        "student.name student.province province.province province.title=Heredia -> name:student.name",
    ),
    ("any", "SELECT name FROM student, unknown WHERE k = 1", "student.name unknown.k=1 -> name:student.name"),
    (
        "any",
        "SELECT name FROM student WHERE EXISTS (SELECT 1 FROM enrolment WHERE grade = 10 AND sex = 'F')",
        "student.name student.sex=F enrolment.grade=10 -> name:student.name",
    ),
    (
        "any",
        "SELECT name, (SELECT title FROM province WHERE province.province = student.province) AS p FROM student",
        "student.name student.province province.title province.province -> name:student.name p:province.title+province.province+student.province",
    ),
    (
        "any",
        "SELECT name FROM student WHERE card IN (SELECT card FROM province)",
        "student.name student.card [province] -> name:student.name",
    ),
    ("any", "SELECT nickname FROM student", "student.nickname -> nickname:student.nickname"),
    (
        "any",
        "SELECT nickname FROM student s, enrolment",
        "student.nickname enrolment.nickname -> nickname:student.nickname+enrolment.nickname",
    ),
    # joins that name no table
    (
        "postgres",
        "SELECT * FROM student JOIN enrolment USING (card)",
        "student.card student.name student.sex student.province enrolment.card enrolment.course enrolment.year enrolment.grade -> card:student.card+enrolment.card name:student.name sex:student.sex province:student.province course:enrolment.course year:enrolment.year grade:enrolment.grade",
    ),
    (
        "postgres",
        "SELECT title FROM student NATURAL JOIN province",
        "province.title student.province province.province -> title:province.title~student.province",
    ),
    (
        "postgres",
        "SELECT * FROM province NATURAL LEFT JOIN (SELECT province, name FROM student) s",
        "province.province province.title student.province student.name -> province:province.province+student.province title:province.title name:student.name",
    ),
    (
        "postgres",
        "SELECT name FROM student NATURAL JOIN enrolment NATURAL JOIN province",
        "student.name student.card enrolment.card student.province province.province -> name:student.name",
    ),
    # stars with exceptions
    (
        "bigquery",
        "SELECT * EXCEPT (name, card) FROM student",
        "student.sex student.province -> sex:student.sex province:student.province",
    ),
    (
        "bigquery",
        "SELECT s.* EXCEPT (name) REPLACE (UPPER(sex) AS sex) FROM student AS s",
        "student.card student.sex student.province -> card:student.card sex:student.sex province:student.province",
    ),
    (
        "snowflake",
        "SELECT * EXCLUDE (name, sex) RENAME (province AS place) FROM student",
        "student.card student.province -> card:student.card place:student.province",
    ),
    (
        "duckdb",
        "SELECT * EXCLUDE (name) REPLACE (card || sex AS card) FROM student",
        "student.card student.sex student.province -> card:student.card+student.sex sex:student.sex province:student.province",
    ),
    (
        "duckdb",
        "SELECT * REPLACE ((SELECT title FROM province p WHERE p.province = s.province) AS province) FROM student s",
        "student.card student.name student.sex student.province province.title province.province -> card:student.card name:student.name sex:student.sex province:province.title+province.province+student.province",
    ),
    (
        "duckdb",
        "SELECT COLUMNS('^(name|sex)$') FROM student",
        "student.name student.sex -> name:student.name sex:student.sex",
    ),
    (
        "duckdb",
        "SELECT MAX(COLUMNS(* EXCLUDE (name, card))) AS m FROM student",
        "student.sex student.province -> m:student.sex+student.province",
    ),
    (
        "duckdb",
        "SELECT * FROM student SEMI JOIN enrolment USING (card)",
        "student.card student.name student.sex student.province enrolment.card -> card:student.card name:student.name sex:student.sex province:student.province",
    ),
    # rows as values
    ("postgres", "SELECT row_to_json(province) AS j FROM province", "province.province -> j:province.province"),
    (
        "postgres",
        "SELECT row_to_json(enrolment) AS j FROM enrolment",
        "enrolment.card enrolment.course enrolment.year enrolment.grade -> j:enrolment.card+enrolment.course+enrolment.year+enrolment.grade",
    ),
    (
        "postgres",
        "SELECT jsonb_agg(e.*) AS j FROM enrolment e",
        "enrolment.card enrolment.course enrolment.year enrolment.grade -> j:enrolment.card+enrolment.course+enrolment.year+enrolment.grade",
    ),
    ("postgres", "SELECT p, q FROM student AS s(p, q)", "student.card student.name -> p:student.card q:student.name"),
    (
        "postgres",
        "SELECT q, sex FROM student AS s(p, q) WHERE p = 'B1'",
        "student.card=B1 student.name student.sex -> q:student.name sex:student.sex",
    ),
    (
        "snowflake",
        "SELECT OBJECT_CONSTRUCT(*) AS o FROM province",
        "province.province province.title -> o:province.province+province.title",
    ),
    # unions of stars, pivots, aliases
    (
        "any",
        "SELECT * FROM province UNION ALL SELECT name, sex FROM student",
        "province.province province.title student.name student.sex -> province:province.province+student.name title:province.title+student.sex",
    ),
    (
        "tsql",
        "SELECT * FROM enrolment PIVOT (AVG(grade) FOR year IN ([2018], [2019])) AS p",
        "enrolment.card enrolment.course enrolment.grade enrolment.year -> card:enrolment.card course:enrolment.course 2018:enrolment.grade+enrolment.year 2019:enrolment.grade+enrolment.year",
    ),
    (
        "tsql",
        "SELECT * FROM student UNPIVOT (v FOR what IN (name, sex)) AS u",
        "student.card student.province student.name student.sex -> card:student.card province:student.province v:student.name+student.sex what",
    ),
    ("duckdb", "SELECT name AS title, title AS t2 FROM student", "student.name -> title:student.name t2:student.name"),
    ("snowflake", "SELECT name AS n FROM student WHERE n = 'Ana'", "student.name=Ana -> n:student.name"),
    (
        "postgres",
        "SELECT sex AS grade, COUNT(*) AS n FROM student, enrolment GROUP BY grade",
        "student.sex enrolment.grade -> grade:student.sex n",
    ),
    ("oracle", "SELECT dummy FROM dual", "dual.dummy -> dummy:dual.dummy"),
    (
        "oracle",
        "SELECT name FROM student WHERE EXISTS (SELECT 1 FROM dual WHERE sex = 'F')",
        "student.name student.sex=F [dual] -> name:student.name",
    ),
    (
        "any",
        "SELECT s.nickname, s.name FROM student s",
        "student.nickname student.name -> nickname:student.nickname name:student.name",
    ),
    (
        "duckdb",
        "SELECT COLUMNS('(') FROM province",
        "province.province province.title -> province:province.province title:province.title",
    ),
    ("postgres", "SELECT name.first FROM student", "student.name -> first:student.name"),
    ("oracle", "SELECT name.initials(1) AS i FROM student", "student.name -> i:student.name"),
    ("oracle", "SELECT level FROM student, (SELECT 1 AS level FROM province) x", "[student] [province] -> level"),
    ("any", "SELECT name AS sex FROM student ORDER BY sex", "student.name -> sex:student.name"),
]
