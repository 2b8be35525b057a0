"""Evidence of a release: findings, certificate, private record, signatures, earlier releases."""
