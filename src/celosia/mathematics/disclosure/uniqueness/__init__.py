"""Who is alone in the sample and in the population, and how sure that is."""
