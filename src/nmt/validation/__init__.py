"""What training needs of decoding and scoring: greedy search, token BLEU, accuracy."""
