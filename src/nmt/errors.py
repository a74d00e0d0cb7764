"""The one error a user is meant to read, and its kinds."""


class NmtError(Exception):
    """What is wrong, what was got and expected, where, and what to do: in one message."""


class ParamsError(NmtError):
    """params.yaml does not say what it must."""


class DataError(NmtError):
    """A data file is missing, damaged or not what it claims to be."""


class ModelError(NmtError):
    """A model does not fit the data or the weights it was given."""


class TrainingError(NmtError):
    """Training cannot go on, for instance because the loss is not a number."""
