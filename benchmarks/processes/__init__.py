"""What runs in processes of their own: tasks of `benchmarks.worker`, and no more imports."""
