"""Recognition of a value by its form alone: numbers with check digits, names, dates, codes for missing."""
