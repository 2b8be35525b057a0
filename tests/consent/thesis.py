"""The worked examples of the thesis as its experiment holds them: queries, and rules as printed (not well formed).

Figures 4.4 and 7.4: a description closed by an opening tag, spaces in tags, attributes without quotes, a typographic
quotation mark, the description once under the inference and once under the rule.
"""

from celosia_reproduce.consent.worked import printed_texts

_TEXTS = printed_texts()
TIMETABLE_QUERY, ENROLMENT, ADMISSION = (_TEXTS[name] for name in ("query_4_3", "query_4_9", "query_7_5"))
TIMETABLE_XML, RESIDENCE_XML = _TEXTS["rule_4_4"], _TEXTS["rule_7_4"]
