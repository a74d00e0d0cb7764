"""Where a result comes from: digests of code and data, the state of git, the environment."""
