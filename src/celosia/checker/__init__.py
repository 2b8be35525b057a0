"""A second implementation of what a release claims: slow, plain, and apart from the one that made the release.

It judges the written file by the definitions of the models. It shares no line with the searches, the methods, the
kernels or the class counts that a release is made with: import-linter forbids it to import them.
"""
