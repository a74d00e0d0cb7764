"""Tables of scores, and the page that puts results, pictures, data and samples side by side."""
