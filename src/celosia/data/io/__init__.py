"""Readers and writers: text, Parquet, spreadsheets, JSON, statistical files, databases.

>>> sorted(file_types())
['csv', 'excel', 'json', 'jsonl', 'ods', 'parquet', 'sas', 'spss', 'stata']
"""

from __future__ import annotations

from celosia.data.io import jsonlines, parquet, sheets, statistical
from celosia.data.io.atomic import replace_file
from celosia.data.io.facts import FileFacts, MissingCode, Scan
from celosia.data.io.filetypes import file_types
from celosia.data.io.sources import scan, write
from celosia.data.io.text import csv_files

__all__ = [
    "FileFacts",
    "MissingCode",
    "Scan",
    "csv_files",
    "file_types",
    "jsonlines",
    "parquet",
    "replace_file",
    "scan",
    "sheets",
    "statistical",
    "write",
]
