"""Second implementation of the numbers that a release states: slow, plain and independent of the first one.

It judges the written file by the definitions of the models. It shares no line with the searches, the methods, the
kernels or the class counts that a release is made with: import-linter forbids it to import them.
"""
