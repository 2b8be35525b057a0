"""Common table expressions: chained, nested, shadowing, unused, recursive."""

CASES = [
    ("any", "WITH c AS (SELECT a, b FROM t) SELECT a FROM c WHERE b = 9", "t.a t.b=9 -> a:t.a"),
    ("any", "WITH c AS (SELECT a FROM t), d AS (SELECT a FROM c) SELECT d.a FROM d", "t.a -> a:t.a"),
    (
        "any",
        "WITH c AS (SELECT a FROM t) SELECT c.a, u.b FROM c JOIN u ON u.a = c.a",
        "t.a u.b u.a -> a:t.a~u.a b:u.b~t.a",
    ),
    ("any", "WITH C AS (SELECT a FROM t) SELECT c.A FROM c", "t.a -> A:t.a"),
    ("any", "WITH c AS (SELECT a FROM t WHERE k = 1) SELECT b FROM u", "t.a t.k u.b -> b:u.b"),
    ("any", "WITH c AS (SELECT a FROM t WHERE k = 1) SELECT x.a FROM c x, c y", "t.a t.k=1 -> a:t.a"),
    ("any", "WITH c AS (SELECT a AS x FROM t) SELECT x AS y FROM c WHERE x = 4", "t.a=4 -> y:t.a"),
    ("any", "WITH c AS (SELECT a FROM s.c) SELECT a FROM c", "s.c.a -> a:s.c.a"),
    ("any", "WITH c AS (SELECT a FROM t) SELECT a FROM s.c", "t.a s.c.a -> a:s.c.a"),
    ("any", "WITH c AS (SELECT MAX(a) AS m FROM t GROUP BY b) SELECT m FROM c WHERE m = 3", "t.a t.b -> m:t.a"),
    ("any", "WITH c AS (SELECT * FROM t) SELECT a, b FROM c WHERE k = 2", "t.* t.a t.b t.k=2 -> a:t.a b:t.b"),
    ("any", "WITH c AS (SELECT a, b FROM t) SELECT * FROM c", "t.a t.b -> a:t.a b:t.b"),
    ("any", "WITH c AS (SELECT a FROM t) SELECT a FROM u WHERE i IN (SELECT a FROM c)", "t.a u.a u.i -> a:u.a"),
    (
        "any",
        "WITH c AS (SELECT i FROM u WHERE k = 1) SELECT a FROM t WHERE i IN (SELECT i FROM c)",
        "t.a t.i u.i u.k=1 -> a:t.a",
    ),
    (
        "any",
        "WITH c AS (SELECT i FROM u WHERE k = 1) SELECT a FROM t WHERE i NOT IN (SELECT i FROM c)",
        "t.a t.i u.i u.k -> a:t.a",
    ),
    (
        "any",
        "WITH c AS (SELECT i, n FROM u) SELECT a, (SELECT n FROM c WHERE c.i = t.i) AS n FROM t",
        "t.a t.i u.i u.n -> a:t.a n:u.n+u.i+t.i",
    ),
    (
        "any",
        "WITH c AS (SELECT a FROM t UNION ALL SELECT b FROM u) SELECT a FROM c WHERE a = 6",
        "t.a=6 u.b=6 -> a:t.a+u.b",
    ),
    (
        "any",
        "WITH c AS (SELECT p.name FROM e JOIN p ON e.pid = p.id) SELECT name AS n FROM c",
        "p.name e.pid p.id -> n:p.name~e.pid",
    ),
    (
        "any",
        "WITH c AS (SELECT a FROM t), d AS (SELECT b FROM u) SELECT a FROM c UNION SELECT b FROM d",
        "t.a u.b -> a:t.a+u.b",
    ),
    ("any", "WITH c AS (SELECT a FROM t) SELECT t.a FROM c AS t", "t.a -> a:t.a"),
    # the inner name wins
    ("postgres", "WITH t AS (SELECT a FROM t WHERE b = 1) SELECT a FROM t", "t.a t.b=1 -> a:t.a"),
    (
        "postgres",
        "WITH c AS (SELECT a FROM t) SELECT x.a FROM (WITH c AS (SELECT a FROM u) SELECT a FROM c) x",
        "t.a u.a -> a:u.a",
    ),
    ("postgres", "WITH c AS (WITH d AS (SELECT a FROM t) SELECT a FROM d) SELECT a FROM c", "t.a -> a:t.a"),
    ("postgres", "WITH c AS (WITH d AS (SELECT a FROM t) SELECT a FROM d) SELECT a FROM d", "t.a d.a -> a:d.a"),
    ("postgres", "WITH c(p, q) AS (SELECT a, b FROM t) SELECT p FROM c WHERE q = 6", "t.a t.b=6 -> p:t.a"),
    ("postgres", "WITH c(p) AS (SELECT a, b FROM t) SELECT p, b FROM c", "t.a t.b -> p:t.a b:t.b"),
    (
        "postgres",
        "WITH c AS MATERIALIZED (SELECT a FROM t), d AS NOT MATERIALIZED (SELECT a FROM c) TABLE d",
        "t.a -> a:t.a",
    ),
    ("postgres", "WITH c AS (VALUES (1), (2)) SELECT a FROM t WHERE i IN (SELECT column1 FROM c)", "t.a t.i -> a:t.a"),
    ("postgres", "SELECT a FROM (WITH c AS (SELECT a FROM t WHERE b = 2) SELECT a FROM c) s", "t.a t.b=2 -> a:t.a"),
    ("postgres", "WITH c AS (SELECT a FROM t) (SELECT a FROM c) ORDER BY 1", "t.a -> a:t.a"),
    ("bigquery", "WITH c AS (SELECT a FROM d.t) SELECT c.a FROM c WHERE c.a = 'x'", "d.t.a=x -> a:d.t.a"),
    ("sqlite", "WITH c AS (SELECT i FROM u WHERE k = 1) SELECT a FROM t WHERE i IN c", "t.a t.i u.i u.k=1 -> a:t.a"),
    # recursive
    (
        "postgres",
        "WITH RECURSIVE r AS (SELECT i, p FROM e WHERE p = 1 UNION ALL SELECT e.i, e.p FROM e JOIN r ON e.p = r.i) SELECT i FROM r",
        "e.i e.p=1 -> i:e.i",
    ),
    (
        "postgres",
        "WITH RECURSIVE r(x, y) AS (SELECT a, b FROM t UNION ALL SELECT y, x FROM r) SELECT x FROM r",
        "t.a t.b -> x:t.a+t.b",
    ),
    (
        "postgres",
        "WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k < 9) SELECT t.a FROM t JOIN n ON n.k = t.k",
        "t.a t.k -> a:t.a",
    ),
    (
        "postgres",
        "WITH RECURSIVE d AS (SELECT a FROM c), c AS (SELECT a FROM t) SELECT a FROM d",
        "t.a -> a:t.a",
    ),
    (
        "oracle",
        "WITH r (i, lvl) AS (SELECT i, 1 FROM e WHERE boss = 7 UNION ALL SELECT e.i, r.lvl + 1 FROM e JOIN r ON e.boss = r.i) SELECT i, lvl FROM r",
        "e.i e.boss=7 -> i:e.i lvl",
    ),
    (
        "tsql",
        "WITH r AS (SELECT i, boss, name FROM e WHERE boss IS NULL UNION ALL SELECT e.i, e.boss, r.name FROM e INNER JOIN r ON e.boss = r.i) SELECT name FROM r OPTION (MAXRECURSION 9)",
        "e.i e.boss e.name -> name:e.name",
    ),
    (
        "sqlite",
        "WITH RECURSIVE r(i) AS (VALUES (1) UNION SELECT e.i FROM e, r WHERE e.boss = r.i) SELECT name FROM e WHERE e.i IN r",
        "e.i e.boss e.name -> name:e.name",
    ),
    (
        "mysql",
        "WITH RECURSIVE r AS (SELECT i, CAST(name AS CHAR(99)) AS path FROM e UNION ALL SELECT e.i, CONCAT(r.path, e.name) FROM e JOIN r ON e.boss = r.i) SELECT path FROM r",
        "e.i e.name e.boss -> path:e.name",
    ),
    (
        "snowflake",
        "WITH r AS (SELECT i FROM e WHERE boss = 1 UNION ALL SELECT e.i FROM e JOIN r ON e.boss = r.i) SELECT i FROM r",
        "e.i e.boss=1 -> i:e.i",
    ),
    (
        "postgres",
        "WITH RECURSIVE r(x, y, z) AS (SELECT a, b, c FROM t UNION ALL SELECT y, z, 1 FROM r) SELECT x FROM r",
        "t.a t.b t.c -> x:t.a+t.b+t.c",
    ),
]
