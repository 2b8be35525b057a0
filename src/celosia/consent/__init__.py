"""Inferences that data owners may block, and publications that honour it.

An *inference* is a sentence for people ("find out where I live") with *rules* for the machine (tables, fields,
values). Owners choose what to block; a *request* to publish is matched against the rules, the rows of those who
blocked something are marked, and the protection is made stricter for them.
"""
