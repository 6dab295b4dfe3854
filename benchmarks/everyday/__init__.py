"""Everyday collections in nine languages, with questions that they answer and questions that they do not.

Mails, tickets, notes, a shop's pages, handbooks, changelogs, manuals, minutes and price lists; one JSON file each. They
come in two halves. `open` may be looked at while the engine is changed. `closed` may not: it says whether what was
learnt on the other holds, which it can only while nobody has read it.
"""
