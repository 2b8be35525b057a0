"""Expressions: arithmetic, CASE, casts, text, dates, JSON, arrays, hints, functions of one database."""

CASES = [
    ("any", "SELECT SUM(a + b) / 2 AS s FROM t", "t.a t.b -> s:t.a+t.b"),
    ("any", "SELECT -a AS m, (a) AS p, a * (b - c) AS q FROM t", "t.a t.b t.c -> m:t.a p:t.a q:t.a+t.b+t.c"),
    ("any", "SELECT CASE WHEN a = 1 THEN 'M' ELSE 'F' END AS sex FROM t", "t.a -> sex:t.a"),
    ("any", "SELECT CASE a WHEN 1 THEN b ELSE c END AS x FROM t", "t.a t.b t.c -> x:t.a+t.b+t.c"),
    (
        "any",
        "SELECT CASE WHEN a > 1 AND b IN (2, 3) THEN c WHEN d IS NULL THEN e END AS x FROM t",
        "t.a t.b t.c t.d t.e -> x:t.a+t.b+t.c+t.d+t.e",
    ),
    ("any", "SELECT COALESCE(a, b, 'none') AS x, NULLIF(c, d) AS y FROM t", "t.a t.b t.c t.d -> x:t.a+t.b y:t.c+t.d"),
    ("any", "SELECT CAST(a AS INT) AS n FROM t", "t.a -> n:t.a"),
    ("any", "SELECT CONCAT(a, ' ', b) AS full_name FROM t", "t.a t.b -> full_name:t.a+t.b"),
    ("any", "SELECT LOWER(TRIM(a)) AS l, REPLACE(b, 'x', c) AS r FROM t", "t.a t.b t.c -> l:t.a r:t.b+t.c"),
    ("any", "SELECT ROUND(a / b, 2) AS r, ABS(c) AS d FROM t", "t.a t.b t.c -> r:t.a+t.b d:t.c"),
    ("any", "SELECT my_function(a, b) AS f FROM t", "t.a t.b -> f:t.a+t.b"),
    ("any", "SELECT CURRENT_TIMESTAMP AS now, a FROM t", "t.a -> now a:t.a"),
    # PostgreSQL
    ("postgres", "SELECT a::int, b::numeric(9, 2) AS n FROM t", "t.a t.b -> a:t.a n:t.b"),
    ("postgres", "SELECT a || '-' || b AS k FROM t", "t.a t.b -> k:t.a+t.b"),
    ("postgres", "SELECT t.a -> 'k' AS v FROM t WHERE t.j ->> 'x' = 'y'", "t.a t.j -> v:t.a"),
    (
        "postgres",
        "SELECT j #>> '{a,b}' AS v, j -> 0 -> k AS w FROM t WHERE j @> '{\"x\": 1}'",
        "t.j t.k -> v:t.j w:t.j+t.k",
    ),
    ("postgres", "SELECT a FROM t WHERE j ? 'key' AND tags && ARRAY['x', b]", "t.a t.j t.tags t.b -> a:t.a"),
    (
        "postgres",
        "SELECT arr[1] AS f, arr[b:c] AS s, ARRAY[a, b] AS l FROM t",
        "t.arr t.a t.b t.c -> f:t.arr s:t.arr+t.b+t.c l:t.a+t.b",
    ),
    (
        "postgres",
        "SELECT EXTRACT(YEAR FROM d) AS y, DATE_TRUNC('month', e) AS m, AGE(f) AS g FROM t",
        "t.d t.e t.f -> y:t.d m:t.e g:t.f",
    ),
    ("postgres", "SELECT d + INTERVAL '1 day' AS n, e AT TIME ZONE 'UTC' AS z FROM t", "t.d t.e -> n:t.d z:t.e"),
    (
        "postgres",
        "SELECT SUBSTRING(a FROM 1 FOR b) AS s, POSITION('x' IN c) AS p, OVERLAY(d PLACING 'y' FROM 2) AS o FROM t",
        "t.a t.b t.c t.d -> s:t.a+t.b p:t.c o:t.d",
    ),
    (
        "postgres",
        "SELECT TO_CHAR(d, 'YYYY-MM') AS m, ROW(a, b) AS r, GREATEST(a, b, c) AS g FROM t",
        "t.a t.b t.c t.d -> m:t.d r:t.a+t.b g:t.a+t.b+t.c",
    ),
    (
        "postgres",
        "SELECT JSONB_BUILD_OBJECT('n', a, 'm', b) AS o, JSON_AGG(c) AS l FROM t GROUP BY a, b",
        "t.a t.b t.c -> o:t.a+t.b l:t.c",
    ),
    (
        "postgres",
        "SELECT a FROM t WHERE (d, e) OVERLAPS (f, g) AND h <@ INT4RANGE(1, 5)",
        "t.a t.d t.e t.f t.g t.h -> a:t.a",
    ),
    (
        "postgres",
        "SELECT a IS NULL AS missing, b BETWEEN c AND d AS inside, e LIKE 'x%' AS hit FROM t",
        "t.a t.b t.c t.d t.e -> missing:t.a inside:t.b+t.c+t.d hit:t.e",
    ),
    # Oracle
    (
        "oracle",
        "SELECT NVL(a, 0) AS n, DECODE(b, 1, 'x', c) AS d FROM t WHERE ROWNUM < 10",
        "t.a t.b t.c -> n:t.a d:t.b+t.c",
    ),
    ("oracle", "SELECT TRUNC(MONTHS_BETWEEN(SYSDATE, f) / 12) AS age FROM t", "t.f -> age:t.f"),
    ("oracle", "SELECT a || b AS k, NVL2(c, d, e) AS n FROM t", "t.a t.b t.c t.d t.e -> k:t.a+t.b n:t.c+t.d+t.e"),
    ("oracle", "SELECT /*+ INDEX(t ix_secret) PARALLEL(4) */ a FROM t", "t.a -> a:t.a"),
    (
        "oracle",
        "SELECT EXTRACT(MONTH FROM d) AS m, ADD_MONTHS(e, b) AS n, TO_NUMBER(c) AS x FROM t",
        "t.b t.c t.d t.e -> m:t.d n:t.e+t.b x:t.c",
    ),
    ("oracle", "SELECT JSON_VALUE(j, '$.x') AS v, XMLELEMENT(\"e\", a) AS x FROM t", "t.j t.a -> v:t.j x:t.a"),
    ("oracle", "SELECT pkg.score(a, b) AS s FROM t", "t.a t.b -> s:t.a+t.b"),
    # MySQL
    ("mysql", "SELECT IF(a = 1, b, c) AS x FROM t LIMIT 5", "t.a t.b t.c -> x:t.a+t.b+t.c"),
    ("mysql", "SELECT IFNULL(a, b) AS x FROM d.t", "d.t.a d.t.b -> x:d.t.a+d.t.b"),
    ("mysql", "SELECT a FROM t WHERE j->'$.x' = 1 AND k->>'$.y' = 'z'", "t.a t.j t.k -> a:t.a"),
    (
        "mysql",
        "SELECT DATE_FORMAT(d, '%Y') AS y, TIMESTAMPDIFF(YEAR, b, CURDATE()) AS age, DATE_ADD(e, INTERVAL n DAY) AS x FROM t",
        "t.d t.b t.e t.n -> y:t.d age:t.b x:t.e+t.n",
    ),
    ("mysql", "SELECT a FROM t WHERE MATCH(title, body) AGAINST ('x' IN BOOLEAN MODE)", "t.a t.title t.body -> a:t.a"),
    (
        "mysql",
        "SELECT a DIV b AS q, c MOD d AS r, e XOR f AS x FROM t",
        "t.a t.b t.c t.d t.e t.f -> q:t.a+t.b r:t.c+t.d x:t.e+t.f",
    ),
    (
        "mysql",
        "SELECT /*+ MAX_EXECUTION_TIME(1000) */ SQL_NO_CACHE FIELD(a, 'x', b) AS p FROM t",
        "t.a t.b -> p:t.a+t.b",
    ),
    ("mysql", "SELECT CONVERT(a USING utf8mb4) AS x, CHAR_LENGTH(b) AS n FROM t", "t.a t.b -> x:t.a n:t.b"),
    # SQLite
    (
        "sqlite",
        "SELECT strftime('%Y', d) AS y, julianday('now') - julianday(b) AS age FROM t",
        "t.d t.b -> y:t.d age:t.b",
    ),
    (
        "sqlite",
        "SELECT iif(a > 0, b, c) AS x, json_extract(j, '$.k') AS v, typeof(e) AS k FROM t",
        "t.a t.b t.c t.j t.e -> x:t.a+t.b+t.c v:t.j k:t.e",
    ),
    # T-SQL
    (
        "tsql",
        "SELECT ISNULL(a, b) AS q, IIF(c > 1, d, e) AS r FROM t",
        "t.a t.b t.c t.d t.e -> q:t.a+t.b r:t.c+t.d+t.e",
    ),
    (
        "tsql",
        "SELECT DATEDIFF(YEAR, f, GETDATE()) AS age, DATEPART(month, d) AS m, DATEADD(day, n, e) AS x FROM t",
        "t.f t.d t.n t.e -> age:t.f m:t.d x:t.n+t.e",
    ),
    (
        "tsql",
        "SELECT CONVERT(VARCHAR(10), d, 103) AS s, TRY_CAST(a AS INT) AS n, CHOOSE(b, c, e) AS h FROM t",
        "t.d t.a t.b t.c t.e -> s:t.d n:t.a h:t.b+t.c+t.e",
    ),
    (
        "tsql",
        "SELECT JSON_VALUE(j, '$.x') AS v, LEN(a) AS n, a + N' ' + b AS k FROM t",
        "t.j t.a t.b -> v:t.j n:t.a k:t.a+t.b",
    ),
    # DuckDB
    ("duckdb", "SELECT list_transform(arr, x -> x + k) AS l FROM t", "t.arr t.k -> l:t.arr+t.k"),
    ("duckdb", "SELECT [x + k FOR x IN arr IF x > m] AS l FROM t", "t.arr t.k t.m -> l:t.arr+t.k+t.m"),
    ("duckdb", "SELECT {'p': a, 'q': b} AS s, MAP {'k': c} AS m FROM t", "t.a t.b t.c -> s:t.a+t.b m:t.c"),
    ("duckdb", "SELECT j->>'$.x' AS v, arr[1:2] AS f, a.b.c AS g FROM t", "t.j t.arr t.a -> v:t.j f:t.arr g:t.a"),
    ("duckdb", "SELECT a FROM t WHERE regexp_matches(b, '^x') AND c ^@ 'y'", "t.a t.b t.c -> a:t.a"),
    (
        "duckdb",
        "SELECT TRY_CAST(a AS DATE) AS d, date_diff('year', b, today()) AS age, a // c AS q FROM t",
        "t.a t.b t.c -> d:t.a age:t.b q:t.a+t.c",
    ),
    # Snowflake
    ("snowflake", "SELECT v:x.y::int AS n, t.w['k'][0] AS m FROM t", "t.v t.w -> n:t.v m:t.w"),
    (
        "snowflake",
        "SELECT ZEROIFNULL(a) AS z, IFF(b = 1, c, d) AS i, a::VARCHAR AS s FROM t",
        "t.a t.b t.c t.d -> z:t.a i:t.b+t.c+t.d s:t.a",
    ),
    (
        "snowflake",
        "SELECT DATEDIFF(year, b, CURRENT_DATE()) AS age, DATE_TRUNC('month', d) AS m FROM t",
        "t.b t.d -> age:t.b m:t.d",
    ),
    # BigQuery
    (
        "bigquery",
        "SELECT STRUCT(a AS x, b) AS s, [a, c] AS l, IF(d, e, f) AS i FROM t",
        "t.a t.b t.c t.d t.e t.f -> s:t.a+t.b l:t.a+t.c i:t.d+t.e+t.f",
    ),
    (
        "bigquery",
        "SELECT arr[OFFSET(0)] AS f, SAFE_CAST(a AS INT64) AS n, DATE_DIFF(d, e, MONTH) AS m FROM t",
        "t.arr t.a t.d t.e -> f:t.arr n:t.a m:t.d+t.e",
    ),
    (
        "bigquery",
        "SELECT FORMAT_DATE('%Y', d) AS y, JSON_VALUE(j, '$.k') AS v, SAFE_DIVIDE(a, b) AS q FROM t",
        "t.d t.j t.a t.b -> y:t.d v:t.j q:t.a+t.b",
    ),
]
