"""Pure functions, which are the only ones that a query may call: their value depends on their arguments alone.

This is a list of allowed functions, because a list of forbidden ones would miss new functions of a database that read
a file, or a table or query named by a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from celosia.data.quiet import silence
from celosia.errors import DataError

if TYPE_CHECKING:
    from sqlglot import exp

#: Functions that the parser knows, by their class. They are the same in every dialect.
_PARSED = """
    Abs Acos Acosh AddMonths And AnyValue ApproxDistinct ApproxQuantile ArgMax ArgMin Array ArrayAgg ArrayAll ArrayAny
    ArrayAppend ArrayConcat ArrayContainedBy ArrayContains ArrayContainsAll ArrayDistinct ArrayExcept ArrayFilter
    ArrayFirst ArrayInsert ArrayIntersect ArrayLast ArrayMax ArrayMin ArrayOverlaps ArrayPosition ArrayPrepend
    ArrayRemove ArrayReverse ArraySize ArraySlice ArraySort ArraySum ArrayToString Ascii Asin Asinh Atan Atan2 Atanh
    Avg BitLength BitwiseAndAgg BitwiseCount BitwiseOrAgg BitwiseXorAgg Booland Boolnot Boolor ByteLength Case Cast
    Cbrt Ceil Chr Coalesce Collate Columns Concat ConcatWs Contains Convert Corr Cos Cosh Cot Coth Count CountIf
    CovarPop CovarSamp CumeDist CurrentDate CurrentDatetime CurrentTime CurrentTimestamp Date DateAdd DateBin DateDiff
    DateFromParts DateStrToDate DateSub DateToDateStr DateToDi DateTrunc Datetime DatetimeAdd DatetimeDiff DatetimeSub
    DatetimeTrunc Day DayOfMonth DayOfWeek DayOfWeekIso DayOfYear Dayname Decode DecodeCase Degrees DenseRank DiToDate
    DotProduct Encode EndsWith Exists Exp Explode Extract Factorial First FirstValue Flatten Float64 Floor FromBase64
    GenerateDateArray GenerateSeries GenerateTimestampArray Getbit Greatest GroupConcat Grouping GroupingId Hex Hour If
    Initcap Int64 IsArray IsAscii IsInf IsNan JSONArray JSONArrayAgg JSONArrayContains JSONBContains
    JSONBContainsAllTopKeys JSONBContainsAnyTopKeys JSONBContainsTopKey JSONBDeleteAtPath JSONBExists JSONBExtract
    JSONBExtractScalar JSONBObjectAgg JSONBool JSONCast JSONExists JSONExtract JSONExtractArray JSONExtractScalar
    JSONFormat JSONKeys JSONObject JSONObjectAgg JSONRemove JSONSet JSONStripNulls JSONType JSONValueArray
    JarowinklerSimilarity JustifyDays JustifyHours JustifyInterval Kurtosis Lag Last LastDay LastValue Lead Least Left
    Length Levenshtein List Ln Localtime Localtimestamp Log LogicalAnd LogicalOr Lower LowerHex MD5 MakeInterval Map
    MapFromEntries MapKeys MapSize Max Median Min Minute Mode Month Monthname MonthsBetween NextDay NthValue Ntile
    Nullif NumberToStr Nvl2 Or Overlay Pad ParseJSON PercentRank PercentileCont PercentileDisc Pi Posexplode Pow
    PreviousDay Quantile Quarter Radians Rand Randn Rank RegexpCount RegexpExtract RegexpExtractAll RegexpFullMatch
    RegexpILike RegexpInstr RegexpLike RegexpReplace RegexpSplit RegrAvgx RegrAvgy RegrCount RegrIntercept RegrR2
    RegrSlope RegrSxx RegrSxy RegrSyy Repeat Replace Reverse Right Rint Round RowNumber SHA SHA1Digest SHA2 SHA2Digest
    Second Sign Sin Sinh Skewness Soundex Space Split SplitPart Sqrt StartsWith Stddev StddevPop StddevSamp
    StrPosition StrToDate StrToTime StrToUnix String StringToArray Struct StructExtract Stuff Substring
    SubstringIndex Sum Tan Tanh Time TimeAdd TimeDiff TimeFromParts TimeStrToDate TimeStrToTime TimeStrToUnix TimeSub
    TimeToStr TimeToTimeStr TimeToUnix TimeTrunc Timestamp TimestampAdd TimestampDiff TimestampFromParts TimestampSub
    TimestampTrunc TimestampTzFromParts ToArray ToBase64 ToChar ToDays ToDouble ToNumber Transform Translate Trim Trunc
    Try TryCast TsOrDiToDi TsOrDsAdd TsOrDsDiff TsOrDsToDate TsOrDsToDateStr TsOrDsToDatetime TsOrDsToTime
    TsOrDsToTimestamp Typeof Unhex Unicode UnixDate UnixMicros UnixMillis UnixSeconds UnixToStr UnixToTime
    UnixToTimeStr Unnest Upper Variance VariancePop Week WeekOfYear WidthBucket Xor Year YearOfWeek
"""
#: Aggregates that the parser does not know.
_AGGREGATES = """
    every favg fsum geomean geometric_mean histogram json_agg json_group_array json_group_object json_object_agg
    jsonb_agg jsonb_object_agg kahan_sum kurtosis_pop mad entropy product quantile quantile_cont quantile_disc range_agg
    sem sumkahan total
"""
#: Functions that the parser does not know, by their name: those of SQLite, of PostgreSQL and of DuckDB.
_NAMED = """
    char date datetime format hex julianday likely unlikely likelihood ltrim printf quote rtrim sign strftime time
    timediff unixepoch
    json json_array json_array_length json_extract json_insert json_object
    json_patch json_quote json_remove json_replace json_set json_type json_valid json_each json_tree jsonb

    age array_dims array_length array_lower array_ndims array_positions array_replace array_to_json array_upper
    btrim cardinality ceiling date_part decode div
    gcd isfinite json_array_elements json_array_elements_text json_build_array json_build_object json_each_text
    json_extract_path json_extract_path_text json_object_keys json_strip_nulls json_typeof
    jsonb_array_elements jsonb_array_elements_text jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each
    jsonb_each_text jsonb_extract_path jsonb_extract_path_text jsonb_object_keys jsonb_pretty
    jsonb_set jsonb_strip_nulls jsonb_typeof justify_days justify_hours lcm log10 make_date make_time make_timestamp
    mod num_nonnulls num_nulls regexp_match regexp_matches regexp_split_to_array regexp_split_to_table row
    row_to_json scale string_to_table strpos to_date to_hex to_json to_jsonb to_timestamp trim_scale unnest

    array_cat array_has array_slice array_value array_where bar bin bit_count bit_position bitstring
    century concat_ws contains damerau_levenshtein datediff datepart datetrunc dayofmonth dayofweek dayofyear decade
    element_at epoch epoch_ms epoch_ns epoch_us era even filter flatten gamma
    greatest_common_divisor hamming hash isodow isoyear jaccard jaro_similarity json_structure julian
    last_day len lgamma list_any_value list_append list_avg list_concat list_contains
    list_count list_distinct list_element list_extract list_filter list_first list_has list_indexof list_last
    list_max list_median list_min list_position list_reduce list_reverse list_reverse_sort list_slice list_sort
    list_sum list_unique list_value list_zip make_timestamptz map_entries map_extract map_values microsecond
    millennium millisecond mismatches nanosecond nextafter nfc_normalize normalized_interval now ord today
    range repeat repeat_row roundbankers rpad
    set_bit signbit split_part starts_with str_split str_split_regex string_split string_split_regex string_to_array
    strip_accents strlen strptime struct_extract struct_extract_at struct_insert struct_pack sha256
    suffix prefix timezone timezone_hour timezone_minute to_base to_centuries to_days to_decades to_hours
    to_microseconds to_milliseconds to_minutes to_months to_seconds to_weeks to_years try_strptime unbin weekday
    weekofyear yearweek
"""
#: Node classes of the parser, besides functions, that a query of a publication may contain.
_PLAIN = """
    Add Alias All Any AtTimeZone Between BitwiseAnd BitwiseLeftShift BitwiseNot BitwiseOr BitwiseRightShift BitwiseXor
    Boolean Bracket Column CTE Cube DPipe DataType DataTypeParam Distinct Div EQ Escape Except Fetch Filter From GT GTE
    Glob Group GroupingSets Having ILike Identifier IgnoreNulls In IntDiv Intersect Interval IntervalSpan Is
    JSONKeyValue JSONPath JSONPathKey JSONPathRecursive JSONPathRoot JSONPathSelector JSONPathSlice JSONPathSubscript
    JSONPathUnion JSONPathWildcard Join LT LTE Lambda Lateral Like Limit Literal Mod Mul NEQ Neg Not Null NullSafeEQ
    NullSafeNEQ Offset Order Ordered Overlaps Paren PropertyEQ Qualify RespectNulls Rollup Select SimilarTo Slice Star
    Sub Subquery Table TableAlias Tuple Union Values Var Where Window WindowSpec With WithinGroup
"""
PARSED, AGGREGATES, NAMED, PLAIN = (frozenset(names.split()) for names in (_PARSED, _AGGREGATES, _NAMED, _PLAIN))
_ESCAPED = re.compile(r"""u&\s*["']""", re.IGNORECASE)
"""A name or a text with escaped letters, ``U&"\\0064istrict"``, which the parser reads as another name."""


def refuse_escaped(text: str) -> None:
    """Raise for names that the parser and the database read differently."""
    if _ESCAPED.search(text) or "\0" in text:
        raise DataError('the query holds a name or text with escaped characters (U&"…"). Write the characters.')


def refuse_calls(tree: exp.Expr) -> None:
    """Raise for a function, an operator or a type that is not known to be pure.

    >>> from sqlglot import parse_one
    >>> refuse_calls(parse_one("SELECT upper(town), count(*) OVER () FROM person"))
    >>> refuse_calls(parse_one("SELECT pg_read_file('/etc/passwd')"))
    Traceback (most recent call last):
    celosia.errors.DataError: the query calls pg_read_file, which acts outside of the query: ...
    """
    from sqlglot import exp

    for node in tree.walk():
        if isinstance(node, exp.Func) and (name := _unknown(node)):
            raise DataError(
                f"the query calls {name}, which acts outside of the query: it is not in the list of functions whose "
                "value follows from their arguments alone. Leave it out."
            )
        if isinstance(node, exp.Operator | exp.ObjectIdentifier | exp.PseudoType | exp.UnicodeString | exp.Command):
            raise DataError(f"the query holds {_excerpt(node)}, which is not read. Leave it out.")
        if isinstance(node, exp.DataType) and node.this in (exp.DType.USERDEFINED, exp.DType.UNKNOWN, exp.DType.OBJECT):
            raise DataError(f"the query casts to {_excerpt(node)}, which is no built-in type. Leave it out.")


def refuse_constructions(tree: exp.Expr) -> None:
    """Raise unless a query has only plain names, constants, operators, joins, sub-selects and pure functions."""
    from sqlglot import exp

    refuse_calls(tree)
    for node in tree.walk():
        word = type(node).__name__
        if not isinstance(node, exp.Func) and word not in PLAIN:
            raise DataError(f"the query holds a construction ({word}) that is not published: {_excerpt(node)}.")
        if isinstance(node, exp.Columns | exp.Explode) or (isinstance(node, exp.In) and node.args.get("field")):
            raise DataError(
                f"the query holds a construction ({word}) that is not published. Write the columns; after IN a list or "
                "a sub-select in parentheses."
            )
        for name in _names(node):
            if not isinstance(name, exp.Identifier | exp.Star | exp.Func):
                raise DataError(
                    "the query names a table or a column by a text. Write the name without quotation marks."
                )
        if isinstance(node, exp.Identifier) and not _is_readable(node.name):
            raise DataError(
                "the query holds a name with a backslash or a control character, or of more than 63 bytes, which a "
                "database may read as another one. Rename it."
            )
        if isinstance(node, exp.Table) and (node.args.get("rows_from") or node.args.get("ordinality")):
            raise DataError("the query holds ROWS FROM or WITH ORDINALITY, which is not published. Leave it out.")
        if isinstance(node, exp.With) and node.args.get("recursive"):
            raise DataError("the query holds WITH RECURSIVE, which is not published. Write it without recursion.")


def is_aggregate(node: exp.Expr) -> bool:
    """Return whether a node is an aggregate."""
    from sqlglot import exp

    named = isinstance(node, exp.Anonymous) and node.name.casefold() in AGGREGATES
    return named or isinstance(node, exp.AggFunc) or type(node).__name__.endswith("Agg")


def _unknown(call: exp.Func) -> str:
    """Return the name of a function that is not known to be pure; empty if it is."""
    from sqlglot import exp

    if isinstance(call, exp.Anonymous | exp.AnonymousAggFunc | exp.CombinedAggFunc | exp.ParameterizedAgg):
        name = call.this.name if isinstance(call.this, exp.Expr) else str(call.this)
        return "" if name.casefold() in NAMED | AGGREGATES else name or "a function without a name"
    return "" if type(call).__name__ in PARSED else call.sql_name().casefold()


def _names(node: exp.Expr) -> Iterator[object]:
    """Iterate over the parts of the name of a table or column."""
    from sqlglot import exp

    if isinstance(node, exp.Column | exp.Table):
        yield from (part for key in ("this", "table", "db", "catalog") if (part := node.args.get(key)))


def _is_readable(name: str) -> bool:
    return name.isprintable() and "\\" not in name and len(name.encode()) <= 63


def _excerpt(node: exp.Expr) -> str:
    """Return the beginning of a part of a query for a message, without its constants."""
    from sqlglot import exp

    hidden = node.copy()
    for literal in list(hidden.find_all(exp.Literal)):
        literal.replace(exp.Placeholder())
    with silence():
        return "a constant" if isinstance(node, exp.Literal) else hidden.sql()[:60] or type(node).__name__
