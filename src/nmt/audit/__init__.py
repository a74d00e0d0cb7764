"""The audit: each figure of the report traced back to the source archives, and every link checked.

It reads what dvc.lock, the working tree, git and MLflow hold, and changes nothing.
"""
