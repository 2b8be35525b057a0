"""The pages of data owners and administrators."""
