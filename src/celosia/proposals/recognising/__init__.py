"""What a value is by its form alone: numbers with check digits, names, dates, answers that are missing."""
