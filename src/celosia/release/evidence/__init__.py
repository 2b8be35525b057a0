"""What a release can prove: findings, certificate, private record, signatures, earlier releases."""
