"""Release: what the guard has seen, the report, the certificate, the files, and whether it can be verified."""

from celosia.studio.pages.release.routes import PAGE

__all__ = ["PAGE"]
